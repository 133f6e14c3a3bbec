"""The result users hold: a table of scores with its metadata; saved, loaded, shown."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore import __version__
from cgscore.data import Dataset, read
from cgscore.data.csv_writer import write_csv
from cgscore.data.encoders.registry import BUILT_IN
from cgscore.data.features import is_file
from cgscore.duplicates import Groups
from cgscore.errors import OptionError, ResultError
from cgscore.execution.files import replace_file
from cgscore.execution.machine import show_seconds
from cgscore.execution.progress import Listener, reporter
from cgscore.issues.table import issue_table
from cgscore.kernel import RELU, Array, Kernel, find_kernel, gram_block, unit_rows
from cgscore.labels import Labels, as_labels
from cgscore.result.file import MAX_RATIO, read_result
from cgscore.result.schema import check_openable, check_read_options, encode_document, exists
from cgscore.selection.orders import check_selection, select
from cgscore.selection.window import predicted_by_windows
from cgscore.valuation import (
    Valuation,
    cg_approx,
    cg_prime,
    margin,
    predicted,
)

if TYPE_CHECKING:
    import pandas as pd

EXTRAS = ("cg_prime", "cg_approx", "accumulated_error")

_STRIP = 256  # rows of H formed at a time for the extras


class Scores:
    """What every example of a dataset is worth.

    Attributes
    ----------
    table : DataFrame
        One row per example, in input order: ``id``, ``given_label``, ``cg``, ``first_term``,
        ``partial``, ``third_term``, ``residual``, ``predicted_label``, ``margin``, and
        ``duplicate_of`` where rows repeat.
    loo : (n, k) array
        Leave-one-out predictions, one column per class; one column for regression.
    d : (n,) array
        Diagonal of the inverse kernel matrix.
    alpha : (n,) array
        Solution of the kernel system for each example's own class.
    classes : (k,) array
        The classes, in the order of the columns of `loo`; empty for regression.
    complexity : dict
        Complexity of each class; under ``"target"`` for regression.
    meta : dict
        How the scores came about.
    """

    def __init__(
        self,
        *,
        table: pd.DataFrame,
        loo: Array,
        d: Array,
        alpha: Array,
        classes: NDArray[Any],
        complexity: Mapping[Any, float],
        meta: Mapping[str, Any],
        dataset: Dataset | None = None,
    ) -> None:
        self.table = table
        self.loo = loo
        self.d = d
        self.alpha = alpha
        self.classes = classes
        self.complexity = dict(complexity)
        self.meta = {"version": __version__, **meta}
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self.table)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: as in a saved file, the scores without the data."""
        return {**self.__dict__, "_dataset": None}

    def label_issues(
        self,
        *,
        by: str = "posterior",
        expected_noise: float | None = None,
        precision: float | None = None,
    ) -> pd.DataFrame:
        """Which labels are wrong, and what they should be.

        Parameters
        ----------
        by : {"posterior", "margin", "cg", "partial", "sign"}
            What decides. ``posterior``: the probability that the label is right, with rates of
            noise estimated from the data (`cgscore.issues.noise_model`). ``margin``: the
            leave-one-out prediction differs. The others are the paper's: the highest CG, the
            highest partial score, and ``sign``, its rule that a positive partial score means a
            wrong label.
        expected_noise : float, optional
            Flag the worst of this share (below 1) or number, instead of what is more likely wrong
            than right.
        precision : float, optional
            Flag as many of the worst as keeps this share of them expected to be wrong.

        Returns
        -------
        DataFrame
            All examples in input order, indexed by id: ``is_label_issue``; ``label_score``, the
            probability that the label is right (for other detectors the share of examples that are
            more suspicious); ``given_label``; ``predicted_label``, the most probable class, all
            considered; ``confidence`` in it; ``runner_up``; ``kind`` of trouble: wrong label,
            conflicting duplicates, ambiguous, atypical, alone in its class; ``cg``; ``margin``.
            ``attrs`` has the estimated number of wrong labels with its 95 % interval, by class, and
            the matrix of given against true classes.
        """
        if not len(self.classes):
            raise OptionError("label_issues is for classes; these scores are of a regression.")
        return issue_table(
            self.table,
            self.loo,
            self.classes,
            self.codes(),
            ridge=self.meta["ridge"],
            by=by,
            expected_noise=expected_noise,
            precision=precision,
        )

    def keep(
        self,
        fraction: float,
        order: str = "low-first",
        per_class: bool = True,
        *,
        by: str | ArrayLike = "cg",
        offset: float | None = None,
        drop_issues: bool = False,
        seed: int = 0,
        data: Any = None,
        progress: bool | Listener | None = None,
    ) -> NDArray[np.intp]:
        """Positions of the examples to keep, ascending: ``X[s.keep(0.6)]``.

        Parameters
        ----------
        fraction : float
            Share of all examples that stay.
        order : {"low-first", "high-first", "window", "stratified", "random"}
            ``low-first`` removes low scores first and keeps the hard, ``high-first`` removes high
            scores first. ``window`` keeps those between `offset` and ``offset + fraction`` of the
            ascending order. ``stratified`` keeps some of every level of the score: as they come
            where few examples stay, alike where most do. ``random`` is the baseline.
        per_class : bool
            Keep the same share of every class; otherwise all examples are sorted together.
        by : str or (n,) array
            The score: a column of numbers of `table`, ``"label_score"`` (the probability that a
            label is right), or one number for each example.
        offset : float, optional
            Where the window starts. By default where kernel regression on the window predicts the
            labels of all examples best (`cgscore.selection.window`); this needs the data.
        drop_issues : bool
            Remove suspected label errors first, whatever `fraction` is: with 1.0 only these go.
        seed : int
            For ``stratified`` and ``random``, and for samples on which a window is chosen.
        data : optional
            The scored data for choosing a window, if this result was loaded from a file and its
            source has moved.
        progress : bool or function, optional
            As for `score`, of choosing a window.
        """
        check_selection(fraction, order, offset, seed)
        pool, choose = self._choice(fraction, order, per_class, by, drop_issues, seed)
        if order == "window" and offset is None:
            found = self._predicted_by_windows(fraction, pool, choose, seed, data, progress)
            offset = max(found, key=lambda one: found[one])
        return pool[choose(offset or 0.0)]

    def windows(
        self,
        fraction: float,
        per_class: bool = True,
        *,
        by: str | ArrayLike = "cg",
        drop_issues: bool = False,
        seed: int = 0,
        data: Any = None,
        progress: bool | Listener | None = None,
    ) -> dict[float, float]:
        """How well kernel regression on each window predicts all examples: offset -> share right.

        For regression the share of the variance that is explained. `keep` takes the best, the first
        of equals; parameters are as there.
        """
        check_selection(fraction, "window", None, seed)
        pool, choose = self._choice(fraction, "window", per_class, by, drop_issues, seed)
        return self._predicted_by_windows(fraction, pool, choose, seed, data, progress)

    def _predicted_by_windows(
        self,
        fraction: float,
        pool: NDArray[np.intp],
        choose: Callable[[float], NDArray[np.intp]],
        seed: int,
        data: Any,
        progress: bool | Listener | None,
    ) -> dict[float, float]:
        labels = as_labels(self.table["given_label"].to_numpy(), len(self), self.meta["task"])
        return predicted_by_windows(
            unit_rows(self.data(data).X)[pool],
            labels.targets()[pool],
            min(1.0, fraction * len(self) / len(pool)),
            choose,
            seed=seed,
            progress=reporter(progress),
        )

    def _choice(
        self,
        fraction: float,
        order: str,
        per_class: bool,
        by: str | ArrayLike,
        drop_issues: bool,
        seed: int,
    ) -> tuple[NDArray[np.intp], Callable[[float], NDArray[np.intp]]]:
        """Who may stay, and for an offset who of them does."""
        values, pool = self.values(by), np.arange(len(self))
        if drop_issues:
            pool = np.flatnonzero(~self.label_issues()["is_label_issue"].to_numpy())
        if not len(pool):
            raise OptionError("Every label is suspected: nothing is left to choose from.")
        count = min(len(pool), max(1, round(fraction * len(self))))
        per_class = per_class and len(self.classes) > 0
        groups = self.codes()[pool] if per_class else np.zeros(len(pool), np.intp)

        def choose(offset: float) -> NDArray[np.intp]:
            return select(values[pool], groups, count, order=order, offset=offset, seed=seed)

        return pool, choose

    def values(self, by: str | ArrayLike) -> Array:
        """One number for each example, by which examples can be sorted.

        Parameters
        ----------
        by : str or (n,) array
            A column of numbers of `table`, ``"label_score"``, or the numbers themselves.
        """
        if isinstance(by, str):
            numbers = self.table.select_dtypes("number").columns.drop(
                ["id", "given_label", "predicted_label"], errors="ignore"
            )
            if by == "label_score":
                found = self.label_issues()["label_score"].to_numpy()
            elif by in numbers:
                column = self.table[by]  # nullable types of pandas come as objects otherwise
                masked = not isinstance(column.dtype, np.dtype)
                found = (
                    column.to_numpy(np.float64, na_value=np.nan) if masked else column.to_numpy()
                )
            else:
                known = ", ".join([*numbers, "label_score"])
                raise OptionError(f"by={by!r} is not known. Choose one of: {known}.")
        else:
            try:
                found = np.asarray(by, np.float64)
            except (TypeError, ValueError) as error:
                raise OptionError(f"by= does not hold numbers: {error}") from error
            if found.shape != (len(self),):
                raise OptionError(
                    f"by= has the shape {found.shape}. Expected one number for each of the "
                    f"{len(self):,} examples."
                )
        unknown = int(np.isnan(found).sum())
        if unknown:
            raise OptionError(f"by={by!r} has no value for {unknown:,} examples.")
        return found

    def codes(self) -> NDArray[np.intp]:
        """For every example the position of its class in `classes`."""
        given = self.table["given_label"].to_numpy()
        return np.searchsorted(self.classes, given).astype(np.intp)

    def extra(self, *names: str, eta: float = 1.0, data: Any = None) -> pd.DataFrame:
        """The paper's other quantities, computed on request.

        Parameters
        ----------
        *names : {"cg_prime", "cg_approx", "accumulated_error"}
            Which; all by default. The first two need the data and one pass over H.
        eta : float
            Step size of gradient descent in ``accumulated_error``.
        data : optional
            The scored data, if this result was loaded from a file and its source has moved.

        Returns
        -------
        DataFrame
            One column per name, rows as in `table`.
        """
        import pandas as pd

        names = names or EXTRAS
        for name in names:
            if name not in EXTRAS:
                raise OptionError(f"{name!r} is not known. Choose from: {', '.join(EXTRAS)}.")
        found: dict[str, Array] = {}
        if "accumulated_error" in names:
            if self.meta["ridge"] != 0:
                raise OptionError(
                    "accumulated_error is defined for ridge 0 only; "
                    f"these scores have ridge {self.meta['ridge']:g}."
                )
            if not eta > 0:
                raise OptionError(f"eta={eta!r} makes no sense. Expected a positive step size.")
            found["accumulated_error"] = self.alpha / eta
        if "cg_prime" in names or "cg_approx" in names:
            y, Hy = self._kernel_times_targets(self.data(data))
            h = self._kernel().diagonal
            found["cg_prime"], found["cg_approx"] = cg_prime(y, Hy, h), cg_approx(y, Hy, h)
        extras: pd.DataFrame = pd.DataFrame(
            {name: found[name] for name in names}, index=self.table.index
        )
        return extras

    @property
    def texts(self) -> Sequence[str] | None:
        """The examples, where they are texts and at hand: not read from a file for this."""
        return None if self._dataset is None else self._dataset.texts

    def data(self, data: Any = None, *, encoder: str | None = None) -> Dataset:
        """The scored data: as given, in memory, or read again from the saved source.

        Parameters
        ----------
        data : optional
            The data, or where they are now.
        encoder : str, optional
            The encoder they were scored with, to be said again where it is not one that comes with
            the package: a file must not choose what code is run.

        Raises
        ------
        OptionError
            They are not there, or are not what was scored.
        """
        # without what it remembers, so that data changed in place are noticed
        dataset = None if self._dataset is None else dataclasses.replace(self._dataset)
        if data is not None:
            plain = isinstance(data, Dataset)
            dataset = read(data, **({} if plain else self._read_options(encoder)))
            if dataset.y is None:
                dataset = dataset.with_labels(self.table["given_label"].to_numpy())
        if dataset is None:
            source = self.meta["source"]
            if not (source.startswith("sklearn:") or exists(source)):
                raise OptionError(
                    f"This result was loaded from a file and its source ({source}) is not there. "
                    "Give the scored data: data=..."
                )
            check_openable(source, "source")
            dataset = read(source, **self._read_options(encoder))
        if dataset.fingerprint != self.meta["fingerprint"]:
            raise OptionError("The data are not what was scored: their fingerprint differs.")
        self._dataset = dataset
        return dataset

    def check_encoder(self, encoder: str | None) -> None:
        """Raise `OptionError` for another encoder than the one of these scores."""
        saved = self.meta["read_options"].get("encoder")
        if encoder is not None and encoder != saved:
            made = "without an encoder" if saved is None else f"with the encoder {saved!r}"
            raise OptionError(f"encoder={encoder!r}: this result was scored {made}.")

    def _read_options(self, encoder: str | None) -> dict[str, Any]:
        """How the source was read; code is loaded only by names that the caller has said."""
        options = self.meta["read_options"]
        check_read_options(options)
        self.check_encoder(encoder)
        saved = options.get("encoder")
        harmless = saved is None or saved in BUILT_IN or is_file(str(saved))
        if not harmless and encoder is None:
            raise OptionError(
                f"This result was scored with the encoder {saved!r}, which is loaded only if you "
                f"name it yourself: encoder={saved!r} (command line: --encoder {saved})"
            )
        if "labels" in options:
            check_openable(options["labels"], "file of labels")
        if saved is not None and is_file(saved):
            check_openable(saved, "file of features")
        return dict(options)

    def _kernel(self) -> Kernel:
        """That of the scores; results before 0.2 have the paper's."""
        return find_kernel(self.meta.get("kernel", RELU.name))

    def _kernel_times_targets(self, dataset: Dataset) -> tuple[Array, Array]:
        """y_i and (H y)_i with the targets of each example's own class: 2 n^2 (p + k) flops."""
        if dataset.y is None:  # the fingerprint includes the labels
            raise OptionError("data= has no labels.")
        labels = as_labels(dataset.y, len(dataset), self.meta["task"])
        Y, rows = labels.targets(), unit_rows(dataset.X, kernel=self._kernel())
        Hy = np.empty(len(rows))
        for start in range(0, len(rows), _STRIP):
            part = slice(start, start + _STRIP)
            H = gram_block(rows[part], rows)
            np.fill_diagonal(H[:, part], rows.kernel.diagonal)
            product = H @ Y
            Hy[part] = product[np.arange(len(product)), labels.codes[part]]
        return Y[np.arange(len(rows)), labels.codes], Hy

    def accuracy(self) -> float:
        """Share of examples whose label is what the others predict; nan for regression.

        Examples whose prediction is missing do not count.
        """
        if not len(self.classes):
            return float("nan")
        known = self.table["margin"].notna()
        agree = self.table["given_label"][known] == self.table["predicted_label"][known]
        return float(agree.mean()) if len(agree) else float("nan")

    def report(
        self,
        path: str | Path,
        *,
        data: Any = None,
        worst: int = 200,
        beside: pd.DataFrame | None = None,
        progress: bool | Listener | None = None,
    ) -> list[str]:
        """Write one self-contained page: what looks wrong, what is hard, in pictures and charts.

        Parameters
        ----------
        path : str or Path
            The file, for example ``report.html``.
        data : optional
            The scored data, if this result was loaded from a file and its source has moved. Without
            them pictures and neighbours are left out.
        worst : int
            Suspected labels shown.
        beside : DataFrame, optional
            Other scores of the same examples, a column each, to compare with: for example what
            `cgscore.training.scores_by_training` returns.
        progress : bool or function, optional
            As for `score`.

        Returns
        -------
        list of str
            What had to be left out, and why.
        """
        # by name: the page is built on results, which know nothing of it
        page = import_module("cgscore.report")
        notes: list[str] = page.write(
            self, path, data=data, worst=worst, beside=beside, progress=progress
        )
        return notes

    def to_csv(self, path: str | Path, *, guard: bool = True) -> None:
        """Write the table as CSV, with all digits.

        Parameters
        ----------
        path : str or Path
            The file.
        guard : bool
            Put a single quote before ids and labels that a spreadsheet would take for a formula
            (`cgscore.data.csv_writer`). Numbers are never touched.
        """
        write_csv(self.table, path, guard=guard)

    def save(self, path: str | Path) -> None:
        """Write table, leave-one-out predictions, d and metadata to one Parquet file.

        The file is written beside its final name and then renamed, so an interrupted or failed
        write leaves an older file as it was.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            arrow = pa.Table.from_pandas(self.table, preserve_index=False)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise ResultError(f"Ids or labels cannot be saved as Parquet: {error}") from error
        k = self.loo.shape[1]
        flat = pa.array(np.ascontiguousarray(self.loo).reshape(-1))
        arrow = arrow.append_column("d", pa.array(self.d))
        arrow = arrow.append_column("alpha", pa.array(self.alpha))
        arrow = arrow.append_column("loo", pa.FixedSizeListArray.from_arrays(flat, k))
        document = encode_document(self.meta, self.classes.tolist(), list(self.complexity.values()))
        arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **document})
        replace_file(Path(path), lambda file: pq.write_table(arrow, file, compression="zstd"))

    def __repr__(self) -> str:
        lines = [self._headline(), f"  {self._spread()}"]
        if len(self.classes):
            known = int(self.table["margin"].notna().sum())
            differ = round((1 - self.accuracy()) * known) if known else 0
            of = "" if known == len(self) else f" of the {known:,} that have a prediction"
            lines.append(f"  {differ:,} labels{of} differ from what the other examples predict")
        if audit := self.meta.get("audit"):
            low, high = audit["rank_correlation_interval"]
            lines.append(
                f"  audit: rank correlation with the exact score {audit['rank_correlation']:.4f} "
                f"({low:.4f} to {high:.4f})"
            )
        return "\n".join(lines)

    def _headline(self) -> str:
        meta = self.meta
        what = f" in {len(self.classes)} classes" if len(self.classes) else ", regression"
        took = show_seconds(meta["timings"]["total"])
        return (
            f"Scores of {len(self):,} examples{what}: "
            f"{meta['method']}, ridge {meta['ridge']:g}, {took}"
        )

    def _spread(self) -> str:
        cg = self.table["cg"].to_numpy()
        text = f"CG median {np.median(cg):.3g}, 1 % above {_top(cg):.3g}"
        if len(self.classes) and self.table["margin"].notna().any():
            text += f"; leave-one-out accuracy {100 * self.accuracy():.1f} %"
        return text

    def _repr_html_(self) -> str:
        return (
            f"<div><strong>{html.escape(self._headline())}</strong><br>"
            f"{html.escape(self._spread())}<br>{_histogram(self.table['cg'].to_numpy())}</div>"
        )


def load(path: str | Path, *, max_ratio: float = MAX_RATIO) -> Scores:
    """A result saved with `Scores.save`, checked against its schema (`cgscore.result.schema`).

    Parameters
    ----------
    path : str or Path
        The file.
    max_ratio : float
        A file that would take more than 256 MB and so many times its own size in memory is refused.

    Raises
    ------
    ResultError
        The file is missing, not a result of cgscore, damaged, changed, or from a newer version.
    MemoryLimitError
        There is not enough memory for it.
    """
    saved = read_result(Path(path), max_ratio=max_ratio)
    return Scores(
        table=saved.table,
        loo=saved.loo,
        d=saved.d,
        alpha=saved.alpha,
        classes=saved.classes,
        complexity=saved.complexity,
        meta=saved.meta,
    )


def score_table(
    result: Valuation,
    labels: Labels,
    ids: NDArray[Any],
    repeats: Groups | None,
    more: Mapping[str, Any],
) -> pd.DataFrame:
    """`Scores.table` from a valuation.

    `repeats` adds the column ``duplicate_of``, `more` others. Where a prediction is missing for any
    class, so are suggested label and margin.
    """
    import pandas as pd

    regression = labels.task == "regression"
    unknown = np.logical_or.reduce(np.isnan(result.loo), axis=1)
    columns = {
        "id": ids,
        "given_label": labels.values,
        "cg": result.cg,
        "first_term": result.first_term,
        "partial": result.partial,
        "third_term": result.third_term,
        "residual": result.residual,
        "predicted_label": result.loo[:, 0]
        if regression
        else labels.classes[predicted(np.where(unknown[:, None], 0.0, result.loo))],
        "margin": np.full(len(ids), np.nan) if regression else margin(result.loo, labels.codes),
    }
    table: pd.DataFrame = pd.DataFrame(columns).assign(**more)
    if unknown.any():
        given = table["predicted_label"]
        kept = given if given.dtype.kind == "f" else given.convert_dtypes()
        table["predicted_label"] = kept.mask(unknown)
    if repeats is not None:
        first = pd.Series(ids[repeats.first], index=table.index).convert_dtypes()
        table["duplicate_of"] = first.mask(repeats.first == np.arange(len(ids)))
    return table


def _top(cg: Array) -> float:
    """The score that 1 % of the examples reach."""
    return float(np.sort(cg)[int(0.99 * (len(cg) - 1))])


def _histogram(cg: Array, bars: int = 40, width: int = 320, height: int = 60) -> str:
    """A small picture of how CG is distributed, on a logarithmic scale."""
    cg = cg[(cg > 0) & np.isfinite(cg)]
    if not len(cg):
        return ""
    counts, edges = np.histogram(np.log10(cg), bins=bars)
    heights = counts / counts.max() * height
    step = width / bars
    drawn = "".join(
        f'<rect x="{i * step:.1f}" y="{height - h:.1f}" width="{step - 1:.1f}" height="{h:.1f}"/>'
        for i, h in enumerate(heights)
    )
    caption = f"CG from {10 ** edges[0]:.2g} to {10 ** edges[-1]:.2g}, logarithmic"
    return (
        f'<svg role="img" aria-label="{caption}" width="{width}" height="{height + 16}">'
        f'<g fill="#4477aa">{drawn}</g>'
        f'<text y="{height + 13}" font-size="11" fill="currentColor">{caption}</text></svg>'
    )
