r"""The paper's estimator with one draw for all classes (appendix A).

In one run of the paper, class c is scored among its n_c examples and ``ratio n_c`` others drawn at
random. Here all classes of a run share one draw: S holds ``ratio n_c k / (k - 1)`` examples,
equally many of every class, so that S without class c is the sample of class c. For any single
class the distribution is the paper's: its others are drawn at random, in the same number. The
problem of class c, ``A = S + c``, contains S for every c, so S is factored once.

===========  ==========  =================================================================
symbol       shape       meaning
===========  ==========  =================================================================
L            m x m       Cholesky factor of H on S; its leading part is the factor of a
                         leading part of S, so smaller ratios need no factor of their own
T            n x m       ``H[:, S] L^-T``; its rows of S are L
V            j x m       rows of T of the examples of c that are not in S
Q            j x j       inverse of the factor of ``H[J, J] - V V^T``, the Schur complement
===========  ==========  =================================================================

The inverse factor of A is ``[[L^-1, 0], [-Q V L^-1, Q]]``; d are its column sums of squares, and
alpha follows by two products. Labels only choose rows, so other labellings of the same examples
reuse T and L^-1.

The kernel on S, both factors and Q are float64. T, ``L^-1`` and products with them are float32,
which is twice as fast: entries of ``V V^T`` are off by about 1e-6, and d by that times d, at worst
0.1 % for the whole of Fashion-MNIST (d up to 760). Ranks and signs are not affected.

Cost: ``2 m^3 / 3 + (n - m) m^2`` flops once, and about ``3 m n_c^2`` for each class of a labelling;
`subsample`, which draws for each class, takes ``2 (n_c + ratio n_c)^3 / 3``. Memory:
``4 n m + 12 m^2`` bytes.

Deviations from `subsample`: identical examples are an error instead of being merged, and there are
no predictions for other classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from cgscore.errors import DataError, OptionError
from cgscore.execution.progress import Progress, Silent
from cgscore.kernel import UnitRows, gram_block
from cgscore.typing import Array, Index

Single = NDArray[np.float32]

_BLOCK_ROWS = 2048  # of T, computed at a time
_BLOCK_COLUMNS = 256  # of the triangular inverse, multiplied at a time
_MIN_PIVOT = 1e-5  # smallest 1 / d that float32 can distinguish from 0

#: What is estimated: the three terms of the CG-score, and CG'.
TERMS = ("first_term", "partial", "third_term", "cg_prime")


@dataclass(frozen=True)
class SharedDraw:
    """One factored draw, from which any labelling of the same examples is scored.

    Attributes
    ----------
    rows, single : UnitRows
        All examples, in float64 and float32.
    order : (n,) array
        Examples in the order of T: the drawn ones first.
    T : (n, m) array
        As above, in that order.
    inverse : (m, m) array
        ``L^-1``, lower.
    ridge : float
        Added to the diagonal of the kernel matrix; the paper has 0.
    """

    rows: UnitRows
    single: UnitRows
    order: Index
    T: Single
    inverse: Single
    ridge: float

    @classmethod
    def factor(
        cls, rows: UnitRows, drawn: Index, progress: Progress, ridge: float = 0.0
    ) -> SharedDraw:
        """The factor of the drawn examples, and T for all examples."""
        n, m = len(rows), len(drawn)
        order = np.concatenate([drawn, np.setdiff1d(np.arange(n), drawn)])
        inner, single = rows[drawn], rows.single()
        inner_single = single[drawn]
        T: Any = np.empty((n, m), np.float32)
        with progress.phase("kernel", n) as advance:
            H = np.empty((m, m))
            for start in range(0, m, _BLOCK_ROWS):
                part = inner[start : start + _BLOCK_ROWS]
                gram_block(part, inner, out=H[start : start + len(part)])
                advance(len(part))
            np.fill_diagonal(H, 0.5 + ridge)
            for start in range(m, n, _BLOCK_ROWS):
                block = order[start : start + _BLOCK_ROWS]
                gram_block(
                    single[block],
                    inner_single,
                    out=T[start : start + len(block)],
                    precise=(rows[block], inner),
                )
                advance(len(block))
        with progress.phase("factor", 2 * m**3 / 3 + (n - m) * float(m) ** 2) as advance:
            L = _factor(H.T, order).astype(np.float32, order="F")
            del H
            advance(m**3 / 3)
            T[:m] = L
            for start in range(m, n, _BLOCK_ROWS):  # T.T is in Fortran's order: solved in place
                block = T[start : start + _BLOCK_ROWS]
                blas.strsm(1.0, L, block.T, lower=1, overwrite_b=1)
                advance(len(block) * float(m) ** 2)
            inverse, info = lapack.strtri(L, lower=1, overwrite_c=1)
            _check_pivot(info, order)
            advance(m**3 / 3)
        return cls(rows, single, order, T, inverse, ridge)

    def terms(self, codes: Index, size: int, progress: Progress) -> dict[str, Array]:
        """`TERMS` of every example under the labels `codes`, from the first `size` drawn."""
        n, k = len(self.rows), int(codes.max()) + 1
        if not 1 <= size <= len(self.inverse):
            raise OptionError(
                f"size must be from 1 to {len(self.inverse):,}, the number of examples drawn; "
                f"got {size!r}."
            )
        values = {name: np.full(n, np.nan) for name in TERMS}
        labels = codes[self.order]
        inverse = self.inverse[:size, :size]
        base = np.array([np.square(column).sum(dtype=np.float64) for column in inverse.T])
        with progress.phase("classes", k) as advance:
            for c in range(k):
                members, terms = self._class_terms(labels == c, size, inverse, base)
                for name, term in zip(TERMS, terms, strict=True):
                    values[name][self.order[members]] = term
                advance(1)
        return values

    def _class_terms(
        self, in_class: NDArray[np.bool_], size: int, inverse: Single, base: Array
    ) -> tuple[Index, tuple[Array, ...]]:
        """Positions in `order` of the examples of a class, and their terms.

        `base` are the column sums of squares of `inverse`, the leading part of ``L^-1``.
        """
        inside = np.flatnonzero(in_class[:size])
        outside = size + np.flatnonzero(in_class[size:])
        y = np.where(in_class[:size], 1.0, -1.0).astype(np.float32)
        V = self.T[outside, :size]
        names = self.order[outside]
        single, precise = self.single[names], self.rows[names]
        H: Any = gram_block(single, single, precise=(precise, precise))
        np.fill_diagonal(H, 0.5)
        row_sums = H.sum(axis=1, dtype=np.float64)  # H times the labels, all of which are 1
        H[np.diag_indices_from(H)] += self.ridge
        H -= V @ V.T
        Q = _inverse(_factor(H.astype(np.float64, order="F"), names), names)
        columns = inverse.T[inside]  # columns of the inverse, which is in Fortran's order
        z = inverse @ y
        alpha_outside = Q.T @ (Q @ (1.0 - V @ z))
        alpha_inside = columns @ (z - V.T @ alpha_outside.astype(np.float32))
        alpha = np.concatenate([alpha_inside, alpha_outside])
        QVL = Q.astype(np.float32) @ _triangular_product(V, columns, inside)
        d = np.concatenate(
            [
                base[inside] + np.einsum("ij,ij->j", QVL, QVL, dtype=np.float64),
                np.einsum("ij,ij->j", Q, Q),
            ]
        )
        L = self.T[:size, :size]
        Ly = L.T @ y
        Hy = np.concatenate([L[inside] @ (Ly + V.sum(axis=0)) - self.ridge, V @ Ly + row_sums])
        terms = ((alpha - d) ** 2 / d, 2 * (alpha - d), d, 2 * Hy - 0.5)
        return np.concatenate([inside, outside]), terms


def draw_balanced(codes: Index, sizes: Sequence[int], rng: np.random.Generator) -> Index:
    """Examples of which every leading part of one of `sizes` has equally many of each class."""
    queues = [rng.permutation(np.flatnonzero(codes == c)) for c in range(int(codes.max()) + 1)]
    smallest = min(map(len, queues))
    depth = max(sizes) // len(queues)
    if depth > smallest:
        raise OptionError(
            f"A draw of {max(sizes):,} examples needs {depth:,} of every class; the smallest class "
            f"has {smallest:,}. Choose a smaller ratio."
        )
    return np.stack([queue[:depth] for queue in queues], axis=1).ravel()


def draw_size(n: int, k: int, ratio: float) -> int:
    """Examples to draw so that every class has `ratio` others for each of its n / k."""
    return round(ratio * n / k / (k - 1)) * k


@dataclass(frozen=True)
class SharedRun:
    """One run of the estimator: a `SharedDraw` and the size of the draw at each ratio."""

    draw: SharedDraw
    sizes: Mapping[float, int]

    def terms(
        self, codes: Index, ratio: float, progress: Progress | None = None
    ) -> dict[str, Array]:
        """`TERMS` of every example under the labels `codes`, with `ratio` others for each."""
        return self.draw.terms(codes, self.sizes[ratio], progress or Silent())


def shared_run(
    rows: UnitRows,
    codes: Index,
    ratios: Sequence[float],
    *,
    seed: int,
    run: int,
    ridge: float = 0.0,
    progress: Progress | None = None,
) -> SharedRun:
    """One run of the estimator, from which labellings are scored at several ratios.

    Parameters
    ----------
    rows : UnitRows
        All n examples, without copies.
    codes : (n,) array
        Classes 0 to k - 1 by which the draw is balanced. The labellings that are scored may differ.
    ratios : sequence of float
        Others for each example of a class. The largest decides the size of the factor.
    seed, run : int
        The draw depends on both and on nothing else.
    ridge : float
        Added to the diagonal of the kernel matrix.
    progress : Progress, optional
        Receives the progress of the factor.

    Examples
    --------
    >>> run = shared_run(rows, codes, [1, 4], seed=0, run=0)  # doctest: +SKIP
    >>> run.terms(codes, 4)["partial"]                        # doctest: +SKIP
    """
    n, k = len(codes), int(codes.max()) + 1
    sizes = {ratio: draw_size(n, k, ratio) for ratio in ratios}
    drawn = draw_balanced(codes, list(sizes.values()), np.random.default_rng([seed, run]))
    return SharedRun(SharedDraw.factor(rows, drawn, progress or Silent(), ridge), sizes)


def average_terms(
    rows: UnitRows,
    codes: Index,
    ratio: float,
    runs: int,
    *,
    seed: int,
    labels: Index | None = None,
    ridge: float = 0.0,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """Means of `TERMS` over runs 0 to ``runs - 1``, for every example.

    The same as `shared_run` for each run; `labels` are scored, by default `codes`. With
    ``d = third_term`` and ``alpha = partial / 2 + d`` of a single run, the leave-one-out prediction
    of the own class is ``1 - alpha / d``.
    """
    total = dict.fromkeys(TERMS, np.zeros(len(codes)))
    for run in range(runs):
        shared = shared_run(
            rows, codes, [ratio], seed=seed, run=run, ridge=ridge, progress=progress
        )
        terms = shared.terms(codes if labels is None else labels, ratio, progress)
        total = {name: total[name] + terms[name] for name in TERMS}
    return {name: total[name] / runs for name in TERMS}


def _factor(H: Array, names: Index) -> Array:
    """The Cholesky factor, in place; a copy of another row leaves almost 0 on its diagonal."""
    if not len(H):
        return H
    L, info = lapack.dpotrf(H, lower=1, overwrite_a=1, clean=1)
    _check_pivot(info, names)
    smallest = int(np.argmin(L.diagonal()))
    _check_pivot(smallest + 1 if L[smallest, smallest] ** 2 < _MIN_PIVOT else 0, names)
    return np.asarray(L)


def _inverse(L: Array, names: Index) -> Array:
    """The inverse of a factor, in place."""
    if not len(L):
        return L
    inverse, info = lapack.dtrtri(L, lower=1, overwrite_c=1)
    _check_pivot(info, names)
    return np.asarray(inverse)


def _triangular_product(V: Single, rows: Single, first: Index) -> Single:
    """``V rows^T``, where row i of `rows` is 0 before ``first[i]``, ascending: half the work."""
    product = np.empty((len(V), len(rows)), np.float32)
    for start in range(0, len(rows), _BLOCK_COLUMNS):
        block = slice(start, start + _BLOCK_COLUMNS)
        begin = first[start]
        np.matmul(V[:, begin:], rows[block, begin:].T, out=product[:, block])
    return product


def _check_pivot(info: int, names: Index) -> None:
    """Raise a `DataError` unless LAPACK's `info`, a position counted from 1, is 0."""
    if info:
        raise DataError(
            f"The kernel matrix is not positive definite at example {names[abs(info) - 1]}: it "
            "copies another example, or nearly. Remove copies before this estimator is used; "
            "cgscore.score merges them."
        )
