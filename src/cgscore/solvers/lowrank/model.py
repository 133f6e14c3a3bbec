r"""The model ``H + r I ~ Q + D`` of rank m with an exact diagonal, one segment of rows at a time.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
S           m        landmarks: some of the rows
C           m x m    Cholesky factor of ``K_SS``, the kernel matrix of the landmarks
Phi         n x m    features ``K_:S C^-T``; ``Q = Phi Phi^T`` equals H in rows and columns of S
r           scalar   the ridge, above 0
D           n        ``r + diag(H - Q)``: r at landmarks, larger elsewhere
W           n        ``1 / D``
B           m x m    ``I + Phi^T W Phi = L L^T``
T           n x m    ``W Phi L^-T``
Y           n x k    targets
Z           m x k    ``L^-1 Phi^T W Y``
==========  =======  =========================================================================

The inverse of ``Q + D`` is ``W - T T^T``, so

    d = W - (squared norms of the rows of T),    alpha = W Y - T Z.

One pass over the rows sums B and ``Phi^T W Y``, a second makes d and alpha. Known as the fully
independent training conditional (Snelson and Ghahramani, 2006).

Cost: ``4 n m^2`` flops for features twice, B and T; ``4 n m p`` and the functions of the kernel
twice; ``2 n m k`` for alpha. The sums for classes need additions only: ``n m``. A task takes
`segment_bytes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cgscore.errors import SingularKernelError
from cgscore.kernel import UnitRows, aligned, gram_block
from cgscore.rows import Rows
from cgscore.solvers.cholesky.factor import entries_flops
from cgscore.solvers.cholesky.inplace import cholesky, right_solve, subtract_square
from cgscore.solvers.tiles import cuts
from cgscore.typing import Array, Codes, Index
from cgscore.valuation import Valuation, class_targets, valuation

CHUNK_ROWS = 1024  # rows handled at once
PIECE_LANDMARKS = 512  # landmarks for which the kernel is formed at once, within the cache
MAX_SEGMENTS = 64  # parts into which the rows are divided, however many workers there are
#: ``diag(H - Q)`` is 0 or larger; rounding may take it this far below.
MAX_ROUNDING = 1e-6


@dataclass(frozen=True)
class Targets:
    """Targets of n examples, which are formed a few rows at a time.

    Attributes
    ----------
    codes : (n,) array
        The class of every example.
    k : int
        Number of columns.
    values : (n,) array or None
        The targets of a regression.
    """

    codes: Codes
    k: int
    values: Array | None = None

    def __getitem__(self, rows: slice | Index) -> Array:
        """Y of some rows."""
        if self.values is not None:
            return self.values[rows, None]
        return class_targets(self.codes[rows], self.k)

    def add_products(self, A: Array, rows: slice, total: Array) -> None:
        """``total += Y^T A``, with total (k + 1, m), its last row the sum of A for classes."""
        if self.values is not None:
            total[0] += self.values[rows] @ A
            return
        codes = self.codes[rows]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        total[codes[order[starts]]] += np.add.reduceat(A[order], starts, axis=0)
        total[-1] += A.sum(axis=0)

    def products(self, total: Array) -> Array:
        """``Y^T A`` (k, m) from what `add_products` summed: targets are +1 and -1."""
        return total[:-1] if self.values is not None else 2 * total[:-1] - total[-1]


@dataclass(frozen=True)
class Landmarks:
    """Landmarks: positions among the rows (ascending), their rows, C, and r."""

    positions: Index
    rows: UnitRows
    C: Array
    ridge: float

    def __post_init__(self) -> None:
        _align(self, "positions", "C")  # wherever they come from

    def __reduce__(self) -> tuple[Any, ...]:  # through the above, which pickle alone would skip
        return Landmarks, (self.positions, self.rows, self.C, self.ridge)

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True)
class FirstPass:
    """What tasks of the first pass share."""

    rows: Rows
    landmarks: Landmarks
    targets: Targets


@dataclass(frozen=True)
class Sums:
    """Of a segment: ``-Phi^T W Phi`` in the lower half, what targets sum, and D of its rows."""

    negative: Array
    products: Array
    D: Array


@dataclass(frozen=True)
class Values:
    """Of a segment: what its rows are worth, and their share of the complexity of every class."""

    valuation: Valuation
    complexity: Array


@dataclass(frozen=True)
class SecondPass:
    """What tasks of the second pass share: also D of all rows, L and Z."""

    rows: Rows
    landmarks: Landmarks
    targets: Targets
    D: Array
    L: Array
    Z: Array
    single: bool = False  # whether predictions are wanted in float32

    def __post_init__(self) -> None:
        _align(self, "D", "L", "Z")

    def __reduce__(self) -> tuple[Any, ...]:
        return SecondPass, tuple(getattr(self, field.name) for field in fields(self))


def _align(record: object, *names: str) -> None:
    for name in names:
        object.__setattr__(record, name, aligned(getattr(record, name)))


def segments(n: int) -> list[slice]:
    """Parts of n rows, each of whole chunks; they decide the bits of a result, workers do not."""
    chunks = -(-n // CHUNK_ROWS)
    return [
        slice(part.start * CHUNK_ROWS, min(n, part.stop * CHUNK_ROWS))
        for part in cuts(0, chunks, -(-chunks // MAX_SEGMENTS))
    ]


def features(rows: UnitRows, landmarks: Landmarks) -> Array:
    """``K_:S C^-T`` of some rows, in Fortran order."""
    K = np.empty((len(landmarks), len(rows)))
    for piece in cuts(0, len(landmarks), PIECE_LANDMARKS):
        gram_block(landmarks.rows[piece], rows, K[piece])
    Phi: Array = K.T
    right_solve(landmarks.C, Phi)
    return Phi


def diagonal(Phi: Array, positions: Index, landmarks: Landmarks) -> Array:
    """D of the rows of Phi, which are at these ascending positions.

    Raises
    ------
    SingularKernelError
        The features exceed the diagonal of H by more than rounding.
    """
    left: Array = landmarks.rows.kernel.diagonal - np.einsum("ij,ij->i", Phi, Phi)
    if left.min() < -MAX_ROUNDING:
        raise SingularKernelError(
            f"Row {positions[left.argmin()]} (counted from 0) has features that exceed the "
            f"diagonal of the kernel matrix by {-left.min():.1e}: the kernel matrix of the "
            "landmarks is too ill-conditioned. Use another seed or fewer landmarks."
        )
    np.maximum(left, 0.0, out=left)  # below 0 by rounding only
    left[np.isin(positions, landmarks.positions, assume_unique=True)] = 0.0
    left += landmarks.ridge
    return left


def sum_segment(shared: FirstPass, segment: slice) -> Sums:
    """The first pass over one segment."""
    m, targets = len(shared.landmarks), shared.targets
    negative = np.zeros((m, m), order="F")
    products = np.zeros((targets.k + 1, m))
    D = np.empty(segment.stop - segment.start)
    for chunk in cuts(segment.start, segment.stop, CHUNK_ROWS):
        Phi = features(shared.rows[chunk], shared.landmarks)
        D_chunk = diagonal(Phi, np.r_[chunk], shared.landmarks)
        D[chunk.start - segment.start : chunk.stop - segment.start] = D_chunk
        Phi /= np.sqrt(D_chunk)[:, None]
        subtract_square(Phi, negative, transposed=True)
        Phi /= np.sqrt(D_chunk)[:, None]
        targets.add_products(Phi, chunk, products)
    return Sums(negative, products, D)


def add(a: Sums, b: Sums) -> Sums:
    """The sums of two neighbouring parts, in place of the first if that can be written to."""
    negative, products = _own(a.negative), _own(a.products)
    negative += b.negative
    products += b.products
    return Sums(negative, products, np.concatenate([a.D, b.D]))


def _own(array: Array) -> Array:
    """The array, or a copy if it came through a network and cannot be written to."""
    return np.require(array, requirements=["A", "W"])


def between_passes(shared: FirstPass, sums: Sums) -> SecondPass:
    """L and Z from the sums over all rows, in place of them.

    Raises
    ------
    SingularKernelError
        B has no Cholesky factor: some number is not finite.
    """
    L = _own(sums.negative)
    np.negative(L, out=L)
    L[np.diag_indices(len(L))] += 1.0
    if status := cholesky(L):
        raise SingularKernelError(
            f"The m x m matrix of {len(L):,} landmarks has no Cholesky factor (LAPACK's status "
            f"{status}). Use a larger ridge."
        )
    products = np.asfortranarray(shared.targets.products(sums.products))
    right_solve(L, products)  # Y^T W Phi L^-T
    return SecondPass(
        shared.rows, shared.landmarks, shared.targets, sums.D, L, np.ascontiguousarray(products.T)
    )


def solve_rows(shared: SecondPass, chunk: slice) -> tuple[Array, Array]:
    """Alpha and d of one chunk of rows."""
    T = features(shared.rows[chunk], shared.landmarks)
    right_solve(shared.L, T)
    W = 1 / shared.D[chunk]
    T *= W[:, None]
    d = W - np.einsum("ij,ij->i", T, T)
    alpha = shared.targets[chunk] * W[:, None]
    alpha -= T @ shared.Z
    return alpha, d


def value_segment(shared: SecondPass, segment: slice) -> Values:
    """The second pass over one segment."""
    parts = []
    complexity = np.zeros(shared.targets.k)
    for chunk in cuts(segment.start, segment.stop, CHUNK_ROWS):
        alpha, d = solve_rows(shared, chunk)
        Y = shared.targets[chunk]
        complexity += np.einsum("ik,ik->k", Y, alpha)
        values = valuation(Y, shared.targets.codes[chunk], alpha, d)
        if shared.single:
            values = replace(values, loo=values.loo.astype(np.float32))
        parts.append(values)
    return Values(joined(parts), complexity)


def joined(parts: Sequence[Valuation]) -> Valuation:
    """The valuation of rows that follow each other."""
    return Valuation(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Valuation)
        }
    )


def segment_bytes(m: int, p: int, k: int) -> int:
    """Memory of a task: the sums, and a chunk with its kernel, features and targets."""
    return 8 * (m * m + (k + 1) * m + CHUNK_ROWS * (3 * m + 2 * p + 3 * k))


def flops(n: int, p: int, k: int, m: int) -> float:
    """Arithmetic of both passes, without that of the landmarks."""
    return n * (4.0 * m**2 + 2 * m * k) + 2 * entries_flops(n * m, p)
