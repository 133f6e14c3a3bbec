r"""The ridge with the least leave-one-out error of the model of landmarks itself.

On a sample of the rows, with all landmarks and blocks of similar rows of the sample. ``H - Q`` acts
as a ridge of its own, so that this one is smaller than that of the whole kernel matrix if landmarks
are few. The search starts from the latter, found on a small sample (`ridge_search`), and walks
along the same candidates, in long steps first.

Of so few rows ``Q + D`` itself is formed, once for all candidates, which differ by their multiple
of the identity.

Cost: ``s m^2 + s^2 m`` flops and the kernel, and ``2/3 s^3`` for each of about ten candidates, with
s rows in the sample.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtri

from cgscore.execution.blas import all_blas_threads
from cgscore.execution.executor import Executor
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows
from cgscore.solvers.cholesky.inplace import cholesky, left_solve, subtract_square
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
        K = _matrix(rows[parts.order], positions[parts.order], landmarks, parts)
        Y = Y[parts.order]
        errors: dict[int, float] = {}

        def error(number: int) -> float:
            if not 0 <= number < len(CANDIDATES):
                return np.inf
            if number not in errors:
                errors[number] = _error(K, Y, float(CANDIDATES[number]))
            return errors[number]

        best = int(np.argmin(np.abs(np.log(CANDIDATES / start))))
        for step in STEPS:
            while (near := min(best - step, best + step, key=error)) != best:
                if error(near) >= error(best):
                    break
                best = near
        return RidgeChoice(float(CANDIDATES[best]), error(best), error(0), len(rows))


def _matrix(rows: UnitRows, positions: Index, landmarks: Landmarks, parts: Blocks) -> Array:
    """The lower half of ``Q + D`` of these rows without a ridge; D has these blocks of them."""
    Phi = model.features(rows, landmarks)
    K = np.zeros((len(rows), len(rows)), order="F")
    subtract_square(Phi, K)
    np.negative(K, out=K)
    for number in range(len(parts.ends)):
        block = parts.rows(slice(number, number + 1))
        K[block, block] += model.residual(
            rows[block], np.asfortranarray(Phi[block]), positions[block], landmarks
        )
    return np.asfortranarray(np.tril(K))


def _error(K: Array, Y: Array, ridge: float) -> float:
    """Leave-one-out error of the model with this ridge (`class_error`)."""
    L = K.copy(order="F")
    L[np.diag_indices(len(L))] += ridge
    if status := cholesky(L):
        raise RuntimeError(f"LAPACK potrf returned status {status}")
    root = Y.copy(order="F")
    left_solve(L, root)
    inverse, status = dtrtri(L, lower=1, overwrite_c=1)
    if status:
        raise RuntimeError(f"LAPACK dtrtri returned status {status}")
    return class_error(inverse.T @ root, np.einsum("ij,ij->j", inverse, inverse))
