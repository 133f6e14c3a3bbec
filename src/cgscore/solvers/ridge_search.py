r"""The ridge with the least leave-one-out error, found on a sample.

With ``H = U diag(l) U^T`` every ridge r costs two products: ``alpha = U (l + r)^-1 U^T Y`` and
``d = sum_k U_ik^2 / (l_k + r)``. The mean of ``(alpha / d)^2``, the squared error of leave-one-out
predictions over all examples and classes, needs no ground truth. In the view of a Gaussian process
the ridge is the variance of the noise of targets, which does not depend on how many examples there
are; so a sample serves.

Cost: about ``9 m^3`` flops for a sample of m, and ``2 m^2 k`` for every candidate; of very many
classes some stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from cgscore.execution.blas import all_blas_threads
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows, own_gram
from cgscore.typing import Array

SAMPLE_SIZE = 1000
MAX_CLASSES = 64
CANDIDATES = 10.0 ** np.linspace(-4, 1, 41)


@dataclass(frozen=True)
class RidgeChoice:
    """A ridge, its leave-one-out error and that of the smallest candidate, on so many examples."""

    ridge: float
    error: float
    error_without: float
    examples: int


def ridge_sample(n: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Examples on which the ridge is chosen, ascending."""
    positions = stream(seed, "ridge").choice(n, min(n, SAMPLE_SIZE), replace=False)
    return np.sort(positions)


def least_error(rows: UnitRows, Y: Array) -> RidgeChoice:
    """The candidate with the least leave-one-out error on these rows and targets."""
    if Y.shape[1] > MAX_CLASSES:
        Y = Y[:, np.linspace(0, Y.shape[1] - 1, MAX_CLASSES).astype(int)]
    gram = own_gram(rows)
    errors = np.empty(len(CANDIDATES))
    with all_blas_threads():
        values, U = eigh(gram, overwrite_a=True, check_finite=False)
        projected, squares = U.T @ Y, U**2
        for number, ridge in enumerate(CANDIDATES):
            inverse = 1 / (values + ridge)
            alpha, d = U @ (projected * inverse[:, None]), squares @ inverse
            errors[number] = np.mean((alpha / d[:, None]) ** 2)
    best = int(np.argmin(errors))
    return RidgeChoice(float(CANDIDATES[best]), float(errors[best]), float(errors[0]), len(rows))
