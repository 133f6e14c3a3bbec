"""Densities of scores, counted in bins and drawn as steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cgscore.kernel import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 60
#: Shares of all scores between which densities are drawn: a few are far out.
CLIPPED = (0.005, 0.995)
#: What a caption says of it.
TOLD = "Axes leave out the lowest and the highest 0.5 % of scores."


def edges(scores: Array, bins: int = BINS) -> Array:
    """Bins of equal width, ``bins + 1`` edges, between the shares `CLIPPED` of the scores."""
    low, high = np.quantile(scores, CLIPPED)
    return np.linspace(low, high, bins + 1)


def density(scores: Array, among: Array) -> Array:
    """The share of scores in each bin over its width; scores outside count in the whole."""
    counts, _ = np.histogram(scores, among)
    return np.asarray(counts / (len(scores) * np.diff(among)))


def steps(axes: Axes, found: Array, among: Array, colour: str, label: str) -> None:
    """Draw a density as filled steps."""
    axes.stairs(found, among, fill=True, color=colour, alpha=0.3, linewidth=0, label=label)
    axes.stairs(found, among, color=colour, linewidth=1.2)
