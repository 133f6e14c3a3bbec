r"""The ridge with the least leave-one-out error of the model of landmarks itself.

On a sample of the rows, with all landmarks and blocks of similar rows of the sample. ``H - Q`` acts
as a ridge of its own, so that this one is smaller than that of the whole kernel matrix if landmarks
are few. The search starts from the latter, found on a small sample (`ridge_search`), and walks
along the same candidates, in long steps first.

Cost: ``2 s m^2 + 2 s m b + m^3 / 3`` flops for each of about ten candidates, with s rows in the
sample and b in a block, which are in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgscore.execution.blas import all_blas_threads
from cgscore.execution.executor import Executor
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows
from cgscore.solvers.cholesky.inplace import cholesky, left_solve, right_solve, subtract_square
from cgscore.solvers.lowrank import model
from cgscore.solvers.lowrank.blocks import MAX_BLOCK_ROWS, Blocks, similar_blocks
from cgscore.solvers.lowrank.model import Landmarks
from cgscore.solvers.ridge_search import (
    CANDIDATES,
    RidgeChoice,
    class_sample,
    sampled_columns,
)
from cgscore.typing import Array, Codes, Index
from cgscore.valuation import class_error

SAMPLE_SIZE = 4000
STEPS = (4, 2, 1)  # along the candidates


def sample_of(codes: Codes, seed: int) -> Index:
    """Rows on which the ridge is chosen, ascending."""
    return class_sample(codes, SAMPLE_SIZE, stream(seed, "ridge of landmarks"))


def least_error(
    rows: UnitRows,
    positions: Index,
    Y: Array,
    landmarks: Landmarks,
    start: float,
    *,
    n: int,
    executor: Executor,
) -> RidgeChoice:
    """The candidate with the least leave-one-out error near `start`.

    Parameters
    ----------
    rows, positions, Y : UnitRows and arrays
        The sample: rows, where they are among all, and targets.
    landmarks : Landmarks
        With ridge 0.
    start : float
        Where the search begins.
    n : int
        Number of all rows: the sample has about as many blocks as they have.
    executor : Executor
        Who finds the blocks.
    """
    Y = sampled_columns(Y)
    largest = -(-MAX_BLOCK_ROWS * len(rows) // n)
    parts = similar_blocks(rows, seed=0, executor=executor, largest=largest)
    with all_blas_threads():
        sample = _sample(rows, positions, Y, landmarks, parts)
        errors: dict[int, float] = {}

        def error(number: int) -> float:
            if not 0 <= number < len(CANDIDATES):
                return np.inf
            if number not in errors:
                errors[number] = _error(sample, float(CANDIDATES[number]))
            return errors[number]

        best = int(np.argmin(np.abs(np.log(CANDIDATES / start))))
        for step in STEPS:
            while (near := min(best - step, best + step, key=error)) != best:
                if error(near) >= error(best):
                    break
                best = near
        return RidgeChoice(float(CANDIDATES[best]), error(best), error(0), len(rows))


@dataclass(frozen=True)
class _Sample:
    """Features of the rows of a sample, block by block, what they leave of H, and targets.

    Blocks are small and many: products with m x m matrices are done for all of them at once.
    """

    Phi: Array
    Y: Array
    blocks: list[slice]
    residuals: list[Array]  # of each block


def _sample(
    rows: UnitRows, positions: Index, Y: Array, landmarks: Landmarks, parts: Blocks
) -> _Sample:
    order = parts.order
    Phi = model.features(rows[order], landmarks)
    blocks = [parts.rows(slice(number, number + 1)) for number in range(len(parts.ends))]
    residuals = [
        model.residual(
            rows[order[block]], np.asfortranarray(Phi[block]), positions[order[block]], landmarks
        )
        for block in blocks
    ]
    return _Sample(Phi, np.asfortranarray(Y[order]), blocks, residuals)


def _error(sample: _Sample, ridge: float) -> float:
    """Leave-one-out error of the model with this ridge (`class_error`)."""
    m = sample.Phi.shape[1]
    factors = [model.factor(left.copy(order="F"), ridge) for left in sample.residuals]
    scaled = _solved(factors, sample.blocks, sample.Phi)  # G^-1 Phi
    root = _solved(factors, sample.blocks, sample.Y)
    L = np.zeros((m, m), order="F")
    subtract_square(scaled, L, transposed=True)
    np.negative(L, out=L)
    L[np.diag_indices(m)] += 1.0
    if status := cholesky(L):
        raise RuntimeError(f"LAPACK potrf returned status {status}")
    left_solve(L, Z := np.asfortranarray(scaled.T @ root))
    right_solve(L, scaled)
    T = _solved(factors, sample.blocks, scaled, transposed=True)
    alpha = _solved(factors, sample.blocks, root, transposed=True) - T @ Z
    d = -np.einsum("ij,ij->i", T, T)
    for G, block in zip(factors, sample.blocks, strict=True):
        inverse = np.eye(len(G), order="F")
        left_solve(G, inverse)
        d[block] += np.einsum("ij,ij->j", inverse, inverse)
    return class_error(alpha, d)


def _solved(
    factors: Sequence[Array], blocks: Sequence[slice], A: Array, *, transposed: bool = False
) -> Array:
    """``G^-1 A`` or ``G^-T A``, block by block, as a new array."""
    result = np.empty_like(A, order="F")
    for G, block in zip(factors, blocks, strict=True):
        part = np.asfortranarray(A[block].copy())
        left_solve(G, part, transposed=transposed)
        result[block] = part
    return result
