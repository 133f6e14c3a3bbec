"""Rank correlation."""

from __future__ import annotations

from scipy.stats import spearmanr

from cgscore.typing import Array


def spearman(a: Array, b: Array) -> float:
    """Spearman's rank correlation; tied values share the mean of their ranks."""
    return float(spearmanr(a, b).statistic)
