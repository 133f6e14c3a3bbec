r"""EL2N, the norm of the error: ``E |p - y|_2`` (paper, appendix D.3).

The Euclidean distance, early in training, between the softmax outputs of an example and the unit
vector of its class, averaged over independent trainings. It ranges from 0 to the square root of 2;
high means hard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import DataError
from cgscore.training.scores.residuals import residuals
from cgscore.typing import Array


def el2n(probability: ArrayLike, labels: ArrayLike) -> Array:
    """EL2N of every example.

    Parameters
    ----------
    probability : (runs, n, k) array
        Softmax outputs of every training, all at the same epoch.
    labels : (n,) array
        Classes, as columns of the outputs.

    Returns
    -------
    (n,) array
    """
    outputs = np.asarray(probability)
    if outputs.ndim != 3 or not len(outputs):
        raise DataError(
            f"probability has the shape {outputs.shape}. Expected (runs, n, k): outputs of one or "
            "more trainings."
        )
    total = np.zeros(outputs.shape[1])
    for run in outputs:
        total += np.linalg.norm(residuals(run, labels), axis=1)
    return total / len(outputs)
