r"""The paper's estimator for many labellings and ratios at once (appendix A).

In one run of the paper, class c is scored among its n_c examples and ``ratio n_c`` others drawn at
random. Here the classes of a run share one draw: S holds ``ratio n_c k / (k - 1)`` examples,
equally many of every class, so that S without class c is the sample of class c. Seen from any one
class nothing changes: its others are drawn at random, in the same number. What changes is the work,
as the problem of class c, ``A = S + c``, contains S whatever c is.

===========  ==========  =================================================================
symbol       shape       meaning
===========  ==========  =================================================================
L            m x m       Cholesky factor of H on S; a leading part of it is the factor of a
                         leading part of S, which is how smaller ratios come for nothing
T            n x m       ``H[:, S] L^-T``; its rows of S are L
V            j x m       rows of T of the examples of c that are not in S
Q            j x j       factor of ``H[J, J] - V V^T``, the Schur complement
===========  ==========  =================================================================

The inverse factor of A is ``[[L^-1, 0], [-Q^-1 V L^-1, Q^-1]]``; d are its column sums of squares,
and alpha follows by two products. Labels only choose rows, so that other labellings of the same
examples reuse T and L^-1.

The kernel on S, both factors and the inverse of Q are float64. T, ``L^-1`` and products with them
are float32, which is twice as fast: entries of ``V V^T`` are off by about 1e-6, and d by that times
d, at worst one in a thousand for the whole of Fashion-MNIST (d up to 760). Ranks and signs do not
notice.

Cost: ``2 m^3 / 3 + (n - m) m^2`` flops once, and about ``3 m n_c^2`` for each class of a labelling,
where factors of their own take ``2 (n_c + ratio n_c)^3 / 3``. Memory: ``4 n m + 12 m^2`` bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from cgscore.errors import DataError, OptionError
from cgscore.execution.progress import Progress
from cgscore.kernel import Array, UnitRows, gram_block

Index = NDArray[np.intp]
Single = NDArray[np.float32]

_BLOCK = 2048  # rows of T made at a time
_COLUMNS = 256  # columns of the inverse that are taken from one row on
_LEAST = 1e-5  # of 1 / d that float32 can tell from 0

#: What is estimated: the three terms of the CG-score, and CG'.
TERMS = ("first_term", "partial", "third_term", "cg_prime")


@dataclass(frozen=True)
class SharedDraw:
    """One draw of others, ready to score labellings.

    Attributes
    ----------
    rows, single : UnitRows
        All examples, in float64 and float32.
    order : (n,) array
        Examples in the order of T: those drawn first.
    T : (n, m) array
        As above, in that order.
    inverse : (m, m) array
        ``L^-1``, lower.
    ridge : float
        On the diagonal of the kernel matrix; the paper's is 0.
    """

    rows: UnitRows
    single: UnitRows
    order: Index
    T: Single
    inverse: Single
    ridge: float

    @classmethod
    def make(
        cls, rows: UnitRows, drawn: Index, progress: Progress, ridge: float = 0.0
    ) -> SharedDraw:
        """Factor the examples drawn, and bring all others into their terms."""
        n, m = len(rows), len(drawn)
        order = np.concatenate([drawn, np.setdiff1d(np.arange(n), drawn)])
        inner, single = rows[drawn], rows.single()
        inner_single = single[drawn]
        T: Any = np.empty((n, m), np.float32)
        with progress.phase("kernel", n) as advance:
            H = np.empty((m, m))
            for start in range(0, m, _BLOCK):
                part = inner[start : start + _BLOCK]
                gram_block(part, inner, out=H[start : start + len(part)])
                advance(len(part))
            np.fill_diagonal(H, 0.5 + ridge)
            for start in range(m, n, _BLOCK):
                some = order[start : start + _BLOCK]
                gram_block(
                    single[some],
                    inner_single,
                    out=T[start : start + len(some)],
                    precise=(rows[some], inner),
                )
                advance(len(some))
        with progress.phase("factor", 2 * m**3 / 3 + (n - m) * float(m) ** 2) as advance:
            L = _factor(H.T, order).astype(np.float32, order="F")
            del H
            advance(m**3 / 3)
            T[:m] = L
            for start in range(m, n, _BLOCK):  # T.T is in Fortran's order: solved in place
                block = T[start : start + _BLOCK]
                blas.strsm(1.0, L, block.T, lower=1, overwrite_b=1)
                advance(len(block) * float(m) ** 2)
            inverse, info = lapack.strtri(L, lower=1, overwrite_c=1)
            _settled(info, order)
            advance(m**3 / 3)
        return cls(rows, single, order, T, inverse, ridge)

    def score(self, own: Index, size: int, progress: Progress) -> dict[str, Array]:
        """The terms of every example under labels `own`, with the first `size` of those drawn."""
        n, k = len(self.rows), int(own.max()) + 1
        if not 1 <= size <= len(self.inverse):
            raise OptionError(f"size={size!r}: {len(self.inverse):,} examples were drawn.")
        found = {name: np.full(n, np.nan) for name in TERMS}
        labels = own[self.order]
        inverse = self.inverse[:size, :size]
        base = np.array([np.square(column).sum(dtype=np.float64) for column in inverse.T])
        with progress.phase("classes", k) as advance:
            for c in range(k):
                members, terms = self._class(labels == c, size, inverse, base)
                for name, values in zip(TERMS, terms, strict=True):
                    found[name][self.order[members]] = values
                advance(1)
        return found

    def _class(
        self, mine: NDArray[np.bool_], size: int, inverse: Single, base: Array
    ) -> tuple[Index, tuple[Array, ...]]:
        inside = np.flatnonzero(mine[:size])
        outside = size + np.flatnonzero(mine[size:])
        y = np.where(mine[:size], 1.0, -1.0).astype(np.float32)
        V = self.T[outside, :size]
        names = self.order[outside]
        few, precise = self.single[names], self.rows[names]
        H: Any = gram_block(few, few, precise=(precise, precise))
        np.fill_diagonal(H, 0.5)
        beside = H.sum(axis=1, dtype=np.float64)  # H times labels, all of them 1
        H[np.diag_indices_from(H)] += self.ridge
        H -= V @ V.T
        Q = _inverse(_factor(H.astype(np.float64, order="F"), names), names)
        rows = inverse.T[inside]  # columns of the inverse, which is in Fortran's order
        z = inverse @ y
        own = Q.T @ (Q @ (1.0 - V @ z))  # alpha of those outside
        alpha = np.concatenate([rows @ (z - V.T @ own.astype(np.float32)), own])
        more = Q.astype(np.float32) @ _with_lower(V, rows, inside)
        d = np.concatenate(
            [
                base[inside] + np.einsum("ij,ij->j", more, more, dtype=np.float64),
                np.einsum("ij,ij->j", Q, Q),
            ]
        )
        L = self.T[:size, :size]
        seen = L.T @ y
        product = np.concatenate(
            [L[inside] @ (seen + V.sum(axis=0)) - self.ridge, V @ seen + beside]
        )
        alone = alpha - d
        terms = (alone**2 / d, 2 * alone, d, 2 * product - 0.5)
        return np.concatenate([inside, outside]), terms


def _factor(H: Array, names: Index) -> Array:
    """The Cholesky factor, in place; copies of others leave next to nothing on its diagonal."""
    if not len(H):
        return H
    L, info = lapack.dpotrf(H, lower=1, overwrite_a=1, clean=1)
    _settled(info, names)
    low = int(np.argmin(L.diagonal()))
    _settled(low + 1 if L[low, low] ** 2 < _LEAST else 0, names)
    return np.asarray(L)


def _inverse(L: Array, names: Index) -> Array:
    """The inverse of a factor, in place."""
    if not len(L):
        return L
    found, info = lapack.dtrtri(L, lower=1, overwrite_c=1)
    _settled(info, names)
    return np.asarray(found)


def _with_lower(V: Single, rows: Single, first: Index) -> Single:
    """``V rows^T``, where row i of `rows` is 0 before ``first[i]``, ascending: half the work."""
    found = np.empty((len(V), len(rows)), np.float32)
    for start in range(0, len(rows), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        begin = first[start]
        np.matmul(V[:, begin:], rows[part, begin:].T, out=found[:, part])
    return found


def draw(own: Index, sizes: Sequence[int], rng: np.random.Generator) -> Index:
    """Examples such that each of the leading `sizes` has equally many of every class."""
    queues = [rng.permutation(np.flatnonzero(own == c)) for c in range(int(own.max()) + 1)]
    shortest = min(map(len, queues))
    depth = max(sizes) // len(queues)
    if depth > shortest:
        raise OptionError(f"{depth:,} of every class cannot be drawn: one has {shortest:,}.")
    return np.stack([queue[:depth] for queue in queues], axis=1).ravel()


def sample_size(n: int, k: int, ratio: float) -> int:
    """Examples to draw so that every class has `ratio` others for each of its n / k."""
    return round(ratio * n / k / (k - 1)) * k


def _settled(info: int, names: Index) -> None:
    if info:
        raise DataError(
            f"The kernel matrix is not positive definite at example {names[abs(info) - 1]}: it "
            "copies another, or nearly. cgscore.score merges copies; this estimator does not."
        )
