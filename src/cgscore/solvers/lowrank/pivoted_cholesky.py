r"""Features of rank m whose inner products stand for a kernel matrix.

==========  ========  =====================================================================
symbol      shape     meaning
==========  ========  =====================================================================
K           n x n     a kernel matrix, of which columns and the diagonal are at hand
J           m         landmarks: positions whose columns are taken
Phi         n x m     features; ``Phi Phi^T`` equals K in the rows and columns of J
rest        n         ``diag(K - Phi Phi^T)``, 0 or larger: what the features leave out
==========  ========  =====================================================================

Landmarks are drawn by randomly pivoted Cholesky: each with a probability in proportion to what the
ones before have left of its diagonal. The draws of a block are made together, and each is accepted
with the probability that corrects for the ones before it in the block (accelerated randomly pivoted
Cholesky: Epperly, Tropp and Webber, 2024). So columns are formed, and the features updated, by
products of matrices. Cost: ``2 n m^2`` flops, the columns, and ``8 n m`` bytes.

What is left of the diagonal is a difference, and so never exactly 0. Up to the share `SPENT` of the
numbers that were subtracted it counts as rounding: such rows are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf

from cgscore.errors import SingularKernelError
from cgscore.execution.blas import all_blas_threads
from cgscore.execution.progress import Advance, ignore
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows, gram_block
from cgscore.typing import Array, Index

BLOCK = 128  # landmarks drawn at once
CHUNK_ROWS = 4096  # rows of columns formed at once
SPENT = 1e-10  # a share of the scale of the diagonal so small that it is rounding

#: Columns of a kernel matrix: positions -> (n, len(positions)) array.
Columns = Callable[[Index], Array]


@dataclass(frozen=True)
class Features:
    """Features of n examples and what they leave out of the diagonal.

    Attributes
    ----------
    Phi : (n, m) array
        Features.
    rest : (n,) array
        What they leave of the diagonal of the kernel matrix.
    landmarks : (m,) array
        Positions whose columns they reproduce.
    """

    Phi: Array
    rest: Array
    landmarks: Index

    def __len__(self) -> int:
        return len(self.Phi)


def kernel_columns(rows: UnitRows) -> Columns:
    """The columns of H, formed when they are asked for."""

    def columns(positions: Index) -> Array:
        chosen = rows[positions]
        block = np.empty((len(rows), len(positions)))
        for start in range(0, len(rows), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            block[part] = gram_block(rows[part], chosen)
        block[positions, np.arange(len(positions))] = rows.kernel.diagonal
        return block

    return columns


def landmark_features(
    columns: Columns,
    diagonal: Array,
    m: int,
    *,
    seed: int,
    scale: float | None = None,
    advance: Advance = ignore,
) -> Features:
    """Features of rank at most m; of rank 0 where all of the diagonal is rounding.

    Parameters
    ----------
    columns : callable
        The columns of K at some positions.
    diagonal : (n,) array
        The diagonal of K.
    m : int
        Number of landmarks; fewer where fewer leave nothing of the diagonal.
    seed : int
        Seed of the draws.
    scale : float, optional
        The size of the numbers of which the diagonal of K is a difference, if it is one; by default
        its largest entry.
    advance : callable
        Advances a phase of m landmarks.
    """
    rng = stream(seed, "pivots")
    n = len(diagonal)
    rest = np.array(diagonal, np.float64)
    spent = SPENT * (float(rest.max()) if scale is None else scale)
    Phi = np.empty((n, min(m, n)))
    landmarks = np.empty(Phi.shape[1], np.intp)
    taken = 0
    with all_blas_threads():
        while taken < Phi.shape[1] and (rest > spent).any():
            proposals = _proposals(
                np.where(rest > spent, rest, 0.0), min(BLOCK, Phi.shape[1] - taken), rng
            )
            known = Phi[:, :taken]
            block = columns(proposals)
            block -= known @ known[proposals].T
            accepted = _accepted(block[proposals], rest[proposals], spent, rng)
            if not len(accepted):  # rest is off by rounding; uncorrected, it would be drawn forever
                rest[proposals] = _corrected(block[proposals], spent)
                continue
            chosen, block = proposals[accepted], block[:, accepted]
            L, status = dpotrf(block[chosen], lower=1, clean=1)
            if status:
                raise SingularKernelError("Landmarks are nearly identical to working precision.")
            new = slice(taken, taken + len(chosen))
            Phi[:, new] = solve_triangular(L, block.T, lower=True, check_finite=False).T
            landmarks[new] = chosen
            rest -= np.einsum("ij,ij->i", Phi[:, new], Phi[:, new])
            rest[chosen] = 0.0
            np.maximum(rest, 0.0, out=rest)  # below 0 by rounding only
            taken = new.stop
            advance(len(chosen))
    return Features(Phi[:, :taken], rest, landmarks[:taken])


def _proposals(rest: Array, count: int, rng: np.random.Generator) -> Index:
    """Positions drawn in proportion to what is left of the diagonal, the first of equals only."""
    cumulative = np.cumsum(rest)
    drawn = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    drawn = np.minimum(drawn, len(rest) - 1)
    _, first = np.unique(drawn, return_index=True)
    proposals: Index = drawn[np.sort(first)].astype(np.intp)
    return proposals


def _corrected(block: Array, spent: float) -> Array:
    """What is left of the diagonal at the proposals of a block, 0 where that is rounding."""
    pivots = np.diagonal(block)
    return np.where(pivots > spent, pivots, 0.0)


def _accepted(block: Array, rest: Array, spent: float, rng: np.random.Generator) -> Index:
    """Which proposals stay, each given those before it: positions in the block."""
    left = block.copy()
    stay = []
    for number, draw in enumerate(rng.random(len(block))):
        pivot = left[number, number]
        if draw * rest[number] < pivot and pivot > spent:
            stay.append(number)
            column = left[:, number] / np.sqrt(pivot)
            left -= np.outer(column, column)
    return np.array(stay, np.intp)
