r"""Where a window of examples should start, by kernel regression and without training a network.

For every candidate the examples S of the window are kept, ``A = (H_SS + ridge I)^-1 Y_S`` is fitted
to them, and it predicts the whole training set: ``H_:S A`` for the examples that were left out, and
for those of the window what it would predict without them, ``Y_S - A / d``. Fitted values would be
right for whatever is kept, wrong labels too. The candidate that predicts most labels wins.

At most `FITTED` examples of a window are fitted and `JUDGED` of all are predicted, drawn at random.
The ridge is the one of the least leave-one-out error on a sample of all (`solvers/ridge.py`).
Cost of a candidate: ``m^3 + 2 m n (p + k)`` flops with these m and n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from cgscore.errors import SingularKernelError
from cgscore.execution.progress import Progress
from cgscore.kernel import Array, UnitRows, gram_block
from cgscore.solvers.ridge_search import least_error, ridge_sample

Index = NDArray[np.intp]

FITTED = 1500
JUDGED = 3000
STEP = 0.05  # between candidates


def offsets(fraction: float) -> Array:
    """Candidates: every twentieth, and the last window."""
    last = 1 - fraction
    steps = np.arange(0, last - STEP / 4, STEP)
    return np.round(np.append(steps, last), 9)


def predicted_by_windows(
    rows: UnitRows,
    Y: Array,
    fraction: float,
    window: Callable[[float], Index],
    *,
    seed: int,
    progress: Progress,
) -> dict[float, float]:
    """What the window of each candidate reaches: offset -> quality.

    `window` gives the positions kept for an offset. The quality is the share of labels predicted,
    or for one column of targets the share of their variance explained.
    """
    draw = np.random.default_rng(seed)
    some = ridge_sample(len(rows), seed)
    ridge = least_error(rows[some], Y[some]).ridge
    judged = np.sort(draw.choice(len(rows), min(JUDGED, len(rows)), replace=False))
    found: dict[float, float] = {}
    candidates = offsets(fraction).tolist()
    with progress.phase("windows", len(candidates)) as advance:
        for offset in candidates:
            kept = window(offset)
            if len(kept) > FITTED:
                kept = np.sort(draw.choice(kept, FITTED, replace=False))
            predicted = _predicted(rows, Y, kept, judged, ridge)
            found[offset] = _quality(Y[judged], predicted)
            advance(1)
    return found


def _predicted(rows: UnitRows, Y: Array, kept: Index, judged: Index, ridge: float) -> Array:
    """What the kept examples predict for the judged ones, each kept one left out for itself."""
    H = gram_block(rows[kept], rows[kept])
    np.fill_diagonal(H, 0.5 + ridge)
    factor, status = dpotrf(H, lower=1, overwrite_a=1)
    if status:
        raise SingularKernelError(f"The kernel of a window cannot be factorised with {ridge=:g}.")
    A, solved = dpotrs(factor, Y[kept], lower=1)
    inverse, status = dpotri(factor, lower=1, overwrite_c=1)
    if solved or status:
        raise SingularKernelError(f"The kernel of a window cannot be inverted with {ridge=:g}.")
    F: Array = gram_block(rows[judged], rows[kept]) @ A
    place = np.searchsorted(kept, judged)
    place[place == len(kept)] = 0
    inside = kept[place] == judged
    codes = place[inside]
    F[inside] = Y[kept[codes]] - A[codes] / np.diagonal(inverse)[codes, None]
    return F


def _quality(Y: Array, F: Array) -> float:
    if Y.shape[1] > 1:
        return float(np.mean(np.argmax(F, axis=1) == np.argmax(Y, axis=1)))
    return 1 - float(np.sum((Y - F) ** 2) / max(np.sum((Y - Y.mean()) ** 2), 1e-300))
