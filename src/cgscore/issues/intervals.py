"""Confidence intervals."""

from __future__ import annotations

import numpy as np


def wilson(share: float, count: int, deviations: float) -> tuple[float, float]:
    """Wilson's interval of a share that was observed in `count` cases.

    Unlike the normal approximation it has a width where the share is 0 or 1.
    """
    z2 = deviations**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    spread = np.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    half = deviations * float(spread) / (1 + z2 / count)
    return middle - half, middle + half
