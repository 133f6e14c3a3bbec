"""`Scores`, the result of scoring: a table with metadata. Its methods call other modules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore import __version__
from cgscore.data import Dataset
from cgscore.data.csv_writer import write_csv
from cgscore.errors import OptionError
from cgscore.execution.progress import Listener, reporter
from cgscore.issues.regression import find_target_issues
from cgscore.issues.sources import sources_of_issues
from cgscore.issues.summary import IssueSummary
from cgscore.issues.table import LabelIssues, find_issues
from cgscore.kernel import RELU, Kernel, find_kernel, unit_rows
from cgscore.labels import as_labels
from cgscore.result import display, source
from cgscore.result.extras import extra_columns
from cgscore.result.file import MAX_RATIO, SavedResult, read_result, write_result
from cgscore.result.groups import group_records, group_table
from cgscore.result.table import column_values, given_values, numeric_columns
from cgscore.selection.orders import check_selection
from cgscore.selection.pool import Pool
from cgscore.selection.window import best_offset, window_qualities
from cgscore.spelling import spelled
from cgscore.typing import Array
from cgscore.valuation import margin

if TYPE_CHECKING:
    import pandas as pd


class Scores:
    """What every example of a dataset is worth.

    Attributes
    ----------
    table : DataFrame
        One row per example, in input order: ``id``, ``given_label``, ``cg``, ``first_term``,
        ``partial``, ``third_term``, ``residual``, ``predicted_label``, ``margin``, and
        ``duplicate_of`` where rows repeat. ``source`` and ``group`` where columns for them were
        named; ``consensus_confidence`` and ``annotators``, the number of those who labelled the
        example, where there are several.
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
    judged_loo : (n, k) array or None
        Leave-one-out predictions by which labels are judged; None if these are `loo`.
    judged_d : (n,) array or None
        For a regression that is judged apart: the diagonal that belongs to `judged_loo`.
    meta : dict
        How the scores were computed: method, options, source, timings, warnings.
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
        judged_loo: Array | None = None,
        judged_d: Array | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        self.table = table
        self.loo = loo
        self.d = d
        self.alpha = alpha
        self.classes = classes
        self.complexity = dict(complexity)
        self.judged_loo, self.judged_d = judged_loo, judged_d
        self.meta = {"version": __version__, **meta}
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self.table)

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling: as in a saved file, the scores without the data."""
        return {**self.__dict__, "_dataset": None}

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    # ------------------------------------------------------------ reading the table

    @property
    def kernel(self) -> Kernel:
        """The kernel of the scores; that of results before 0.2 is the paper's."""
        return find_kernel(self.meta.get("kernel", RELU.name))

    def codes(self) -> NDArray[np.intp]:
        """For every example the position of its class in `classes`."""
        given = self.table["given_label"].to_numpy()
        return np.searchsorted(self.classes, given).astype(np.intp)

    def values(self, by: str | ArrayLike) -> Array:
        """One number for each example, by which examples can be sorted.

        Parameters
        ----------
        by : str or (n,) array
            A column of numbers of `table`, ``"label_score"``, or the numbers themselves.
        """
        if not isinstance(by, str):
            values = given_values(by, len(self))
        elif by == "label_score":
            values = self.label_issues()["label_score"].to_numpy()
        else:
            columns = numeric_columns(self.table)
            if by not in columns:
                names = ", ".join([*columns, "label_score"])
                raise OptionError(f"by must be an array or one of {names}; got {by!r}.")
            values = column_values(self.table, by)
        missing = int(np.isnan(values).sum())
        if missing:
            raise OptionError(f"by={by!r} has no value for {missing:,} examples.")
        return values

    def accuracy(self) -> float:
        """Share of examples whose label is what the others predict; nan for regression.

        Examples without a prediction do not count.
        """
        if not len(self.classes):
            return float("nan")
        predicted = self.table["margin"].notna()
        agree = self.table["given_label"][predicted] == self.table["predicted_label"][predicted]
        return float(agree.mean()) if len(agree) else float("nan")

    def class_names(self) -> dict[Any, str]:
        """What each class is called: its name where the source has one, and otherwise itself."""
        labels = self.classes.tolist()
        return dict(zip(labels, self.meta.get("class_names") or map(str, labels), strict=True))

    # ------------------------------------------------------------ label issues

    @property
    def judging_loo(self) -> Array:
        """The leave-one-out predictions by which labels are judged: `judged_loo` or `loo`."""
        return self.loo if self.judged_loo is None else self.judged_loo

    @property
    def judged(self) -> bool:
        """Whether any label can be judged: an example has a prediction for every class."""
        return not bool(np.isnan(self.judging_loo).any(axis=1).all())

    @property
    def judging_ridge(self) -> float:
        """The ridge of `judging_loo`."""
        judge = self.meta.get("judge")
        return float(self.meta["ridge"] if judge is None else judge["ridge"])

    def judged_accuracy(self) -> float:
        """Share of labels that are what `judging_loo` predicts; nan for regression."""
        loo = self.judging_loo
        predicted = ~np.isnan(loo).any(axis=1)
        if not len(self.classes) or not predicted.any():
            return float("nan")
        return float((np.argmax(loo[predicted], axis=1) == self.codes()[predicted]).mean())

    def typical_errors(self) -> tuple[float, float]:
        """For numeric targets: median error of `judging_loo`, and of the median of all targets."""
        if len(self.classes):
            return float("nan"), float("nan")
        y, mu = self.table["given_label"].to_numpy(np.float64), self.judging_loo[:, 0]
        return float(np.nanmedian(np.abs(y - mu))), float(np.median(np.abs(y - np.median(y))))

    def label_issues(
        self,
        *,
        by: str = "posterior",
        expected_noise: float | None = None,
        precision: float | None = None,
    ) -> pd.DataFrame:
        """Which labels are wrong, and what they should be.

        Numeric targets are judged as well (`cgscore.issues.regression`); their table has the first
        four columns, then ``low`` and ``high``, the 95 % interval of what the value should be, and
        ``studentised_residual``.

        Parameters
        ----------
        by : {"posterior", "margin", "cg", "partial", "sign"}
            The detector. ``posterior``: the probability that the label is right, with rates of
            noise estimated from the data (`cgscore.issues.noise_model`). ``margin``: the
            leave-one-out prediction differs. The others are the paper's: the highest CG, the
            highest partial score, and ``sign``, its rule that a positive partial score means a
            wrong label.
        expected_noise : float, optional
            Flag the worst of this share (below 1) or number, instead of those that are more likely
            wrong than right.
        precision : float, optional
            Flag as many of the worst as keep the expected share of wrong labels among them this
            high.

        Returns
        -------
        DataFrame
            All examples in input order, indexed by id:

            - ``is_label_issue``;
            - ``label_score``, the probability that the label is right (for other detectors the
              share of examples that are more suspicious);
            - ``given_label``;
            - ``predicted_label``, the most probable class, given the label too;
            - ``confidence`` in it, and the ``runner_up``;
            - ``kind`` of issue: wrong label, conflicting duplicates, undecidable (identical inputs
              whose labels tie), ambiguous, atypical, alone in its class;
            - ``conflict_group``, the number of a group of identical inputs with different labels:
              those that fewer have are flagged;
            - ``cg`` and ``margin``.

            Its ``attrs`` hold the values of `issue_summary`.
        """
        return self._issues(by, expected_noise, precision).table

    def worst(self, n: int = 10) -> pd.DataFrame:
        """The labels that are most probably wrong, the worst first.

        Parameters
        ----------
        n : int
            Number of rows; fewer if fewer labels are flagged.

        Returns
        -------
        DataFrame
            Flagged rows of `label_issues`, with their ``position`` in the data.
        """
        rows: pd.DataFrame = self.find_issues().worst_first().head(n)
        return rows

    def issue_summary(
        self,
        *,
        by: str = "posterior",
        expected_noise: float | None = None,
        precision: float | None = None,
    ) -> IssueSummary:
        """How many labels are wrong, in all and by class; parameters as for `label_issues`."""
        return self._issues(by, expected_noise, precision).summary

    def find_issues(
        self,
        *,
        by: str = "posterior",
        expected_noise: float | None = None,
        precision: float | None = None,
    ) -> LabelIssues:
        """`label_issues` and `issue_summary` at once, as ``table`` and ``summary``."""
        return self._issues(by, expected_noise, precision)

    def _issues(
        self, by: str, expected_noise: float | None, precision: float | None
    ) -> LabelIssues:
        if not len(self.classes):
            return find_target_issues(
                self.table,
                self.judging_loo[:, 0],
                self.d if self.judged_d is None else self.judged_d,
                ridge=self.judging_ridge,
                by=by,
                expected_noise=expected_noise,
                precision=precision,
            )
        codes, loo = self.codes(), self.judging_loo
        table = self.table
        if self.judged_loo is not None:
            table = table.assign(margin=margin(loo, codes))
        return find_issues(
            table,
            loo,
            self.classes,
            codes,
            ridge=self.judging_ridge,
            by=by,
            expected_noise=expected_noise,
            precision=precision,
            stacklevel=3,
        )

    # ------------------------------------------------------------ origins

    def sources(self) -> pd.DataFrame:
        """Who delivered the wrong labels: the rate of every source, the worst first.

        Returns
        -------
        DataFrame
            ``source``, ``examples``, ``flagged``, ``estimated_wrong``, its ``rate`` with ``low``
            and ``high``, the ends of a 95 % interval, ``p_value`` and ``differs``: ``more`` or
            ``fewer`` wrong labels than the others by more than chance, or empty
            (`cgscore.issues.sources`).

        Raises
        ------
        OptionError
            The scores do not know the sources: give ``source_column`` to `cgscore.score`.
        """
        self._check_column("source")
        issues = self._issues("posterior", None, None)
        return sources_of_issues(issues, self.table["source"].to_numpy(dtype=object))

    def groups(self, *, data: Any = None, progress: bool | Listener | None = None) -> pd.DataFrame:
        """What every group is worth: how much complexity falls when it goes as a whole.

        The exact method has computed this. Other scores need the data and one factorisation.

        Parameters
        ----------
        data : optional
            The scored data, if this result was loaded from a file and its source has moved.
        progress : bool or function, optional
            As for `score`.

        Returns
        -------
        DataFrame
            ``group``, ``examples``, ``gap`` over all classes, and ``gap_CLASS`` for each, in the
            order in which groups first appear (`cgscore.factorisation.Factor.group_gaps`).
        """
        self._check_column("group")
        if "groups" not in self.meta:
            # by name: factors are made of results' parts, which know nothing of them
            factor = import_module("cgscore.api").factor(
                self.data(data),
                ridge=self.meta["ridge"],
                kernel=self.kernel.name,
                progress=progress,
            )
            try:
                table = factor.group_gaps(
                    self.table["group"].to_numpy(dtype=object),
                    self.table["given_label"].to_numpy(),
                    task=self.meta["task"],
                    progress=reporter(progress),
                )
            finally:
                factor.close()
            self.meta["groups"] = group_records(table)
        return group_table(self.meta["groups"], self.classes.tolist())

    def annotators(self) -> pd.DataFrame:
        """How reliable every annotator is, the least reliable first.

        Returns
        -------
        DataFrame
            ``annotator``, ``examples``, ``reliability`` (rate of right labels), ``low`` and
            ``high``, the ends of its 95 % interval, and ``differs``: ``more`` or ``fewer`` right
            labels than the others by more than chance, or empty (`cgscore.issues.annotators`).
        """
        import pandas as pd

        if "annotators" not in self.meta:
            raise OptionError(
                "These scores have one label per example. Score with "
                f"{spelled(annotator_columns=['NAME', 'NAME'])}."
            )
        table: pd.DataFrame = pd.DataFrame(self.meta["annotators"])
        return table

    def _check_column(self, role: str) -> None:
        if role not in self.table:
            raise OptionError(
                f"These scores do not know the {role} of an example. Score with "
                f"{spelled(**{f'{role}_column': 'NAME'})}."
            )

    # ------------------------------------------------------------ selection

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
            ascending order. ``stratified`` keeps examples of every level of the score: in
            proportion where few examples stay, evenly where most do. ``random`` is the baseline.
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
            Seed of the draws: for ``stratified``, for ``random``, and for choosing a window.
        data : optional
            The scored data for choosing a window, if this result was loaded from a file and its
            source has moved.
        progress : bool or function, optional
            As for `score`; reports the choice of a window.
        """
        check_selection(fraction, order, offset, seed)
        pool = self._pool(fraction, per_class, by, drop_issues)
        if order == "window" and offset is None:
            offset = best_offset(self._window_qualities(fraction, pool, seed, data, progress))
        return pool.positions[pool.select(order, offset=offset or 0.0, seed=seed)]

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
        of equals. Parameters are those of `keep`.
        """
        check_selection(fraction, "window", None, seed)
        pool = self._pool(fraction, per_class, by, drop_issues)
        return self._window_qualities(fraction, pool, seed, data, progress)

    def _pool(
        self, fraction: float, per_class: bool, by: str | ArrayLike, drop_issues: bool
    ) -> Pool:
        """The examples that may stay."""
        values = self.values(by)
        allowed = ~self.label_issues()["is_label_issue"].to_numpy() if drop_issues else None
        codes = self.codes() if per_class and len(self.classes) else None
        return Pool.of(values, codes, fraction, allowed)

    def _window_qualities(
        self,
        fraction: float,
        pool: Pool,
        seed: int,
        data: Any,
        progress: bool | Listener | None,
    ) -> dict[float, float]:
        labels = as_labels(self.table["given_label"].to_numpy(), len(self), self.meta["task"])
        return window_qualities(
            unit_rows(self.data(data).X, kernel=self.kernel)[pool.positions],
            labels.targets()[pool.positions],
            min(1.0, fraction * len(self) / len(pool.positions)),
            lambda offset: pool.select("window", offset=offset, seed=seed),
            seed=seed,
            progress=reporter(progress),
        )

    # ------------------------------------------------------------ the scored data

    @property
    def texts(self) -> Sequence[str] | None:
        """The examples, where they are texts and in memory; no file is read for this."""
        return None if self._dataset is None else self._dataset.texts

    def data(self, data: Any = None, *, encoder: str | None = None) -> Dataset:
        """The scored data: as given, in memory, or read again from the saved source.

        Parameters
        ----------
        data : optional
            The data, or where they are now.
        encoder : str, optional
            The encoder they were scored with. It must be named again unless it comes with the
            package, because a saved file must not choose which code runs.

        Raises
        ------
        OptionError
            The data cannot be found, or are not what was scored.
        """
        if data is not None:
            labels = self.table["given_label"].to_numpy()
            dataset = source.open_data(data, self.meta, labels, encoder)
        elif self._dataset is not None:
            # a copy without cached values, so that data changed in place are noticed
            dataset = dataclasses.replace(self._dataset)
        else:
            dataset = source.open_source(self.meta, encoder)
        source.check_fingerprint(dataset, self.meta)
        self._dataset = dataset
        return dataset

    def _scored(self, dataset: Dataset) -> Dataset:
        """The data with the labels that were scored: of several annotators, their consensus."""
        if dataset.annotations is None:
            return dataset
        return dataset.with_labels(self.table["given_label"].to_numpy())

    def check_encoder(self, encoder: str | None) -> None:
        """Raise `OptionError` for another encoder than the one of these scores."""
        source.check_encoder(self.meta, encoder)

    def extra(self, *names: str, eta: float = 1.0, data: Any = None) -> pd.DataFrame:
        """The paper's other quantities, computed on request.

        Parameters
        ----------
        *names : {"cg_prime", "cg_approx", "accumulated_error"}
            Which quantities; all by default. The first two need the data and one pass over H.
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

        columns = extra_columns(
            names,
            alpha=self.alpha,
            ridge=self.meta["ridge"],
            eta=eta,
            task=self.meta["task"],
            kernel=self.kernel,
            dataset=lambda: self._scored(self.data(data)),
        )
        extras: pd.DataFrame = pd.DataFrame(columns, index=self.table.index)
        return extras

    # ------------------------------------------------------------ files

    def report(
        self,
        path: str | Path,
        *,
        data: Any = None,
        worst: int = 200,
        beside: pd.DataFrame | None = None,
        progress: bool | Listener | None = None,
    ) -> list[str]:
        """Write one self-contained page: suspected labels, hard examples, charts.

        Parameters
        ----------
        path : str or Path
            The file, for example ``report.html``.
        data : optional
            The scored data, if this result was loaded from a file and its source has moved. Without
            the data, pictures and neighbours are left out.
        worst : int
            Number of suspected labels shown.
        beside : DataFrame, optional
            Other scores of the same examples to compare with, one per column: for example what
            `cgscore.training.scores.together.scores_by_training` returns.
        progress : bool or function, optional
            As for `score`.

        Returns
        -------
        list of str
            What was left out, and why.
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
            (`cgscore.data.csv_writer`). Numbers are not changed.
        """
        write_csv(self.table, path, guard=guard)

    def save(self, path: str | Path) -> None:
        """Write table, leave-one-out predictions, d and metadata to one Parquet file.

        The file is written beside its final name and then renamed, so an interrupted or failed
        write leaves an older file as it was.
        """
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(SavedResult)}
        write_result(SavedResult(**parts), Path(path))


def load(path: str | Path, *, max_ratio: float = MAX_RATIO) -> Scores:
    """A result saved with `Scores.save`, checked against its schema (`cgscore.result.schema`).

    Parameters
    ----------
    path : str or Path
        The file.
    max_ratio : float
        A file that would take more than 256 MB and more than this many times its own size in memory
        is refused.

    Raises
    ------
    ResultError
        The file is missing, damaged, not a result of cgscore, or from a newer version.
    MemoryLimitError
        There is not enough memory for it.
    """
    return Scores(**vars(read_result(Path(path), max_ratio=max_ratio)))
