"""Histograms of scores, drawn as steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from cgscore.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 60
#: Quantiles between which densities are drawn, as a few scores are far out.
SHOWN_QUANTILES = (0.005, 0.995)
#: The sentence for captions.
CLIPPING_NOTE = "Axes leave out the lowest and the highest 0.5 % of scores."


def edges(scores: Array, bins: int = BINS) -> Array:
    """Bins of equal width, ``bins + 1`` edges, between `SHOWN_QUANTILES`."""
    low, high = np.quantile(scores, SHOWN_QUANTILES)
    return np.linspace(low, high, bins + 1)


def density(scores: Array, bin_edges: Array) -> Array:
    """The share of all scores in each bin, divided by its width."""
    counts, _ = np.histogram(scores, bin_edges)
    return np.asarray(counts / (len(scores) * np.diff(bin_edges)))


def steps(axes: Axes, heights: Array, bin_edges: Array, colour: str, label: str) -> None:
    """Draw a density as filled steps."""
    axes.stairs(heights, bin_edges, fill=True, color=colour, alpha=0.3, linewidth=0, label=label)
    axes.stairs(heights, bin_edges, color=colour, linewidth=1.2)


def log_axis(axes: Axes, heights: Iterable[Array]) -> None:
    """A logarithmic y-axis for densities, of which a few bins are far higher than the rest."""
    positive = [height for part in heights for height in part if height > 0]
    axes.set_yscale("log")
    axes.set_ylim(min(positive) / 2, 2 * max(positive))
