r"""alpha and d of all n examples from one Cholesky factor.

==========  =============  ==================================================================
symbol      shape          meaning
==========  =============  ==================================================================
H           n x n          kernel matrix with ``ridge`` added to its diagonal; never whole
L           n x n          lower triangular, ``H = L L^T``
L_i         b x e_i+1      row panel i of L: rows e_i .. e_i+1, its columns up to the diagonal
L_ij        b x b          tile of panel i: the columns e_j .. e_j+1
W           m x n          right-hand sides as rows, overwritten by ``W L^-T``
alpha       n x k          ``H^-1 Y``, by one forward and one backward substitution
d           n              ``diag(H^-1)``: squared column norms of ``L^-1``
==========  =============  ==================================================================

Panels live in memory or on disk (`storage`), and one panel after the other is formed, factorised
and kept; so a run can stop after any of them and go on later.

- Factor, left to right: ``L_ij = (H_ij - sum_k<j L_ik L_jk^T) L_jj^-T``: n^3/3 flops.
- Inverse, as many rows as a panel has at a time, at once reduced to their norms: ``W L^-T`` for W
  some rows of the identity: n^3/3 flops, and about ``n^2 b`` / 8 for zeros not skipped. A
  similar substitution serves every right-hand side.

Sums over k run through `TILES_PER_RUN` tiles in one product. Against 2 n^3 flops for a general
inverse, and ``(n^2 + 3 n b) / 2`` numbers in memory against ``2 n^2``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgscore.execution.blas import all_blas_threads, one_blas_thread
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.machine import cores
from cgscore.execution.progress import Advance, Progress, ignore
from cgscore.kernel import UnitRows, gram_block
from cgscore.solvers.cholesky.inplace import (
    MAX_TRIANGLE,
    cholesky,
    right_solve,
    subtract_product,
    subtract_square,
)
from cgscore.solvers.cholesky.plan import Plan
from cgscore.solvers.cholesky.storage import Store
from cgscore.solvers.tiles import PIECE, cuts
from cgscore.typing import Array, Index, Matrix

UPPER_PARTS = 4  # into which an upper triangle is cut by rows: a quarter more flops than its own


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
        """Which rows determine which, in words; `names` are positions in the user's data."""
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
    """The factor L of ``H + ridge I``, and quantities computed from it.

    Made by `factorise`. ``norm`` is the 1-norm of the factorised matrix, ``pivots`` are the
    diagonal of L.
    """

    def __init__(self, store: Store, norm: float, pivots: Array) -> None:
        self.plan = store.plan
        self.norm = norm
        self.pivots = pivots
        self._store = store

    def half_solve(self, B: Array) -> Array:
        """``L^-1 B`` for an (n, m) right-hand side."""
        W = np.array(B.T, dtype=self.plan.dtype, order="F")
        with all_blas_threads():
            _forward(self._store, W, 0, ignore)
        return np.asarray(W.T, dtype=np.float64)

    def solve(self, B: Array) -> Array:
        """``(H + ridge I)^-1 B`` for an (n, m) right-hand side: 2 n^2 m flops."""
        W = np.array(B.T, dtype=self.plan.dtype, order="F")
        with all_blas_threads():
            _forward(self._store, W, 0, ignore)
            _backward(self._store, W)
        return np.asarray(W.T, dtype=np.float64)

    def inverse_columns(self, columns: Index) -> tuple[Array, int]:
        """Columns of ``L^-1`` from the first row that is not zero on, and the number of that row.

        (n - s)^2 flops each, with s the first row.
        """
        start = int(columns.min()) if len(columns) else 0
        W = np.zeros((len(columns), self.plan.n - start), self.plan.dtype, order="F")
        W[np.arange(len(columns)), columns - start] = 1
        with all_blas_threads():
            _forward(self._store, W, start, ignore)
        return np.asarray(W.T, dtype=np.float64), start

    def inverse_diagonal(self, progress: Progress, store: StepStore | None = None) -> Array:
        """``d = diag((H + ridge I)^-1)`` without storing the inverse: n^3/3 flops.

        What is finished is loaded from `store`, a panel at a time; the rest is saved there.
        """
        layout, n, e = self.plan, self.plan.n, self.plan.edges
        d = np.empty(n)
        room = np.empty(n * layout.widest, layout.dtype)
        with progress.phase("inverse", inverse_flops(layout)) as advance:
            for i in range(layout.panels):
                name, own = f"inverse-{i:05d}", slice(e[i], e[i + 1])
                saved = store.load(name) if store else None
                if saved is not None:
                    d[own] = saved["d"]
                    advance(_inverse_panel_flops(layout, i), before=True)
                    continue
                shape = (layout.height(i), n - e[i])
                W = room[: shape[0] * shape[1]].reshape(shape, order="F")
                W[:] = 0
                with all_blas_threads():
                    _inverse_rows(self._store, i, W, advance)
                d[own] = _square_norms(W)
                if store:
                    store.save(name, d=d[own])
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
        row = int(np.argmin(self.pivots))
        layout = self.plan
        i = int(np.searchsorted(layout.edges, row, side="right")) - 1
        panel = np.empty((layout.height(i), layout.edges[i + 1]), layout.dtype, order="F")
        runs = layout.runs(0, i + 1)
        tiles = self._store.stream((i, a, b) for a, b in runs)
        for (a, b), tile in zip(runs, tiles, strict=True):
            panel[:, layout.edges[a] : layout.edges[b]] = tile
        return _dependence(self._store, i, panel, row)


def factorise(
    rows: UnitRows, ridge: float, store: Store, progress: Progress, threads: int | None = None
) -> Cholesky:
    """The Cholesky factor of ``H + ridge I``, kept in `store`.

    Panels that an earlier run left in the store are taken as they are. H is formed on all cores, or
    by so many `threads`.

    Raises
    ------
    Singular
        A pivot is zero, negative or no larger than rounding.
    """
    layout = store.plan
    n, e = layout.n, layout.edges
    sums, pivots = np.zeros(n), np.empty(n)
    work = kernel_flops(n, rows.centred.shape[1])
    with (
        progress.phase("kernel", work) as formed,
        progress.phase("factor", factor_flops(layout)) as advance,
        ThreadPoolExecutor(threads or cores()) as pool,
    ):
        for i in range(layout.panels):
            notes = store.restore(i)
            if notes is None:
                panel = store.blank(i)
                part = _form(rows, ridge, layout, i, panel, pool, formed)
                with all_blas_threads():
                    _factor_panel(store, i, panel, rows.kernel.diagonal + ridge, advance)
                notes = np.concatenate([part, np.diagonal(panel[:, e[i] :])])
                store.finish_panel(i, notes)
            else:
                formed(work * (e[i + 1] ** 2 - e[i] ** 2) / n**2, before=True)
                advance(sum(_tile_flops(layout, i, j) for j in range(i + 1)), before=True)
            sums[: e[i + 1]] += notes[: e[i + 1]]
            pivots[e[i] : e[i + 1]] = notes[e[i + 1] :]
        store.rest()
    return Cholesky(store, float(sums.max()), pivots)


def kernel_flops(n: int, p: int) -> float:
    """Arithmetic of half of H."""
    return entries_flops(n**2 / 2, p)


def entries_flops(count: float, p: int) -> float:
    """Arithmetic of so many entries of H; the functions applied to one cost about 1,500 flops."""
    return count * (2 * p + 1500.0)


def all_flops(layout: Plan, p: int) -> float:
    """Arithmetic of everything, in the units of the progress that is reported."""
    return kernel_flops(layout.n, p) + factor_flops(layout) + inverse_flops(layout)


def factor_flops(layout: Plan) -> float:
    """Arithmetic of the factor."""
    return sum(_tile_flops(layout, i, j) for i in range(layout.panels) for j in range(i + 1))


def inverse_flops(layout: Plan) -> float:
    """Arithmetic of the inverse's diagonal."""
    return sum(_inverse_panel_flops(layout, i) for i in range(layout.panels))


def rounding(n: int, dtype: str = "float64") -> float:
    """Relative error of a pivot: a difference of sums of up to n squares, blocked by BLAS."""
    return (16 + float(np.sqrt(n))) * float(np.finfo(dtype).eps)


def _tile_flops(layout: Plan, i: int, j: int) -> float:
    height, width, before = layout.height(i), layout.height(j), layout.edges[j]
    if i == j:
        return height**2 * (before + height / 3)
    return height * width * (2.0 * before + width)


def _inverse_panel_flops(layout: Plan, i: int) -> float:
    return float(layout.height(i) * (layout.n - layout.edges[i]) ** 2)


def _form(
    rows: UnitRows,
    ridge: float,
    layout: Plan,
    i: int,
    panel: Matrix,
    pool: ThreadPoolExecutor,
    advance: Advance,
) -> Array:
    """Fill panel i with H, in pieces on all cores; returns its part of the column sums of ``|H|``.

    Float32 panels receive the rounded float64 values.
    """
    top = layout.edges[i]

    def fill(piece: _Piece) -> tuple[_Piece, Array, Array]:
        out = panel[piece.rows.start - top : piece.rows.stop - top, piece.columns].T
        exact = out if out.dtype == np.float64 else None
        block = gram_block(rows[piece.columns], rows[piece.rows], out=exact)
        if piece.diagonal:
            np.fill_diagonal(block, rows.kernel.diagonal + ridge)
        if exact is None:
            out[:] = block
        size = np.abs(block)
        return piece, size.sum(axis=1), size.sum(axis=0)

    sums = np.zeros(layout.edges[i + 1])
    share = kernel_flops(layout.n, rows.centred.shape[1]) / layout.n**2
    with one_blas_thread():  # the pool uses the cores
        for piece, across, down in pool.map(fill, _pieces(layout, i)):
            sums[piece.columns] += across
            if not piece.diagonal:
                sums[piece.rows] += down
            advance(share * len(across) * len(down) * (1 if piece.diagonal else 2))
    return sums


@dataclass(frozen=True)
class _Piece:
    """A block of a panel that one thread forms: on the diagonal and square, or below it."""

    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        return self.rows == self.columns


def _pieces(layout: Plan, i: int) -> Iterator[_Piece]:
    """Pieces that cover panel i up to the diagonal."""
    top, bottom = layout.edges[i], layout.edges[i + 1]
    for columns in cuts(0, top):
        for rows in cuts(top, bottom):
            yield _Piece(rows, columns)
    for columns in cuts(top, bottom, PIECE // 2):  # the upper half of a square is wasted
        yield _Piece(columns, columns)
        for rows in cuts(columns.stop, bottom):
            yield _Piece(rows, columns)


def _factor_panel(store: Store, i: int, panel: Matrix, diagonal: float, advance: Advance) -> None:
    """L_i in place of H_i, given the panels before it; `diagonal` is the value on H's diagonal."""
    layout, e = store.plan, store.plan.edges
    tiles = store.stream((j, a, b) for j in range(i) for a, b in layout.runs(0, j + 1))
    for j in range(i):
        L_ij = panel[:, e[j] : e[j + 1]]
        for a, b in layout.runs(0, j + 1):
            L_j = next(tiles)
            before = min(e[b], e[j])
            subtract_product(panel[:, e[a] : before], L_j[:, : before - e[a]], L_ij)
            if b == j + 1:
                right_solve(L_j[:, before - e[a] :], L_ij)
        store.finish_tile(i, j, panel)
        advance(_tile_flops(layout, i, j))
    block = panel[:, e[i] :]
    for a, b in layout.runs(0, i):
        subtract_square(panel[:, e[a] : e[b]], block)
    status = cholesky(block)
    count = status - 1 if status else len(block)
    error = rounding(layout.n, layout.dtype) * diagonal
    small = np.diagonal(block)[:count].astype(np.float64) ** 2 <= error
    if small.any():
        count = int(np.argmax(small))
    if count < len(block):
        raise Singular(_dependence(store, i, panel, e[i] + count))
    for column in range(1, len(block)):
        block[:column, column] = 0
    store.finish_tile(i, i, panel)
    advance(_tile_flops(layout, i, i))


def _forward(store: Store, W: Matrix, origin: int, advance: Advance) -> None:
    """``W L^-T`` in place; W holds the columns from `origin` on, those before are zero."""
    layout, e = store.plan, store.plan.edges
    first = int(np.searchsorted(e, origin, side="right")) - 1
    skipped = origin - e[first]  # rows and columns of the first panel
    numbers = range(first, layout.panels)
    tiles = store.stream((i, a, b) for i in numbers for a, b in layout.runs(first, i + 1))
    for i in numbers:
        start, stop = max(e[i], origin), e[i + 1]
        W_i = W[:, start - origin : stop - origin]
        for a, b in layout.runs(first, i + 1):
            L_i = next(tiles)[skipped if i == first else 0 :, skipped if a == first else 0 :]
            run, before = max(e[a], origin), max(min(e[b], e[i]), origin)
            subtract_product(W[:, run - origin : before - origin], L_i[:, : before - run], W_i)
            if b == i + 1:
                right_solve(L_i[:, before - run :], W_i)
        advance(len(W) * ((stop - origin) ** 2 - (start - origin) ** 2))


def _inverse_rows(store: Store, first: int, W: Matrix, advance: Advance) -> None:
    """Rows of ``L^-T``, those of panel `first`, in place of zeros, from the first's column on."""
    layout, e = store.plan, store.plan.edges
    origin, width = e[first], layout.height(first)
    numbers = range(first, layout.panels)
    tiles = store.stream((i, a, b) for i in numbers for a, b in layout.runs(first, i + 1))
    _inverse_triangle(next(tiles), W[:, :width])
    advance(width**3)
    for i in numbers[1:]:
        W_i = W[:, e[i] - origin : e[i + 1] - origin]
        for a, b in layout.runs(first, i + 1):
            L_i = next(tiles)
            run, before = e[a], min(e[b], e[i])
            if a == first:
                _subtract_upper_product(W[:, :width], L_i[:, :width], W_i)
                run = e[first + 1]
            subtract_product(
                W[:, run - origin : before - origin], L_i[:, run - e[a] : before - e[a]], W_i
            )
            if b == i + 1:
                right_solve(L_i[:, before - e[a] :], W_i)
        advance(width * ((e[i + 1] - origin) ** 2 - (e[i] - origin) ** 2))


def _inverse_triangle(L: Matrix, W: Matrix) -> None:
    """``L^-T`` in place of zeros, by halves: about n^3 / 2.4 flops."""
    n, h = len(L), len(L) // 2
    if n <= MAX_TRIANGLE:
        np.fill_diagonal(W, 1)
        right_solve(L, W)
        return
    _inverse_triangle(L[:h, :h], W[:h, :h])
    _inverse_triangle(L[h:, h:], W[h:, h:])
    _subtract_upper_product(W[:h, :h], L[h:, :h], W[:h, h:])
    right_solve(L[h:, h:], W[:h, h:])


def _subtract_upper_product(U: Matrix, B: Matrix, C: Matrix) -> None:
    """``C -= U B^T`` for U upper triangular, skipping most of its zeros."""
    for rows in cuts(0, len(U), max(MAX_TRIANGLE, -(-len(U) // UPPER_PARTS))):
        subtract_product(U[rows, rows.start :], B[:, rows.start :], C[rows])


def _backward(store: Store, W: Matrix) -> None:
    """``W L^-1`` in place, for W of any number of whole panels."""
    layout, e = store.plan, store.plan.edges
    last = e.index(W.shape[1])
    runs = [(i, a, b) for i in reversed(range(last)) for a, b in reversed(layout.runs(0, i + 1))]
    for (i, a, b), L_i in zip(runs, store.stream(runs), strict=True):
        W_i = W[:, e[i] : e[i + 1]]
        before = min(e[b], e[i])
        if b == i + 1:
            right_solve(L_i[:, before - e[a] :], W_i, transposed=False)
        subtract_product(W_i, L_i[:, : before - e[a]], W[:, e[a] : before], transposed=False)


def _square_norms(W: Matrix, step: int = 1024) -> Array:
    """Squared norms of the rows, summed in float64."""
    norms = np.zeros(len(W))
    for start in range(0, W.shape[1], step):
        part = W[:, start : start + step].astype(np.float64, copy=False)
        norms += np.einsum("ij,ij->i", part, part)
    return norms


def _dependence(store: Store, i: int, panel: Matrix, row: int) -> Dependence:
    """``H_<row^-1 H_<row,row`` by back substitution in the rows of L before `row`.

    `panel` is panel i, to which the row belongs, in which the columns before the row are final.
    """
    start = store.plan.edges[i]
    inner = row - start
    beta = panel[inner, :row].astype(np.float64)
    if inner:
        # only the lower half is read: above the diagonal the panel may never have been written
        with np.errstate(invalid="ignore"):
            L = panel[:inner, start:row].astype(np.float64, order="F")
        right_solve(L, beta[None, start:], transposed=False)
        for a, b in itertools.pairwise(store.plan.edges[: i + 1]):  # no copy of the whole panel
            beta[a:b] -= beta[start:] @ panel[:inner, a:b]
    if start:
        W = np.array(beta[None, :start], dtype=store.plan.dtype, order="F")
        _backward(store, W)
        beta[:start] = W[0]
    return Dependence(row, beta)
