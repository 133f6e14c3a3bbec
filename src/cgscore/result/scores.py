"""`Scores`, the result of scoring: a table with metadata. Its methods call other modules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore import __version__
from cgscore.data import Dataset
from cgscore.data.csv_writer import write_csv
from cgscore.errors import CGScoreError, OptionError
from cgscore.execution.progress import Listener, reporter
from cgscore.issues.judged import JudgedLabels, judge_labels
from cgscore.issues.regression import find_target_issues
from cgscore.issues.sources import sources_of_issues
from cgscore.issues.summary import IssueSummary
from cgscore.issues.table import LabelIssues, check_detector, find_issues
from cgscore.kernel import RELU, Kernel, find_kernel, unit_rows
from cgscore.labels import as_labels
from cgscore.result import display, source
from cgscore.result.extras import extra_columns
from cgscore.result.file import MAX_RATIO, SavedResult, read_result, write_result
from cgscore.result.groups import group_records, group_table
from cgscore.result.histogram import Histogram
from cgscore.result.selection import RANK, Selection, make_selector, ranks_of, saved_ranks
from cgscore.result.table import column_values, given_values, numeric_columns
from cgscore.selection.expectation import Expectation
from cgscore.selection.orders import RANKED_ORDERS, as_positions, check_selection
from cgscore.selection.pool import Pool
from cgscore.selection.selector import Selector
from cgscore.selection.window import best_offset, window_qualities
from cgscore.spelling import spelled
from cgscore.typing import Array
from cgscore.valuation import missing

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
        Leave-one-out predictions, one column per class; one column for regression. If there are
        more than 2e8, they are kept only with ``keep_predictions=True``; without it, reading them
        raises an error.
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
        loo: Array | None,
        d: Array,
        alpha: Array,
        classes: NDArray[Any],
        complexity: Mapping[Any, float],
        meta: Mapping[str, Any],
        judged_loo: Array | None = None,
        judged_d: Array | None = None,
        judged_labels: JudgedLabels | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        self.table = table
        self._loo = loo
        self._judged_labels = judged_labels
        self.d = d
        self.alpha = alpha
        self.classes = classes
        self.complexity = dict(complexity)
        self.judged_loo, self.judged_d = judged_loo, judged_d
        self.meta = {"version": __version__, **meta}
        self._dataset = dataset
        self._selector: Selector | None = None

    def __len__(self) -> int:
        return len(self.table)

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling: as in a saved file, the scores without the data."""
        return {**self.__dict__, "_dataset": None, "_selector": None}

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
    def loo(self) -> Array:
        """Leave-one-out predictions, (n, k): one column per class; one column for regression.

        Raises
        ------
        OptionError
            The predictions were not kept; score with ``keep_predictions=True``.
        """
        if self._loo is None:
            raise self._not_kept()
        return self._loo

    @property
    def judging_loo(self) -> Array:
        """The leave-one-out predictions by which labels are judged: `judged_loo` or `loo`."""
        if self.judged_loo is not None:
            return self.judged_loo
        if self._judged_labels is not None:
            raise self._not_kept()
        return self.loo

    def _not_kept(self) -> OptionError:
        return OptionError(
            f"The predictions of {len(self):,} examples for {len(self.classes):,} classes were not "
            "kept, only the predicted label, the margin and the verdicts. Score with "
            f"{spelled(keep_predictions=True)}."
        )

    @property
    def judged(self) -> bool:
        """Whether any label can be judged: some example has a prediction for every class."""
        return self._judged_labels is not None or not bool(missing(self.judging_loo).all())

    def _judge(self) -> JudgedLabels:
        """What predictions say of the labels."""
        if self._judged_labels is not None:
            return self._judged_labels
        return judge_labels(self.judging_loo, self.codes())

    @property
    def judging_ridge(self) -> float:
        """The ridge of `judging_loo`."""
        judge = self.meta.get("judge")
        return float(self.meta["ridge"] if judge is None else judge["ridge"])

    def judged_accuracy(self) -> float:
        """Share of labels that are what `judging_loo` predicts; nan for regression."""
        if self._judged_labels is not None:
            return 1 - float(self._judged_labels.verdicts.differs.mean())
        loo = self.judging_loo
        predicted = ~missing(loo)
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
            Flag as many of the worst as keep the share of wrong labels among them this high, with a
            margin for mistakes of the model. Nothing is flagged where that cannot be promised; the
            summary's ``hint`` then says why.

        Returns
        -------
        DataFrame
            All examples in input order, indexed by id:

            - ``is_label_issue``;
            - ``label_score``, the probability that the label is right (for other detectors the
              share of examples that are more suspicious);
            - ``given_label``;
            - ``predicted_label``: for flagged labels, and for others whose leave-one-out prediction
              differs, the best other class; otherwise the given label;
            - ``confidence``, its probability given the label too, and the ``runner_up``;
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

    def plot(self, by: str | ArrayLike = "cg", *, log: bool | None = None) -> Histogram:
        """The distribution of a score: a picture in a notebook, bars of text at a prompt.

        Parameters
        ----------
        by : str or (n,) array
            A column of numbers of `table`, ``"label_score"``, or the numbers themselves.
        log : bool, optional
            Whether the axis is logarithmic; by default for ``"cg"`` only.

        Returns
        -------
        Histogram
            Its ``save("cg.svg")`` writes the picture. Label issues have another colour, in results
            of up to 20,000 examples that can be judged.
        """
        values = self.values(by)
        named = by if isinstance(by, str) else "values"
        return Histogram(
            "CG" if named == "cg" else named,
            values,
            display.flagged(self),
            named == "cg" if log is None else log,
        )

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
        check_detector(by, expected_noise, precision)
        labels, table = self._judge(), self.table
        if self.meta.get("judge") is not None:
            table = table.assign(margin=labels.margin)
        return find_issues(
            table,
            labels,
            self.classes,
            self.codes(),
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
        """What every group is worth: how much the complexity falls when the whole group is removed.

        The exact method computes this while scoring. For other methods it needs the data and one
        factorisation.

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
        landmarks: int | None = None,
        seed: int = 0,
        data: Any = None,
        checkpoint: str | Path | None = None,
        progress: bool | Listener | None = None,
    ) -> NDArray[np.intp]:
        """Positions of the examples to keep, ascending: ``X[s.keep(0.6)]``.

        Parameters
        ----------
        fraction : float
            Share of all examples that stay.
        order : {"low-first", "high-first", "window", "stratified", "random", "greedy", "auto"}
            ``low-first`` removes low scores first and keeps the hard, ``high-first`` removes high
            scores first. ``window`` keeps those between `offset` and ``offset + fraction`` of the
            ascending order. ``stratified`` keeps examples of every level of the score: in
            proportion where few examples stay, evenly where most do. ``random`` is the baseline.
            ``greedy`` keeps the first of a ranking: next comes the example that lowers the error of
            kernel regression at all examples most (`cgscore.selection.greedy`). ``auto`` does so
            without suspected label errors. Both need the inputs, or a saved ranking (`add_rank`).
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
        landmarks : int, optional
            Rank of the features in which a ranking is made; by default 1,000, or n if that is less.
        seed : int
            Seed of the draws: for ``stratified``, for ``random``, for choosing a window, and of
            landmarks.
        data : optional
            The scored data for a window or a ranking, if this result was loaded from a file and its
            source has moved.
        checkpoint : path, optional
            A folder, made if missing, from which an interrupted ranking goes on.
        progress : bool or function, optional
            As for `score`; reports the choice of a window, or the ranking.
        """
        return self.selection(
            fraction,
            order,
            per_class,
            by=by,
            offset=offset,
            drop_issues=drop_issues,
            landmarks=landmarks,
            seed=seed,
            data=data,
            checkpoint=checkpoint,
            progress=progress,
        ).positions

    def selection(
        self,
        fraction: float,
        order: str = "low-first",
        per_class: bool = True,
        *,
        by: str | ArrayLike = "cg",
        offset: float | None = None,
        drop_issues: bool = False,
        landmarks: int | None = None,
        seed: int = 0,
        data: Any = None,
        checkpoint: str | Path | None = None,
        progress: bool | Listener | None = None,
    ) -> Selection:
        """What `keep` returns, with how it was chosen; parameters as for `keep`."""
        check_selection(fraction, order, offset, seed)
        ranked = order in RANKED_ORDERS
        if ranked and not (isinstance(by, str) and by == "cg"):
            raise OptionError(
                f"by is for orders that sort by a score; got {spelled(order=order)}. Leave by out, "
                f"or choose such an order: {spelled(order='low-first')}"
            )
        if order == "auto":
            drop_issues = self.judged
        pool = self._pool(fraction, per_class, np.zeros(len(self)) if ranked else by, drop_issues)
        useful, windows = None, {}
        if ranked:
            ranks, useful = self._ranks(
                pool, drop_issues, landmarks, seed, data, checkpoint, progress
            )
            pool = pool.sorted_by(ranks.astype(np.float64))
        elif order == "window" and offset is None:
            windows = self._window_qualities(fraction, pool, seed, data, progress)
            offset = best_offset(windows)
        chosen = pool.select("high-first" if ranked else order, offset=offset or 0.0, seed=seed)
        wanted = max(1, round(fraction * len(self)))
        positions = pool.positions[chosen]
        if useful is not None and ranks[positions].max() < useful:
            useful = None
        return Selection(positions, order, offset, windows, wanted, pool.positions, useful)

    def add_rank(
        self,
        *,
        drop_issues: bool = False,
        landmarks: int | None = None,
        seed: int = 0,
        data: Any = None,
        checkpoint: str | Path | None = None,
        progress: bool | Listener | None = None,
    ) -> Scores:
        """Rank all examples and keep the ranking as the column ``rank``, 0 for the first.

        Saved with the result, it serves every later ``keep(order="greedy")`` without the data.
        ``meta["rank"]`` says how it was made, and under ``useful`` how many examples come before
        the point where no gain was positive; from there on, the least loss comes first.

        Parameters
        ----------
        drop_issues : bool
            Rank without suspected label errors, and put these last.
        landmarks, seed, data, checkpoint, progress
            As for `keep`.

        Returns
        -------
        Scores
            These scores.
        """
        pool = self._pool(1.0, False, np.zeros(len(self)), drop_issues)
        selector = self.selector(data, landmarks=landmarks, seed=seed)
        folder = None if checkpoint is None else Path(checkpoint)
        ranking = selector.ranking(pool.positions, reporter(progress), checkpoint=folder)
        last = np.setdiff1d(np.arange(len(self)), pool.positions)
        ranks = np.empty(len(self), np.intp)
        ranks[np.concatenate([ranking.order, last])] = np.arange(len(self))
        self.table = self.table.assign(**{RANK: ranks})
        self.meta[RANK] = {
            "ridge": selector.ridge,
            "landmarks": selector.landmarks,
            "seed": seed,
            "drop_issues": drop_issues,
            "useful": ranking.useful if ranking.useful < len(ranking.order) else None,
        }
        return self

    def weights(self, kept: ArrayLike, *, data: Any = None) -> Array:
        """How many examples each kept one stands for, for weighted training.

        Every example is represented by the most similar kept one of its class.

        Parameters
        ----------
        kept : array
            Positions of the kept examples, as `keep` returns them.
        data : optional
            The scored data, if their source has moved.

        Returns
        -------
        (r,) array
            In the order of `kept`. Their sum is the number of examples in the classes with
            at least one kept example.
        """
        return self.selector(data).weights(as_positions(kept, len(self)))

    def expectation(
        self, kept: ArrayLike, *, data: Any = None, progress: bool | Listener | None = None
    ) -> Expectation:
        """Leave-one-out accuracy of kernel regression on the kept examples, and on all.

        Labels that are suspected to be wrong are not predicted. For a regression, shares of the
        variance that are explained. See `cgscore.selection.expectation`.

        Parameters
        ----------
        kept : array
            Positions of the kept examples.
        data, progress
            As for `keep`.
        """
        judged = None
        if self.judged:
            judged = ~self.label_issues()["is_label_issue"].to_numpy()
            judged = judged if judged.any() else None
        positions = as_positions(kept, len(self))
        return self.selector(data).expectation(positions, reporter(progress), judged)

    def selector(
        self, data: Any = None, *, landmarks: int | None = None, seed: int | None = None
    ) -> Selector:
        """The `Selector` that ranks and chooses examples, in features computed once and reused.

        Parameters
        ----------
        data : optional
            The scored data, if their source has moved.
        landmarks, seed : int, optional
            As for `keep`; by default those of the selector that was made before.
        """
        made = self._selector
        if (
            made is None
            or data is not None
            or (seed is not None and seed != made.seed)
            or (landmarks is not None and min(landmarks, len(self)) != made.landmarks)
        ):
            given = self.table["given_label"].to_numpy()
            made = make_selector(
                self.data(data),
                as_labels(given, len(self), self.meta["task"]),
                self.kernel,
                ridge=self.judging_ridge,
                landmarks=landmarks,
                seed=seed or 0,
            )
            self._selector = made
        return made

    def _ranks(
        self,
        pool: Pool,
        drop_issues: bool,
        landmarks: int | None,
        seed: int,
        data: Any,
        checkpoint: str | Path | None,
        progress: bool | Listener | None,
    ) -> tuple[NDArray[np.intp], int | None]:
        """The place of every example in the saved ranking, or in one of the pool.

        A saved ranking is taken if it was made as asked: with suspected label errors, unless these
        are dropped, and with this seed, unless that is the default.
        """
        saved = self.meta.get(RANK, {})
        fits = data is None and landmarks is None and seed in (0, saved.get("seed", 0))
        without_issues = bool(saved.get("drop_issues", False)) and not drop_issues
        ranks = saved_ranks(self.table) if fits and not without_issues else None
        if ranks is not None:
            useful = saved.get("useful")
            return ranks, useful if isinstance(useful, int) else None
        try:
            selector = self.selector(data, landmarks=landmarks, seed=seed)
        except CGScoreError as error:
            if data is not None:
                raise
            missing_rank = "need the inputs or a saved ranking"
            if without_issues:
                missing_rank += " with the suspected label errors, which the saved one leaves out"
            raise OptionError(f"order='greedy' and 'auto' {missing_rank}. {error}") from error
        folder = None if checkpoint is None else Path(checkpoint)
        return ranks_of(selector, pool, len(self), reporter(progress), folder)

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
    def dataset_in_memory(self) -> Dataset | None:
        """The scored data if they are in memory; no file is read for this."""
        return self._dataset

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
        dataset = source.with_corrections(dataset, self.meta, self.table["given_label"].to_numpy())
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

    @overload
    def report(
        self,
        path: str | Path,
        *,
        data: Any = None,
        worst: int = 200,
        beside: pd.DataFrame | None = None,
        progress: bool | Listener | None = None,
    ) -> list[str]: ...

    @overload
    def report(
        self,
        path: None = None,
        *,
        data: Any = None,
        worst: int = 200,
        beside: pd.DataFrame | None = None,
        progress: bool | Listener | None = None,
    ) -> Any: ...

    def report(
        self,
        path: str | Path | None = None,
        *,
        data: Any = None,
        worst: int = 200,
        beside: pd.DataFrame | None = None,
        progress: bool | Listener | None = None,
    ) -> Any:
        """Write one self-contained page: suspected labels, hard examples, charts.

        Parameters
        ----------
        path : str or Path, optional
            The file, for example ``report.html``. Without one, a notebook shows the page.
        data : optional
            The scored data, if this result was loaded from a file and its source has moved. Without
            the data, pictures and neighbours are left out.
        worst : int
            Number of suspected labels shown.
        beside : DataFrame, optional
            Other scores of the same examples to compare with, one per column: for example what
            `cgscore.training.scores_by_training` returns.
        progress : bool or function, optional
            As for `score`.

        Returns
        -------
        list of str or InlineReport
            What was left out, and why. Without `path` a `cgscore.report.InlineReport`, which a
            notebook shows, with the same list as ``notes``.
        """
        # by name: the page is built on results, which know nothing of it
        pages = import_module("cgscore.report")
        options = {"data": data, "worst": worst, "beside": beside, "progress": progress}
        if path is None:
            return pages.InlineReport(self, **options)
        return pages.write(self, path, **options)

    def review(
        self,
        decisions: str | Path | None = None,
        *,
        data: Any = None,
        reviewer: str | None = None,
        port: int = 0,
        browser: bool = True,
    ) -> Any:
        """Open the review of suspected labels in a browser and return at once.

        Parameters
        ----------
        decisions : str or Path, optional
            The file of decisions; by default the name of the source with ``.review``, in the
            working directory.
        data : optional
            The scored data, if their source has moved. Without the data there are no pictures and
            neighbours.
        reviewer : str, optional
            Your name, saved with every decision.
        port : int
            Port to listen on; 0 for any free one.
        browser : bool
            Whether to open a browser.

        Returns
        -------
        RunningReview
            ``labels()``, ``changes()``, ``stop()``; a notebook shows a link to the page.
        """
        try:
            running = import_module("cgscore.review.running")
        except ModuleNotFoundError as error:
            raise OptionError(
                'Reviewing needs fastapi and uvicorn. Install them: pip install "cgscore[review]"'
            ) from error
        return running.open_review(
            self, decisions, data=data, reviewer=reviewer, port=port, browser=browser
        )

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

    def log_mlflow(self, *, folder: str = "cgscore", prefix: str = "cgscore.") -> str:
        """Log parameters, metrics and this result to MLflow (`cgscore.adapters.mlflow`).

        Parameters
        ----------
        folder : str
            Of the artifacts: ``scores.parquet``, which `cgscore.load` opens, and
            ``label_issues.csv``.
        prefix : str
            Put before the names of parameters, metrics and tags.

        Returns
        -------
        str
            The id of the run: the active one, or a new one.
        """
        # by name: adapters are built on results, which know nothing of them
        adapter = import_module("cgscore.adapters.mlflow")
        run: str = adapter.log(self, folder=folder, prefix=prefix)
        return run

    def save(self, path: str | Path) -> None:
        """Write table, leave-one-out predictions, d and metadata to one Parquet file.

        The file is written beside its final name and then renamed, so an interrupted or failed
        write leaves an older file as it was.
        """
        names = [field.name for field in dataclasses.fields(SavedResult)]
        kept = {"loo": self._loo, "judged_labels": self._judged_labels}
        parts: dict[str, Any] = {
            name: kept[name] if name in kept else getattr(self, name) for name in names
        }
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
