r"""The ridge with the least leave-one-out error of the model of landmarks itself.

On a sample of the rows, with all landmarks. ``diag(H - Q)`` acts as a ridge of its own, so that
this one is smaller than that of the whole kernel matrix if landmarks are few. The search starts
from the latter, found on a small sample (`ridge_search`), and walks along the same candidates, in
long steps first.

Cost: ``2 s m^2 + m^3 / 3`` flops for each of about ten candidates, with s rows in the sample.
"""

from __future__ import annotations

import numpy as np

from cgscore.execution.blas import all_blas_threads
from cgscore.kernel import UnitRows
from cgscore.solvers.cholesky.inplace import cholesky, right_solve, subtract_square
from cgscore.solvers.lowrank.model import Landmarks, diagonal, features
from cgscore.solvers.ridge_search import CANDIDATES, MAX_CLASSES, RidgeChoice
from cgscore.typing import Array, Index

SAMPLE_SIZE = 4000
STEPS = (4, 2, 1)  # along the candidates


def sample_of(n: int, seed: int) -> Index:
    """Rows on which the ridge is chosen, ascending."""
    positions = np.random.default_rng([seed, 1]).choice(n, min(n, SAMPLE_SIZE), replace=False)
    return np.sort(positions)


def least_error(
    rows: UnitRows, positions: Index, Y: Array, landmarks: Landmarks, start: float
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
    """
    if Y.shape[1] > MAX_CLASSES:
        Y = Y[:, np.linspace(0, Y.shape[1] - 1, MAX_CLASSES).astype(int)]
    with all_blas_threads():
        Phi = features(rows, landmarks)
        left = diagonal(Phi, positions, landmarks)
        errors: dict[int, float] = {}

        def error(number: int) -> float:
            if not 0 <= number < len(CANDIDATES):
                return np.inf
            if number not in errors:
                errors[number] = _error(Phi, left + CANDIDATES[number], Y)
            return errors[number]

        best = int(np.argmin(np.abs(np.log(CANDIDATES / start))))
        for step in STEPS:
            while (near := min(best - step, best + step, key=error)) != best:
                if error(near) >= error(best):
                    break
                best = near
        return RidgeChoice(float(CANDIDATES[best]), error(best), error(0), len(rows))


def _error(Phi: Array, D: Array, Y: Array) -> float:
    """Mean squared leave-one-out error of the model with this diagonal."""
    scaled = Phi / np.sqrt(D)[:, None]
    L = np.zeros((Phi.shape[1],) * 2, order="F")
    subtract_square(scaled, L, transposed=True)
    np.negative(L, out=L)
    L[np.diag_indices(len(L))] += 1.0
    if status := cholesky(L):
        raise RuntimeError(f"LAPACK potrf returned status {status}")
    right_solve(L, scaled)  # sqrt(W) Phi L^-T
    root = Y / np.sqrt(D)[:, None]
    # alpha and d, both times D: their quotient is the same
    alpha = Y - np.sqrt(D)[:, None] * (scaled @ (scaled.T @ root))
    d = 1 - np.einsum("ij,ij->i", scaled, scaled)
    return float(np.mean((alpha / d[:, None]) ** 2))
