"""H in single precision for products: its lower half kept in memory, or formed anew each time.

Vectors are rows of an (m, n) Fortran-ordered float32 matrix V, and a product is ``V H``. Kept
panels are those of `plan`, with whole squares on the diagonal; every tile serves twice, for its
place and for the mirrored one. Entries are off by some 1e-7, those of close pairs included.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from cgscore.execution.blas import all_blas_threads, one_blas_thread
from cgscore.execution.machine import cores
from cgscore.kernel import UnitRows, gram_block
from cgscore.solvers.cholesky.inplace import subtract_product
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.tiles import cuts, lower_pairs
from cgscore.typing import Index, Matrix


class HalfMatrix(Protocol):
    """The kernel matrix of n rows without a ridge."""

    n: int
    diagonal: float

    def product(self, V: Matrix) -> Matrix:
        """``V H`` for an (m, n) block of row vectors."""
        ...

    def part(self, rows: Index, columns: Index) -> Matrix:
        """H between some rows and some columns, given in ascending order."""
        ...


class OnTheFlyKernel:
    """Stores nothing: every product forms H piece by piece, on all cores or `threads` threads."""

    def __init__(self, rows: UnitRows, threads: int | None = None) -> None:
        self.n, self.diagonal = len(rows), rows.kernel.diagonal
        self._threads = threads or cores()
        self._rows = rows
        self._single = rows.single()

    def product(self, V: Matrix) -> Matrix:
        """Form the lower half in pieces, and multiply with each piece twice."""
        out = np.zeros_like(V, order="F")

        def multiply(pair: tuple[slice, slice]) -> tuple[slice, slice, Matrix, Matrix | None]:
            left, right = pair
            block = self._block(left, right)
            over = V[:, right] @ block.T
            return left, right, over, None if left == right else V[:, left] @ block

        with one_blas_thread(), ThreadPoolExecutor(self._threads) as pool:
            for left, right, over, under in pool.map(multiply, lower_pairs(self.n)):
                out[:, left] += over
                if under is not None:
                    out[:, right] += under
        return out

    def part(self, rows: Index, columns: Index) -> Matrix:
        """Form the part."""
        out = np.empty((len(rows), len(columns)), np.float32, order="F")

        def fill(cut: slice) -> None:
            out[:, cut] = self._block(rows, columns[cut])

        with one_blas_thread(), ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(fill, cuts(0, len(columns))))
        return out

    def _block(self, left: slice | Index, right: slice | Index) -> Matrix:
        precise = (self._rows[left], self._rows[right])
        block = gram_block(self._single[left], self._single[right], precise=precise)
        if isinstance(left, slice) and left == right:
            np.fill_diagonal(block, self.diagonal)
        return block


class InMemoryKernel:
    """The lower half in memory: ``2 n^2`` bytes."""

    def __init__(self, rows: UnitRows, advance: Callable[[float], None]) -> None:
        self.n, self.diagonal = len(rows), rows.kernel.diagonal
        self._edges = plan(self.n, dtype="float32").edges
        self._panels: list[Matrix] = [
            np.empty((b - a, b), np.float32, order="F") for a, b in itertools.pairwise(self._edges)
        ]
        single = rows.single()

        def fill(place: tuple[int, slice, slice]) -> float:
            i, across, down = place
            top = self._edges[i]
            out = self._panels[i][across.start - top : across.stop - top, down]
            precise = (rows[down], rows[across])
            gram_block(single[down], single[across], out.T, precise=precise)
            if across == down:
                np.fill_diagonal(out, self.diagonal)
            return float(out.size)

        with one_blas_thread(), ThreadPoolExecutor(cores()) as pool:
            for size in pool.map(fill, self._places()):
                advance(size)
        for i, panel in enumerate(self._panels):  # both halves of the square, to the same bits
            square = panel[:, self._edges[i] :]
            lower = np.tril(square, -1)
            square[:] = lower + lower.T
            np.fill_diagonal(square, self.diagonal)

    def product(self, V: Matrix) -> Matrix:
        """Multiply with every tile twice: as it is, and transposed."""
        e = self._edges
        out = np.zeros_like(V, order="F")
        with all_blas_threads():
            for i, panel in enumerate(self._panels):
                subtract_product(V[:, : e[i + 1]], panel, out[:, e[i] : e[i + 1]])
                if i:
                    V_i = V[:, e[i] : e[i + 1]]
                    subtract_product(V_i, panel[:, : e[i]], out[:, : e[i]], transposed=False)
        return np.negative(out, out=out)

    def part(self, rows: Index, columns: Index) -> Matrix:
        """Collect the part from the panels."""
        out = np.empty((len(rows), len(columns)), np.float32, order="F")

        def collect(i: int) -> None:
            low, high = self._edges[i], self._edges[i + 1]
            across = slice(*np.searchsorted(rows, (low, high)))
            before = slice(0, np.searchsorted(columns, high))
            panel = self._panels[i]
            out[across, before] = panel[np.ix_(rows[across] - low, columns[before])]
            down = slice(*np.searchsorted(columns, (low, high)))
            left = slice(0, np.searchsorted(rows, low))
            out[left, down] = panel[np.ix_(columns[down] - low, rows[left])].T

        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(collect, range(len(self._panels))))
        return out

    def _places(self) -> list[tuple[int, slice, slice]]:
        """Pieces of each panel: its rows, and columns up to the end of its square."""
        return [
            (i, across, down)
            for i, (low, high) in enumerate(itertools.pairwise(self._edges))
            for down in cuts(0, low) + cuts(low, high)
            for across in cuts(low, high)
            if across.stop > down.start
        ]
