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
from cgscore.solvers.lowrank.blocks import MAX_BLOCK_ROWS, similar_blocks
from cgscore.solvers.lowrank.model import Landmarks
from cgscore.solvers.ridge_search import CANDIDATES, MAX_CLASSES, RidgeChoice
from cgscore.typing import Array, Index

SAMPLE_SIZE = 4000
STEPS = (4, 2, 1)  # along the candidates


def sample_of(n: int, seed: int) -> Index:
    """Rows on which the ridge is chosen, ascending."""
    positions = stream(seed, "ridge of landmarks").choice(n, min(n, SAMPLE_SIZE), replace=False)
    return np.sort(positions)


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
    if Y.shape[1] > MAX_CLASSES:
        Y = Y[:, np.linspace(0, Y.shape[1] - 1, MAX_CLASSES).astype(int)]
    largest = -(-MAX_BLOCK_ROWS * len(rows) // n)
    parts = similar_blocks(rows, seed=0, executor=executor, largest=largest)
    with all_blas_threads():
        blocks = [
            _block(rows[chosen], positions[chosen], Y[chosen], landmarks)
            for chosen in parts.positions(slice(0, len(parts.ends)))
        ]
        errors: dict[int, float] = {}

        def error(number: int) -> float:
            if not 0 <= number < len(CANDIDATES):
                return np.inf
            if number not in errors:
                errors[number] = _error(blocks, float(CANDIDATES[number]))
            return errors[number]

        best = int(np.argmin(np.abs(np.log(CANDIDATES / start))))
        for step in STEPS:
            while (near := min(best - step, best + step, key=error)) != best:
                if error(near) >= error(best):
                    break
                best = near
        return RidgeChoice(float(CANDIDATES[best]), error(best), error(0), len(rows))


@dataclass(frozen=True)
class _Block:
    """Features of some rows, what they leave of the kernel matrix, and targets."""

    Phi: Array
    residual: Array
    Y: Array


def _block(rows: UnitRows, positions: Index, Y: Array, landmarks: Landmarks) -> _Block:
    Phi = model.features(rows, landmarks)
    return _Block(Phi, model.residual(rows, Phi, positions, landmarks), Y)


def _error(blocks: Sequence[_Block], ridge: float) -> float:
    """Mean squared leave-one-out error of the model with this ridge."""
    m, k = blocks[0].Phi.shape[1], blocks[0].Y.shape[1]
    L, products = np.zeros((m, m), order="F"), np.zeros((m, k))
    solved = []
    for block in blocks:
        G = model.factor(block.residual.copy(order="F"), ridge)
        scaled, root = block.Phi.copy(order="F"), np.asfortranarray(block.Y.copy())
        left_solve(G, scaled)
        left_solve(G, root)
        subtract_square(scaled, L, transposed=True)
        products += scaled.T @ root
        solved.append((G, scaled, root))
    np.negative(L, out=L)
    L[np.diag_indices(m)] += 1.0
    if status := cholesky(L):
        raise RuntimeError(f"LAPACK potrf returned status {status}")
    left_solve(L, Z := np.asfortranarray(products))
    total, count = 0.0, int(sum(block.Y.size for block in blocks))
    for G, scaled, root in solved:  # G^-1 Phi and G^-1 Y
        right_solve(L, scaled)
        inverse = np.eye(len(G), order="F")
        left_solve(G, inverse)
        left_solve(G, scaled, transposed=True)
        left_solve(G, root, transposed=True)
        d = np.einsum("ij,ij->j", inverse, inverse) - np.einsum("ij,ij->i", scaled, scaled)
        total += float((((root - scaled @ Z) / d[:, None]) ** 2).sum())
    return total / count
