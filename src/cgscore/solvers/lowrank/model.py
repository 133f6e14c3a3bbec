r"""The model ``H + r I ~ Q + D``: rank m, with exact blocks of similar rows, block by block.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
S           m        landmarks: some of the rows
C           m x m    Cholesky factor of ``K_SS``, the kernel matrix of the landmarks
Phi         n x m    features ``K_:S C^-T``; ``Q = Phi Phi^T`` equals H in rows and columns of S
r           scalar   the ridge, above 0
D           n x n    block diagonal: ``r I + (H - Q)_bb`` for each block b of rows (`blocks.py`)
G           b x b    Cholesky factor of a block of D
B           m x m    ``I + Phi^T D^-1 Phi = L L^T``
T           n x m    ``D^-1 Phi L^-T``
Y           n x k    targets
Z           m x k    ``L^-1 Phi^T D^-1 Y``
==========  =======  =========================================================================

The inverse of ``Q + D`` is ``D^-1 - T T^T``, so

    d = diag(D^-1) - (squared norms of the rows of T),    alpha = D^-1 Y - T Z.

One pass over the rows sums B and ``Phi^T D^-1 Y``, a second makes d and alpha. Known as the
partially independent training conditional (Quinonero-Candela and Rasmussen, 2005). With blocks of
similar rows, what landmarks do not see of a row's nearest neighbours is exact.

Cost, with b rows in a block: ``4 n m^2`` flops for features twice, B and T;
``6 n m b + 5/3 n b^2`` for blocks; ``4 n m p`` and the functions of the kernel twice, ``2 n b p``
for blocks; ``2 n (m + b) k`` for alpha. The sums for classes need additions only: ``n m``. A task
takes `segment_bytes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cgscore.errors import SingularKernelError
from cgscore.kernel import UnitRows, aligned, gram_block, own_gram
from cgscore.rows import Rows
from cgscore.solvers.cholesky.factor import entries_flops
from cgscore.solvers.cholesky.inplace import (
    cholesky,
    left_solve,
    right_solve,
    subtract_square,
)
from cgscore.solvers.lowrank.blocks import MAX_BLOCK_ROWS, Blocks, usual_rows
from cgscore.solvers.tiles import cuts
from cgscore.typing import Array, Codes, Index
from cgscore.valuation import Valuation, class_targets, valuation

PIECE_LANDMARKS = 512  # landmarks for which the kernel is formed at once, within the cache
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

    def add_products(self, A: Array, rows: Index, total: Array) -> None:
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
    blocks: Blocks
    landmarks: Landmarks
    targets: Targets


@dataclass(frozen=True)
class Sums:
    """Of a segment: ``-Phi^T D^-1 Phi`` in the lower half, what targets sum, and its rows."""

    negative: Array
    products: Array
    rows: int


@dataclass(frozen=True)
class Values:
    """Of a segment, in the order of blocks.

    Attributes
    ----------
    valuation : Valuation
        What its rows are worth.
    complexity : (k,) array
        Their share of the complexity of every class.
    loss : float
        The largest quotient of the two terms of which d is a difference, to d.
    """

    valuation: Valuation
    complexity: Array
    loss: float


@dataclass(frozen=True)
class SecondPass:
    """What tasks of the second pass share: also L and Z."""

    rows: Rows
    blocks: Blocks
    landmarks: Landmarks
    targets: Targets
    L: Array
    Z: Array
    single: bool = False  # whether predictions are wanted in float32

    def __post_init__(self) -> None:
        _align(self, "L", "Z")

    def __reduce__(self) -> tuple[Any, ...]:
        return SecondPass, tuple(getattr(self, field.name) for field in fields(self))


def _align(record: object, *names: str) -> None:
    for name in names:
        object.__setattr__(record, name, aligned(getattr(record, name)))


def features(rows: UnitRows, landmarks: Landmarks) -> Array:
    """``K_:S C^-T`` of some rows, in Fortran order."""
    K = np.empty((len(landmarks), len(rows)))
    for piece in cuts(0, len(landmarks), PIECE_LANDMARKS):
        gram_block(landmarks.rows[piece], rows, K[piece])
    Phi: Array = K.T
    right_solve(landmarks.C, Phi)
    return Phi


def residual(rows: UnitRows, Phi: Array, positions: Index, landmarks: Landmarks) -> Array:
    """``H - Q`` of the rows of a block, at these positions, in the lower half.

    Raises
    ------
    SingularKernelError
        The features exceed the diagonal of H by more than rounding.
    """
    E = np.asfortranarray(own_gram(rows))
    subtract_square(Phi, E)
    left: Array = E.diagonal()
    if left.min() < -MAX_ROUNDING:
        raise SingularKernelError(
            f"Row {positions[left.argmin()]} (counted from 0) has features that exceed the "
            f"diagonal of the kernel matrix by {-left.min():.1e}: the kernel matrix of the "
            "landmarks is too ill-conditioned. Use another seed or fewer landmarks."
        )
    known = np.flatnonzero(np.isin(positions, landmarks.positions, assume_unique=True))
    E[known], E[:, known] = 0.0, 0.0  # nothing but rounding
    return E


def factor(E: Array, ridge: float) -> Array:
    """G of a block, in place of ``H - Q``.

    Raises
    ------
    SingularKernelError
        The ridge is smaller than what rounding takes away.
    """
    E[np.diag_indices(len(E))] += ridge
    if status := cholesky(E):
        raise SingularKernelError(
            f"A block of {len(E):,} similar rows has no Cholesky factor (LAPACK's status "
            f"{status}). Use a larger ridge."
        )
    return E


def sum_segment(shared: FirstPass, segment: slice) -> Sums:
    """The first pass over one segment."""
    m, targets = len(shared.landmarks), shared.targets
    negative = np.zeros((m, m), order="F")
    products = np.zeros((targets.k + 1, m))
    for positions in shared.blocks.positions(segment):
        block = shared.rows[positions]
        Phi = features(block, shared.landmarks)
        G = factor(residual(block, Phi, positions, shared.landmarks), shared.landmarks.ridge)
        left_solve(G, Phi)
        subtract_square(Phi, negative, transposed=True)
        left_solve(G, Phi, transposed=True)
        targets.add_products(Phi, positions, products)
    rows = shared.blocks.rows(segment)
    return Sums(negative, products, rows.stop - rows.start)


def sum_segments(shared: FirstPass, segments: Sequence[slice]) -> Sums:
    """The first pass over neighbouring segments, a power of two of them, added in pairs."""
    if len(segments) == 1:
        return sum_segment(shared, segments[0])
    half = len(segments) // 2
    return add(sum_segments(shared, segments[:half]), sum_segments(shared, segments[half:]))


def add(a: Sums, b: Sums) -> Sums:
    """The sums of two neighbouring parts, in place of the first if that can be written to."""
    negative, products = _own(a.negative), _own(a.products)
    negative += b.negative
    products += b.products
    return Sums(negative, products, a.rows + b.rows)


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
    right_solve(L, products)  # Y^T D^-1 Phi L^-T
    Z = np.ascontiguousarray(products.T)
    return SecondPass(shared.rows, shared.blocks, shared.landmarks, shared.targets, L, Z)


def solve_block(shared: SecondPass, positions: Index) -> tuple[Array, Array, float]:
    """Alpha and d of the rows of one block, and the loss of digits (`Values`)."""
    rows = shared.rows[positions]
    T = features(rows, shared.landmarks)
    G = factor(residual(rows, T, positions, shared.landmarks), shared.landmarks.ridge)
    left_solve(G, T)
    left_solve(G, T, transposed=True)
    right_solve(shared.L, T)
    inverse = np.eye(len(G), order="F")
    left_solve(G, inverse)
    of_block = np.einsum("ij,ij->j", inverse, inverse)  # diag(D^-1)
    d = of_block - np.einsum("ij,ij->i", T, T)
    alpha = np.asfortranarray(shared.targets[positions])
    left_solve(G, alpha)
    left_solve(G, alpha, transposed=True)
    alpha -= T @ shared.Z
    return alpha, d, float((of_block / d).max())


def value_segment(shared: SecondPass, segment: slice) -> Values:
    """The second pass over one segment."""
    parts, losses = [], []
    complexity = np.zeros(shared.targets.k)
    for positions in shared.blocks.positions(segment):
        alpha, d, loss = solve_block(shared, positions)
        Y = shared.targets[positions]
        complexity += np.einsum("ik,ik->k", Y, alpha)
        values = valuation(Y, shared.targets.codes[positions], alpha, d)
        if shared.single:
            values = replace(values, loo=values.loo.astype(np.float32))
        parts.append(values)
        losses.append(loss)
    return Values(joined(parts), complexity, max(losses))


def joined(parts: Sequence[Valuation]) -> Valuation:
    """The valuation of rows that follow each other."""
    return Valuation(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Valuation)
        }
    )


def segment_bytes(n: int, p: int, k: int, m: int, together: int = 1) -> int:
    """Memory of a task: the sums, and a block with its kernel, features and targets.

    Of several segments `together`, the sums of the first half wait for those of the second.
    """
    b = min(n, MAX_BLOCK_ROWS)
    sums = (m * m + (k + 1) * m) * together.bit_length()
    return 8 * (sums + b * (3 * m + 2 * p + 3 * k + 3 * b))


def flops(n: int, p: int, k: int, m: int) -> float:
    """Arithmetic of both passes, without that of the landmarks and of the order of rows."""
    b = usual_rows(n)
    kernels = 2 * entries_flops(n * (m + b), p) - 2.0 * n * b * p  # half of a block's own products
    return n * (4.0 * m**2 + 6.0 * m * b + 5 / 3 * b**2 + 2.0 * (m + b) * k) + kernels
