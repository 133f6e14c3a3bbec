"""The factor users hold: inputs factorised once, any labelling scored afterwards.

H does not depend on the labels. `Factor` owns the Cholesky factor of the kernel matrix and d; every
labelling costs two triangular substitutions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.duplicates import SAME_DISTANCE, joined
from cgscore.errors import (
    CGScoreWarning,
    DataError,
    LabelError,
    OptionError,
    SingularKernelError,
    first_five,
)
from cgscore.execution.checkpoint import Checkpoint, digest_of, identity
from cgscore.execution.progress import Listener, Progress, Silent, Timed, reporter
from cgscore.execution.random_streams import stream
from cgscore.kernel import ENTRY_ERROR, UnitRows, gram_block, unit_rows
from cgscore.labels import Labels, as_labels, label_vector
from cgscore.problem import MIN_DIGITS, Inputs, Problem, Solution
from cgscore.result.assembly import assemble
from cgscore.result.scores import Scores
from cgscore.result.table import score_table
from cgscore.selection.label_next import label_next
from cgscore.solvers.cholesky import factor as exact
from cgscore.solvers.cholesky.placement import place
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import PanelFiles, Store
from cgscore.solvers.kernel_product import kernel_product
from cgscore.typing import Array, Index
from cgscore.valuation import valuation

if TYPE_CHECKING:
    import pandas as pd

LOSS_SAMPLE_SIZE = 32  # examples at which the loss of float32 is measured
MAX_LOSS = 0.01  # of the score, from which on a loss is worth a warning


class Factor:
    """Inputs whose kernel matrix is factorised; made by `cgscore.factor`."""

    def __init__(
        self,
        inputs: Inputs,
        *,
        memory_limit: int | None,
        progress: Progress,
        dtype: str = "float64",
        checkpoint: Path | None = None,
    ) -> None:
        limit = memory_limit
        start = time.perf_counter()
        timed = Timed(progress)
        self.inputs = inputs
        self._rows, self._merged = inputs.rows, inputs.merged
        self.dataset, self.ridge, self.dtype = inputs.dataset, inputs.ridge, dtype
        p = self.dataset.shape[1]
        layout = plan(len(self._rows), p, dtype, limit)
        resumable = None
        if checkpoint is not None:
            work = {"method": "exact", "dtype": dtype, "edges": digest_of(np.array(layout.edges))}
            resumable = Checkpoint(checkpoint, identity(self._rows, self.ridge, **work))
        self._checkpoint, self._store = resumable, None
        self._d_loss: dict[str, float] | None = None
        try:
            files = None
            if resumable is not None:
                files = PanelFiles(layout, resumable.folder, keep=True, work=resumable.digest)
                resumable.attach(files)
            self._store = place(layout, p, limit, files)
            with timed.whole(exact.all_flops(layout, p)):
                self._factor = self._factorise(self._store, timed)
                self._d = self._factor.inverse_diagonal(timed, resumable)
            self.storage = self._store.describe()
            self.condition = self._factor.condition(self._d)
            self.warnings = [*(resumable.renewed() if resumable else []), *self._warnings()]
        except BaseException:
            self.close()
            raise
        self.timings = {**timed.seconds, "total": time.perf_counter() - start}

    def close(self) -> None:
        """Release the files: disk space is freed, and others can use the checkpoint folder.

        Afterwards, a factor that is kept on disk can no longer be used.
        """
        if self._store:
            self._store.close()
        if self._checkpoint:
            self._checkpoint.close()

    def __repr__(self) -> str:
        n, p = self.dataset.shape
        return f"Factor of {n:,} examples with {p:,} numbers each, ridge {self.ridge:g}"

    @property
    def digits(self) -> float:
        """Decimal digits that the condition of the kernel matrix leaves, at worst."""
        error = ENTRY_ERROR if self.dtype == "float64" else float(np.finfo(self.dtype).eps)
        return max(0.0, -float(np.log10(error * self.condition)))

    def score(self, y: ArrayLike | None = None, *, task: str = "auto") -> Scores:
        """Every score of this labelling.

        Parameters
        ----------
        y : (n,) array, optional
            Labels of the examples; by default those of the dataset that was factorised.
        task : {"auto", "classification", "regression"}
            Whether labels are classes or numbers.
        """
        start = time.perf_counter()
        problem = self.inputs.labelled(y, task)
        solution = self.solution(problem)
        seconds = self.timings["total"] + time.perf_counter() - start
        return assemble(problem, solution, method="exact", seconds=seconds)

    def solution(self, problem: Problem) -> Solution:
        """What the exact method finds for a problem with these inputs."""
        start = time.perf_counter()
        alpha, loss = self._solve(problem.labels, problem.labels.targets())
        solved = time.perf_counter() - start
        return Solution(
            valuation=problem.valuation(alpha, self._d),
            complexity=problem.complexity(alpha),
            audit=None,
            warnings=[*self.warnings, *_loss_warnings(loss)],
            facts={
                "dtype": self.dtype,
                "storage": self.storage,
                "loss": loss,
                "condition": self.condition,
                "digits": self.digits,
                "timings": {**self.timings, "solve": solved},
            },
        )

    def complexity(self, y: ArrayLike, *, task: str = "auto") -> dict[Any, float]:
        """``y^T (H + ridge I)^-1 y`` for every class, or under ``"target"`` for regression.

        Infinite where identical rows carry different targets.
        """
        problem = self.inputs.labelled(y, task)
        return problem.complexity(self._solve(problem.labels, problem.labels.targets())[0])

    def gap(self, members: Sequence[int], y: ArrayLike, *, task: str = "auto") -> dict[Any, float]:
        """How much the complexity of every class falls when the members are removed together.

        ``alpha_S^T ((H^-1)_SS)^-1 alpha_S`` per class, n^2 flops per member. Infinite where a
        member contradicts an identical row; 0 for copies of a row that stays.

        Parameters
        ----------
        members : sequence of int
            Positions of the examples to remove.
        y : (n,) array
            Labels of all examples.
        """
        n = len(self.dataset)
        labels = as_labels(y, n, task)
        (values,) = self._gaps([_positions(members, n)], labels.targets(), Silent())
        return dict(zip(labels.keys(), values.tolist(), strict=True))

    def group_gaps(
        self,
        groups: ArrayLike,
        y: ArrayLike | None = None,
        *,
        task: str = "auto",
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """The gap of every named group: how much the complexity falls when all of it is removed.

        For m groups of n / m examples in any order: n^3 flops for columns of the inverse factor,
        three times the factorisation, and 2 n^3 / m for orthogonalising them; a third of the first
        if examples are sorted by group.

        Parameters
        ----------
        groups : (n,) array
            The group of every example.
        y : (n,) array, optional
            Labels; by default those of the dataset.
        progress : Progress, optional
            Where progress is reported.

        Returns
        -------
        DataFrame
            ``group``, ``examples``, ``gap`` over all classes, and ``gap_CLASS`` for each; for a
            regression ``gap`` alone. In the order in which groups first appear.
        """
        import pandas as pd

        problem = self.inputs.labelled(y, task)
        codes, names = pd.factorize(np.asarray(groups, dtype=object), use_na_sentinel=False)
        if len(codes) != len(self.dataset):
            raise OptionError(
                f"groups must have {len(self.dataset):,} values, one per example; got "
                f"{len(codes):,}."
            )
        members = [np.flatnonzero(codes == number) for number in range(len(names))]
        labels = problem.labels
        gaps = self._gaps(members, labels.targets(), progress or Silent())
        table: pd.DataFrame = pd.DataFrame(
            {
                "group": names,
                "examples": [len(positions) for positions in members],
                "gap": gaps.sum(axis=1),
            }
        )
        if labels.task == "classification":
            per_class = {f"gap_{name}": gaps[:, c] for c, name in enumerate(labels.keys())}
            table = table.assign(**per_class)
        return table

    def _gaps(self, members: Sequence[Index], Y: Array, progress: Progress) -> Array:
        """The gap of every set of positions for every column of Y."""
        groups = self._merged
        half = self._factor.half_solve(groups.means(Y))
        contradicts = groups.contradicts(Y)
        gaps = np.empty((len(members), Y.shape[1]))
        with progress.phase("groups", sum(map(len, members))) as advance:
            for number, positions in enumerate(members):
                leaving = np.bincount(groups.group[positions], minlength=len(groups.members))
                whole = np.flatnonzero(leaving == groups.sizes)  # a copy that stays keeps its row
                # with Z = L^-1 E_S = Q R it is |Q^T L^-1 y|^2; Z^T Z would square the condition
                Z, start = self._factor.inverse_columns(whole)
                Q = np.linalg.qr(Z)[0]
                torn = contradicts[groups.group[positions]].any(axis=0)
                gaps[number] = np.where(torn, np.inf, np.sum((Q.T @ half[start:]) ** 2, axis=0))
                advance(len(positions))
        return gaps

    def score_new(
        self, X_new: ArrayLike, y_new: ArrayLike, *, y: ArrayLike, task: str = "auto"
    ) -> pd.DataFrame:
        """The scores that new examples would have, each added alone to the data labelled y.

        ``CG = (y* - f)^2 / v`` with ``f = k*.alpha`` and ``v = H_ii + ridge - k*^T H^-1 k*``: the
        formulas of the other scores with d = 1/v. A new example may be of a class of its own.

        Parameters
        ----------
        X_new : (m, p) array
            Inputs in the columns that were factorised (after encoding, if that was a table).
        y_new : (m,) array
            Their labels.
        y : (n,) array
            Labels of the data.

        Returns
        -------
        DataFrame
            The columns of `Scores.table`, one row per new example.
        """
        import pandas as pd

        rows = unit_rows(X_new, centre=self._rows.centre, name="X_new", kernel=self._rows.kernel)
        old = as_labels(y, len(self.dataset), task)
        if old.task == "regression":
            return self._added(rows, old, as_labels(y_new, len(rows), old.task, name="y_new"))
        fresh = label_vector(y_new, "y_new")
        if len(fresh) != len(rows):
            raise LabelError(f"y_new has {len(fresh):,} labels for {len(rows):,} examples.")
        if not len(rows):
            raise DataError("X_new has no rows. Give at least one new example.")
        if (fresh.dtype.kind in "UTO") != (old.values.dtype.kind in "UTO"):
            raise LabelError("y_new and y hold labels of different types.")
        tables = []
        known = np.isin(fresh, old.classes)
        for label in [None, *np.unique(fresh[~known])]:  # the known, then each class of its own
            part = np.flatnonzero(known if label is None else fresh == label)
            extra = [] if label is None else [label]
            classes = np.unique(np.concatenate([old.classes, extra])) if extra else old.classes
            coded = (
                Labels(values, classes, np.searchsorted(classes, values))
                for values in (old.values, fresh[part])
            )
            if len(part):
                tables.append(self._added(rows[part], *coded).set_index(part).assign(id=part))
        scores: pd.DataFrame = pd.concat(tables).sort_index()
        return scores

    def next(
        self,
        X_pool: ArrayLike,
        k: int,
        *,
        seed: int = 0,
        progress: bool | Listener | None = None,
    ) -> NDArray[np.intp]:
        """Positions of the pool to label next, the most useful first.

        Each lowers the predictive variance of the pool most, given the data and the ones before it;
        no labels are needed (`cgscore.selection.label_next`).

        Parameters
        ----------
        X_pool : (q, p) array
            Unlabelled inputs in the columns that were factorised (after encoding, if that was a
            table).
        k : int
            How many to label.
        seed : int
            Seed of the landmarks.
        progress : bool or function, optional
            As for `cgscore.score`.
        """
        centre, kernel = self._rows.centre, self._rows.kernel
        pool = unit_rows(X_pool, centre=centre, name="X_pool", kernel=kernel)
        return label_next(
            pool,
            self._rows,
            self._factor.half_solve,
            k,
            ridge=self.ridge,
            seed=seed,
            progress=reporter(progress),
        ).order

    def _added(self, rows: UnitRows, old: Labels, new: Labels) -> pd.DataFrame:
        """Scores of new rows whose labels are coded along the same classes as the old ones."""
        K = gram_block(self._rows, rows)  # data x new
        Z = self._factor.half_solve(K)
        diagonal = self._rows.kernel.diagonal + self.ridge
        v = diagonal - np.einsum("ij,ij->j", Z, Z)
        apart = rows.centred - self._rows.centred[K.argmax(axis=0)]
        copy = (np.einsum("ij,ij->i", apart, apart) <= SAME_DISTANCE**2) & (self.ridge == 0)
        error = exact.rounding(len(self._rows), self.dtype) * diagonal
        lost = np.flatnonzero((v <= error) & ~copy)
        if len(lost):
            raise SingularKernelError(
                f"X_new: row {lost[0]} (counted from 0) is determined by the data to working "
                "precision. Use a ridge, for example ridge=1e-6."
            )
        few = 10**MIN_DIGITS if self.dtype == "float64" else 1 / MAX_LOSS
        weak = np.flatnonzero((v <= error * few) & ~copy)
        if len(weak):
            warnings.warn(
                f"X_new: few digits are left in the scores of rows {first_five(weak)} (counted "
                "from 0), which the data nearly determine. A ridge keeps more.",
                CGScoreWarning,
                stacklevel=3,
            )
        Y, Y_new = old.targets(), new.targets()
        alpha = self._refined(self._merged.means(Y))[0]
        d = 1 / np.where(copy, 1.0, v)
        result = valuation(Y_new, new.codes, (Y_new - K.T @ alpha) * d[:, None], d)
        if copy.any():
            result = joined(
                result,
                self._merged,
                Y,
                alpha,
                self._d,
                Y_new,
                new.codes,
                K.argmax(axis=0),
                np.flatnonzero(copy),
            )
        return score_table(result, new, np.arange(len(rows)), None, {})

    def _factorise(self, store: Store, progress: Progress) -> exact.Cholesky:
        try:
            return exact.factorise(self._rows, self.ridge, store, progress)
        except exact.Singular as error:
            members, found = self._merged.members, error.dependence
            precise = " Or use float64, which keeps more digits." if self.dtype == "float32" else ""
            raise SingularKernelError(
                "The kernel matrix has no Cholesky factor to working precision: "
                f"{found.describe(members)} (rows counted from 0). "
                f"Remove row {members[found.row]}, or use a ridge, for example ridge=1e-6.{precise}"
            ) from None

    def _solve(self, labels: Labels, Y: Array) -> tuple[Array, dict[str, float] | None]:
        """Alpha of every class, and for float32 what the precision costs.

        A float32 factor gets one step of refinement against H itself, formed anew in float64; the
        first such step also solves for some unit vectors, which gives the error of d at those rows.
        """
        targets = self._merged.means(Y)
        if len(labels.classes) == 2:  # the two columns are y and -y
            a, loss = self._refined(targets[:, 1:])
            return np.hstack([-a, a]), loss
        return self._refined(targets)

    def _refined(self, targets: Array) -> tuple[Array, dict[str, float] | None]:
        """The solution, and for float32 what the precision costs."""
        if self.dtype == "float64":
            return self._factor.solve(targets), None
        n, wanted = len(self._rows), targets.shape[1]
        measured = stream(0, "loss").choice(n, min(LOSS_SAMPLE_SIZE, n), replace=False)
        measured = np.append(measured, np.argmax(self._d))
        columns = wanted + np.arange(len(measured))
        if self._d_loss is None:
            unit = np.zeros((n, len(measured)))
            unit[measured, columns - wanted] = 1.0
            targets = np.hstack([targets, unit])
        rough = self._factor.solve(targets)
        step = self._factor.solve(targets - kernel_product(self._rows, self.ridge, rough))
        precise = rough + step
        if self._d_loss is None:
            error = np.abs(self._d[measured] / precise[measured, columns] - 1)
            self._d_loss = {
                "examples": len(measured) - 1,
                "d_median": float(np.median(error[:-1])),
                "d_largest": float(error[:-1].max()),
                "d_weakest": float(error[-1]),  # at the example that others determine best
                "d_bound": self._d_bound(),
            }
        size = np.maximum(np.linalg.norm(precise[:, :wanted], axis=0), np.finfo(np.float64).tiny)
        correction = float((np.linalg.norm(step[:, :wanted], axis=0) / size).max())
        loss = {**self._d_loss, "alpha_before_refinement": correction, "alpha": correction**2}
        return precise[:, :wanted], loss

    def _d_bound(self) -> float:
        """Relative error of the largest d that rounding can cause.

        ``1 / d_i`` is what is left of the diagonal once all other examples are taken into account;
        its error is that of a pivot. What is measured at that example is a single draw of it.
        """
        error = exact.rounding(len(self._rows), self.dtype)
        return error * (self._rows.kernel.diagonal + self.ridge) * float(self._d.max())

    def _warnings(self) -> list[str]:
        """What a reader of any score from this factor should know."""
        warnings = []
        if self.digits < MIN_DIGITS and self.dtype == "float64":
            warnings.append(
                f"The kernel matrix has condition {self.condition:.1e}, which leaves about "
                f"{self.digits:.0f} digits in the worst case: "
                f"{self._factor.weakest().describe(self._merged.members)} (rows counted from 0). "
                "A ridge keeps more digits."
            )
        return warnings


def _loss_warnings(loss: Mapping[str, float] | None) -> list[str]:
    if loss is None or max(loss["d_largest"], loss["d_bound"], loss["alpha"]) < MAX_LOSS:
        return []
    return [
        f"float32 can cost up to {min(loss['d_bound'], 1):.1%} of d, and with it of cg, at the "
        f"example with the largest d, where {loss['d_weakest']:.1%} was measured against float64. "
        f"At {loss['examples']} others it cost up to {loss['d_largest']:.1%} (median "
        f"{loss['d_median']:.1%}), and it cost about {loss['alpha']:.1%} of alpha. "
        "Use float64 or a ridge."
    ]


def _positions(members: Sequence[int], n: int) -> NDArray[np.intp]:
    positions = np.unique(np.asarray(members))
    if positions.dtype.kind not in "iu" or not len(positions):
        raise OptionError("members must be positions of examples, at least one.")
    if positions[0] < 0 or positions[-1] >= n:
        raise OptionError(
            f"members must lie between 0 and {n - 1}; found {positions[0]} to {positions[-1]}."
        )
    return positions.astype(np.intp)
