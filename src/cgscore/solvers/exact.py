r"""alpha and d of all n examples from one Cholesky factor.

==========  =============  ==================================================================
symbol      shape          meaning
==========  =============  ==================================================================
H           n x n          kernel matrix with ``ridge`` added to its diagonal; never whole
L           n x n          lower triangular, ``H = L L^T``
L_i         b x e_i+1      row panel i of L: rows e_i .. e_i+1, its columns up to the diagonal
Z_j         n - e_j x b    column panel j of ``L^-1``
alpha       n x k          ``H^-1 Y``, by one forward and one backward substitution
d           n              ``diag(H^-1)``: squared column norms of ``L^-1``
==========  =============  ==================================================================

Only row panels of the lower half exist, and L overwrites H in them. A panel is stored by columns,
so any range of its columns is a contiguous matrix that BLAS takes without a copy.

- Factor, panel after panel, left to right:
  ``L_ij = (H_ij - L_i,:j L_j,:j^T) L_jj^-T``: n^3/3 flops in products with long inner dimension.
- Inverse, one column panel at a time and at once reduced to its norms:
  ``Z_ij = -L_ii^-1 (L_i,j:i Z_j:i,j)``: n^3/3 flops. Kept transposed, for the same contiguity.

Against 2 n^3 for a general inverse, and ``n^2/2 + 3/2 n b`` numbers against ``2 n^2``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from cgscore.execution.blas import one_blas_thread
from cgscore.execution.machine import cores
from cgscore.execution.progress import Progress
from cgscore.kernel import Array, UnitRows, gram_block

EPS = float(np.finfo(np.float64).eps)

_PANEL = 1280  # rows in a panel: wide enough for BLAS, 3/2 n b numbers in extra storage
_PIECE = 640  # side of the pieces of H that one thread forms at a time


@dataclass(frozen=True)
class Plan:
    """How n rows are cut into panels.

    Depends on n only, so that with the same number of BLAS threads results repeat bit by bit.
    """

    n: int
    edges: tuple[int, ...]

    @property
    def panels(self) -> int:
        """Number of row panels."""
        return len(self.edges) - 1

    @property
    def widest(self) -> int:
        """Rows of the largest panel."""
        return max(b - a for a, b in itertools.pairwise(self.edges))

    @property
    def bytes(self) -> int:
        """Memory for the factor and one panel of its inverse."""
        stored = sum((b - a) * b for a, b in itertools.pairwise(self.edges))
        return 8 * (stored + self.widest * self.n)

    @property
    def flops(self) -> float:
        """Arithmetic of factor and inverse together."""
        return 2 * self.n**3 / 3


def plan(n: int) -> Plan:
    """Panels of equal height, at most `_PANEL` rows each; small problems are one panel."""
    count = 1 if n <= 2 * _PANEL else -(-n // _PANEL)
    return Plan(n, tuple(n * i // count for i in range(count + 1)))


@dataclass(frozen=True)
class Dependence:
    """A row of H that the rows before it determine, nearly or to working precision.

    Attributes
    ----------
    row : int
        The row.
    beta : (row,) array
        Coefficients with which the rows before it come closest to giving it.
    """

    row: int
    beta: Array

    def describe(self, names: NDArray[np.intp]) -> str:
        """Which rows determine which, in words; `names` are the numbers users know them by."""
        share = np.abs(self.beta)
        order = np.argsort(-share, kind="stable")
        named = [str(names[j]) for j in order if share[j] > 0.05 * share.max()]
        if len(named) == 1:
            return f"row {names[self.row]} is nearly identical to row {named[0]}"
        others = f" and {len(named) - 3} others" if len(named) > 3 else ""
        return (
            f"row {names[self.row]} is nearly a combination of rows {', '.join(named[:3])}{others}"
        )


class Singular(ArithmeticError):
    """A pivot of the factorisation is zero, negative or no larger than rounding."""

    def __init__(self, dependence: Dependence) -> None:
        super().__init__(f"pivot of row {dependence.row}")
        self.dependence = dependence


class Cholesky:
    """The factor L of ``H + ridge I``, and what can be had from it.

    Made by `factorise`. ``norm`` is the 1-norm of the factorised matrix.
    """

    def __init__(self, plan: Plan, panels: Sequence[Array], norm: float) -> None:
        self.plan = plan
        self.norm = norm
        self._panels = panels

    def half_solve(self, B: Array) -> Array:
        """``L^-1 B`` for an (n, m) right-hand side."""
        e = self.plan.edges
        X = np.array(B, dtype=np.float64, order="C")
        for i, L_i in enumerate(self._panels):
            rows = slice(e[i], e[i + 1])
            X[rows] -= L_i[:, : e[i]] @ X[: e[i]]
            X[rows] = blas.dtrsm(1.0, L_i[:, e[i] :], X[rows], lower=1)
        return X

    def solve(self, B: Array) -> Array:
        """``(H + ridge I)^-1 B`` for an (n, m) right-hand side: 2 n^2 m flops."""
        e = self.plan.edges
        X = self.half_solve(B)
        for i in reversed(range(self.plan.panels)):
            L_i, rows = self._panels[i], slice(e[i], e[i + 1])
            X[rows] = blas.dtrsm(1.0, L_i[:, e[i] :], X[rows], lower=1, trans_a=1)
            X[: e[i]] -= L_i[:, : e[i]].T @ X[rows]
        return X

    def inverse_diagonal(self, progress: Progress) -> Array:
        """``d = diag((H + ridge I)^-1)`` without storing the inverse: n^3/3 flops."""
        n, e, panels = self.plan.n, self.plan.edges, self._panels
        d = np.empty(n)
        storage = np.empty(self.plan.widest * n)
        with progress.phase("inverse", n**3) as advance:
            for j in range(self.plan.panels):
                width = e[j + 1] - e[j]
                # rows e_j .. n of column panel j of L^-1, transposed
                Z = storage[: width * (n - e[j])].reshape(width, n - e[j], order="F")
                inverse, info = lapack.dtrtri(panels[j][:, e[j] :], lower=1)
                _check("dtrtri", info)
                Z[:, :width] = inverse.T
                for i in range(j + 1, self.plan.panels):
                    L_i = panels[i]
                    Z_i = Z[:, e[i] - e[j] : e[i + 1] - e[j]]
                    Z_i[:] = L_i[:, e[j] : e[j + 1]].T
                    _same(blas.dtrmm(-1.0, Z[:, :width], Z_i, lower=0, overwrite_b=1), Z_i)
                    if i > j + 1:
                        done = slice(width, e[i] - e[j])
                        between = L_i[:, e[j + 1] : e[i]]
                        _accumulate(-1.0, Z[:, done], between, Z_i)
                    _right_solve(L_i[:, e[i] :], Z_i)
                d[e[j] : e[j + 1]] = np.einsum("ij,ij->i", Z, Z)
                advance((n - e[j]) ** 3 - (n - e[j + 1]) ** 3)
        return d

    def condition(self, d: Array) -> float:
        """Estimated condition number in the 1-norm, from one more solve.

        ``|(H^-1)_ij| <= sqrt(d_i d_j)``, so the largest entries of the inverse stand in the column
        where d is largest. The 1-norm of that column is a lower bound of the norm of the inverse,
        and equals it where one eigenvector dominates, as it does when H is nearly singular.
        """
        unit = np.zeros((self.plan.n, 1))
        unit[np.argmax(d)] = 1.0
        return self.norm * float(np.abs(self.solve(unit)).sum())

    def weakest(self) -> Dependence:
        """The row that the rows before it come closest to determining."""
        pivots = [np.diagonal(L_i[:, -len(L_i) :]) for L_i in self._panels]
        return _dependence(self.plan, self._panels, int(np.argmin(np.concatenate(pivots))))


def factorise(rows: UnitRows, ridge: float, progress: Progress) -> Cholesky:
    """The Cholesky factor of ``H + ridge I``.

    Raises
    ------
    Singular
        A pivot is zero, negative or no larger than rounding.
    """
    layout = plan(len(rows))
    panels, norm = _form(rows, ridge, layout, progress)
    n, e = layout.n, layout.edges
    with progress.phase("factor", n**3) as advance:
        for i, L_i in enumerate(panels):
            for j in range(i):
                L_ij = L_i[:, e[j] : e[j + 1]]
                _accumulate(-1.0, L_i[:, : e[j]], panels[j][:, : e[j]], L_ij)
                _right_solve(panels[j][:, e[j] :], L_ij)
            _factor_diagonal(i, layout, panels, 0.5 + ridge)
            advance(e[i + 1] ** 3 - e[i] ** 3)
    return Cholesky(layout, panels, norm)


def _form(
    rows: UnitRows, ridge: float, layout: Plan, progress: Progress
) -> tuple[list[Array], float]:
    """The panels of H, formed strip by strip on all cores, and the 1-norm of H."""
    n, e = layout.n, layout.edges
    # Fortran order: a range of columns is contiguous, and so is the transpose of such a range
    panels = [np.empty((b - a, b), order="F") for a, b in itertools.pairwise(e)]

    def fill(piece: _Piece) -> tuple[_Piece, Array, Array]:
        H = panels[piece.panel]
        top = piece.rows.start - e[piece.panel]
        out = H[top : top + piece.height, piece.columns]
        block = gram_block(rows[piece.columns], rows[piece.rows], out=out.T)
        if piece.diagonal:
            np.fill_diagonal(block, 0.5 + ridge)
        size = np.abs(block)
        return piece, size.sum(axis=1), size.sum(axis=0)

    sums = np.zeros(n)
    with (
        progress.phase("kernel", n * n / 2) as advance,
        one_blas_thread(),  # the pool below uses the cores
        ThreadPoolExecutor(cores()) as pool,
    ):
        for piece, across, down in pool.map(fill, _pieces(layout)):
            sums[piece.columns] += across
            if not piece.diagonal:
                sums[piece.rows] += down
            advance(piece.height * len(across) / (2 if piece.diagonal else 1))
    return panels, float(sums.max())


@dataclass(frozen=True)
class _Piece:
    """A block of a panel that one thread forms: on the diagonal and square, or below it."""

    panel: int
    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        return self.rows == self.columns

    @property
    def height(self) -> int:
        return int(self.rows.stop - self.rows.start)


def _pieces(layout: Plan) -> Iterator[_Piece]:
    """Pieces that cover the lower half of H."""
    for i, (top, bottom) in enumerate(itertools.pairwise(layout.edges)):
        for columns in _cuts(0, top):
            for rows in _cuts(top, bottom):
                yield _Piece(i, rows, columns)
        for columns in _cuts(top, bottom, _PIECE // 2):  # the upper half of a square is wasted
            yield _Piece(i, columns, columns)
            for rows in _cuts(columns.stop, bottom):
                yield _Piece(i, rows, columns)


def _cuts(start: int, stop: int, longest: int = 0) -> Iterator[slice]:
    """Ranges of nearly equal length, at most `longest`, by default `_PIECE`."""
    count = -(-(stop - start) // (longest or _PIECE))
    edges = (start + (stop - start) * i // count for i in range(count + 1))
    return (slice(low, high) for low, high in itertools.pairwise(edges)) if count else iter(())


def _factor_diagonal(i: int, layout: Plan, panels: list[Array], diagonal: float) -> None:
    e, L_i = layout.edges, panels[i]
    block = L_i[:, e[i] :]
    if i:
        _same(blas.dsyrk(-1.0, L_i[:, : e[i]], 1.0, block, lower=1, overwrite_c=1), block)
    factor, info = lapack.dpotrf(block, lower=1, clean=1)
    _check("dpotrf", info, positive=True)
    block[:] = factor  # after a failure the columns before the bad pivot are those of L
    count = info - 1 if info else len(factor)
    small = np.diagonal(factor)[:count] ** 2 <= rounding(layout.n) * diagonal
    if small.any():
        count = int(np.argmax(small))
    if count < len(factor):
        raise Singular(_dependence(layout, panels, e[i] + count))


def rounding(n: int) -> float:
    """Relative error of a pivot: a difference of sums of up to n squares, blocked by BLAS."""
    return (16 + float(np.sqrt(n))) * EPS


def _dependence(layout: Plan, panels: Sequence[Array], row: int) -> Dependence:
    """``H_<row^-1 H_<row,row`` by back substitution in the rows of L before `row`."""
    e = layout.edges
    last = int(np.searchsorted(e, row, side="right")) - 1
    beta = np.array(panels[last][row - e[last], :row])
    for i in range(last, -1, -1):
        stop = min(e[i + 1], row)
        if stop == e[i]:
            continue
        L_i = panels[i][: stop - e[i]]
        part = blas.dtrsm(
            1.0, np.asfortranarray(L_i[:, e[i] : stop]), beta[e[i] : stop, None], lower=1, trans_a=1
        )[:, 0]
        beta[e[i] : stop] = part
        beta[: e[i]] -= part @ L_i[:, : e[i]]
    return Dependence(row, beta)


def _accumulate(factor: float, A: Array, B: Array, C: Array) -> None:
    """``C += factor A B^T`` in place."""
    if A.shape[1]:
        _same(blas.dgemm(factor, A, B, 1.0, C, trans_b=1, overwrite_c=1), C)


def _right_solve(L: Array, B: Array) -> None:
    """``B L^-T`` in place of B."""
    _same(blas.dtrsm(1.0, L, B, side=1, lower=1, trans_a=1, overwrite_b=1), B)


def _same(returned: NDArray[np.float64], given: Array) -> None:
    """Fail loudly if BLAS worked on a copy, whose result would be lost."""
    if returned.ctypes.data != given.ctypes.data:
        raise RuntimeError("BLAS did not work in place; this is a fault in cgscore")


def _check(routine: str, info: int, *, positive: bool = False) -> None:
    if info < 0 or (info > 0 and not positive):
        raise RuntimeError(f"LAPACK {routine} returned status {info}; this is a fault in cgscore")
