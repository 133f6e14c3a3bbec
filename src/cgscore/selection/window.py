r"""Where a window of examples should start, by kernel regression and without training a network.

For every candidate the examples S of the window are kept, ``A = (H_SS + ridge I)^-1 Y_S`` is fitted
to them, and it predicts the whole training set: ``H_:S A`` for the examples that are left out, and
the leave-one-out prediction ``Y_S - A / d`` for those of the window. Fitted values would reproduce
any label in the window, wrong ones too. The candidate that predicts most labels wins.

At most `MAX_FITTED` examples of a window are fitted and `MAX_JUDGED` of all are predicted, drawn at
random. The ridge is the one of the least leave-one-out error on a sample of all
(`solvers/ridge_search.py`). Cost of a candidate: ``m^3 + 2 m n (p + k)`` flops with these m and n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from cgscore.errors import SingularKernelError
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows, gram_block, own_gram
from cgscore.solvers.ridge_search import least_error, ridge_sample
from cgscore.typing import Array, Index

MAX_FITTED = 1500
MAX_JUDGED = 3000
OFFSET_STEP = 0.05  # between candidates


def candidate_offsets(fraction: float) -> Array:
    """Offsets of the windows that are tried: every twentieth, and the last."""
    last = 1 - fraction
    steps = np.arange(0, last - OFFSET_STEP / 4, OFFSET_STEP)
    return np.round(np.append(steps, last), 9)


def window_qualities(
    rows: UnitRows,
    Y: Array,
    fraction: float,
    window: Callable[[float], Index],
    *,
    seed: int,
    progress: Progress,
) -> dict[float, float]:
    """How well each window predicts all examples: offset -> quality.

    Parameters
    ----------
    rows : UnitRows
        All examples.
    Y : (n, k) array
        Their targets; a single column is one of numbers, which are centred.
    fraction : float
        Size of the window, as a share.
    window : callable
        The positions that a window keeps, from its offset.
    seed : int
        Seed of the samples.
    progress : Progress
        Where progress is reported.

    Returns
    -------
    dict
        The quality is the share of labels predicted, or for a single column of targets the share of
        their variance explained.
    """
    if Y.shape[1] == 1:
        Y = centred(Y)
    rng = stream(seed, "window")
    sample = ridge_sample(np.argmax(Y, axis=1), seed)
    ridge = least_error(rows[sample], Y[sample]).ridge
    judged = np.sort(rng.choice(len(rows), min(MAX_JUDGED, len(rows)), replace=False))
    qualities: dict[float, float] = {}
    candidates = candidate_offsets(fraction).tolist()
    with progress.phase("windows", len(candidates)) as advance:
        for offset in candidates:
            fitted = window(offset)
            if len(fitted) > MAX_FITTED:
                fitted = np.sort(rng.choice(fitted, MAX_FITTED, replace=False))
            F = _predictions(rows, Y, fitted, judged, ridge)
            qualities[offset] = quality(Y[judged], F)
            advance(1)
    return qualities


def centred(Y: Array) -> Array:
    """Targets of a regression with mean 0 and deviation 1: their units decide nothing."""
    deviations: Array = Y - Y.mean(axis=0)
    return deviations / (float(deviations.std()) or 1.0)


def best_offset(qualities: dict[float, float]) -> float:
    """The offset of the highest quality, the first of equals."""
    return max(qualities, key=lambda offset: qualities[offset])


def _predictions(rows: UnitRows, Y: Array, fitted: Index, judged: Index, ridge: float) -> Array:
    """Predictions for the judged examples; leave-one-out for those that are fitted."""
    factor, status = dpotrf(own_gram(rows[fitted], ridge), lower=1, overwrite_a=1)
    if status:
        raise SingularKernelError(f"The kernel of a window cannot be factorised with {ridge=:g}.")
    A, solved = dpotrs(factor, Y[fitted], lower=1)
    inverse, status = dpotri(factor, lower=1, overwrite_c=1)
    if solved or status:
        raise SingularKernelError(f"The kernel of a window cannot be inverted with {ridge=:g}.")
    F: Array = gram_block(rows[judged], rows[fitted]) @ A
    place = np.searchsorted(fitted, judged)
    place[place == len(fitted)] = 0
    inside = fitted[place] == judged
    within = place[inside]
    F[inside] = Y[fitted[within]] - A[within] / np.diagonal(inverse)[within, None]
    return F


def quality(Y: Array, F: Array) -> float:
    """The share of labels predicted; for one column of targets, of their variance explained."""
    if Y.shape[1] > 1:
        return float(np.mean(np.argmax(F, axis=1) == np.argmax(Y, axis=1)))
    return 1 - float(np.sum((Y - F) ** 2) / max(np.sum((Y - Y.mean()) ** 2), 1e-300))
