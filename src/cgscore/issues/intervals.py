"""Confidence intervals."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from cgscore.typing import Array


def wilson(share: float, count: int, deviations: float) -> tuple[float, float]:
    """Wilson's interval of a share that was observed in `count` cases.

    Unlike the normal approximation it has a width where the share is 0 or 1.
    """
    z2 = deviations**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    spread = np.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    half = deviations * float(spread) / (1 + z2 / count)
    return middle - half, middle + half


def mixture_interval(
    means: Array, deviations: Array, weights: Array, share: float = 0.95
) -> tuple[float, float]:
    """The central interval of a mixture of normal distributions that holds this share of it.

    Parameters
    ----------
    means, deviations : (m,) arrays
        The normal distributions.
    weights : (m,) array
        Their weights, which add up to 1.
    share : float
        Share of the mixture inside of the interval.
    """
    spread = np.maximum(deviations, 1e-9)
    low, high = float((means - 9 * spread).min()), float((means + 9 * spread).max())

    def quantile(level: float) -> float:
        return float(
            brentq(lambda x: float(weights @ ndtr((x - means) / spread)) - level, low, high)
        )

    return quantile((1 - share) / 2), quantile((1 + share) / 2)
