"""Anchors: the examples whose predictions are most certain.

The prediction of an example does not depend on its own label. So the given labels of the examples
that are certainly of class c are draws from row c of the noise matrix, with little confusion of
similar classes among them.

Where classes overlap, even anchors are confused with other classes. It shows: among the most
certain of them far fewer labels differ. Then a smaller share is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgscore.issues.calibration import Calibration
from cgscore.issues.intervals import wilson
from cgscore.typing import Array, Index
from cgscore.valuation import row_chunks

ANCHOR_SHARES = (0.25, 0.1, 0.05, 0.025)  # of the examples predicted to be of each class
MIN_ANCHORS = 200  # or all examples, where there are fewer
MIN_DEVIATIONS = 3.0  # by which the rate must fall before a smaller share is taken


@dataclass(frozen=True)
class Anchors:
    """Given labels of the anchors.

    Attributes
    ----------
    counts : (k, k) array
        Number of anchors of each predicted class (rows) with each given label (columns).
    overlap : bool
        Whether a smaller share was taken because classes overlap.
    """

    counts: Array
    overlap: bool

    def __len__(self) -> int:
        return int(self.counts.sum())


def choose_anchors(
    predicted: Index, certainty: Array, codes: Index, k: int, shares: tuple[float, ...]
) -> Anchors:
    """The most certain examples of each predicted class.

    Parameters
    ----------
    predicted, certainty : (n,) arrays
        The predicted class, and a number that is higher where that is more certain.
    codes : (n,) array
        The given class.
    k : int
        Number of classes.
    shares : tuple of float
        Shares of each class to consider, descending. A smaller share replaces a larger one where
        its labels differ less often, by more than `MIN_DEVIATIONS` deviations.
    """
    anchors, anchor_rate, overlap = np.empty(0, np.intp), np.inf, False
    for share in shares:
        chosen = most_certain(predicted, certainty, k, share)
        rate = float(np.mean(predicted[chosen] != codes[chosen]))
        if wilson(rate, len(chosen), MIN_DEVIATIONS)[1] < anchor_rate:
            overlap = len(anchors) > 0
            anchors, anchor_rate = chosen, rate
    counts = np.zeros((k, k))
    np.add.at(counts, (predicted[anchors], codes[anchors]), 1)
    return Anchors(counts, overlap)


def most_certain(predicted: Index, certainty: Array, k: int, share: float) -> Index:
    """Positions of the most certain share of each predicted class, `MIN_ANCHORS` or all in all."""
    n = len(predicted)
    order = np.lexsort((np.arange(n), -certainty, predicted))  # by class, the most certain first
    size = np.bincount(predicted, minlength=k)
    rank = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    bounded = min(1.0, max(share, MIN_ANCHORS / n))
    positions: Index = order[rank < np.ceil(bounded * size)[predicted[order]]]
    return positions


def certainty_by_gap(F: Array) -> tuple[Index, Array]:
    """The predicted class, and how far its prediction is above the second."""
    n, k = F.shape
    predicted, gap = np.empty(n, np.intp), np.empty(n)
    for chunk in row_chunks(n, k):
        ordered = np.partition(F[chunk], k - 2, axis=1)
        gap[chunk] = ordered[:, -1] - ordered[:, -2]
        predicted[chunk] = np.argmax(F[chunk], axis=1)
    return predicted, gap


def certainty_by_probability(F: Array, calibration: Calibration) -> tuple[Index, Array]:
    """The most probable class, and its probability."""
    predicted, largest = np.empty(len(F), np.intp), np.empty(len(F))
    for chunk in row_chunks(*F.shape):
        q = calibration.probabilities(F[chunk])
        predicted[chunk], largest[chunk] = np.argmax(q, axis=1), q.max(axis=1)
    return predicted, largest
