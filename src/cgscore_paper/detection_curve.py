"""How well a score finds wrong labels when the highest scores are examined first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from cgscore.typing import Array
from cgscore_paper.densities import density, edges

#: Shares of the examples at which curves are evaluated: every per cent.
EXAMINED_SHARES = np.linspace(0, 1, 101)


def found_shares(
    score: Array, wrong: NDArray[np.bool_], examined: Array = EXAMINED_SHARES
) -> Array:
    """The share of all wrong labels that is found after each share of examples is examined.

    The highest scores are examined first. Examples with the same score, which are many for
    forgetting, count as in the mean over their orders: the curve is straight between them.
    """
    _, group = np.unique(-score, return_inverse=True)
    seen = np.cumsum(np.bincount(group)) / len(score)
    hits = np.cumsum(np.bincount(group, weights=wrong)) / wrong.sum()
    return np.asarray(np.interp(examined, np.append(0, seen), np.append(0, hits)))


def found_at_count(score: Array, wrong: NDArray[np.bool_]) -> float:
    """The share of the wrong labels found when as many are examined as are wrong."""
    return float(found_shares(score, wrong, np.array([wrong.mean()]))[0])


def auroc(score: Array, wrong: NDArray[np.bool_]) -> float:
    """The chance that a wrong label has a higher score than a right one; a tie is half a chance."""
    count = int(wrong.sum())
    above = rankdata(score)[wrong].sum() - count * (count + 1) / 2
    return float(above / (count * (len(wrong) - count)))


def average_precision(score: Array, wrong: NDArray[np.bool_]) -> float:
    """The mean, over wrong labels, of the share of wrong ones from the top down to each."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(wrong, score))


def detection_numbers(wrong: NDArray[np.bool_], scores: Mapping[str, Array]) -> dict[str, Any]:
    """What is drawn or tabulated of scores that are higher for wrong labels, as JSON can write it.

    For each score the curve at `EXAMINED_SHARES`, the AUROC and the share found among as many as
    are wrong; and densities of ``cg`` for right and wrong labels.
    """
    bin_edges = edges(scores["cg"])
    return {
        "examples": len(wrong),
        "wrong": int(wrong.sum()),
        "scores": {
            by: {
                "auroc": auroc(score, wrong),
                "found_among_as_many": found_at_count(score, wrong),
                # four digits are finer than what is drawn
                "found": np.round(found_shares(score, wrong), 4).tolist(),
            }
            for by, score in scores.items()
        },
        "density": {
            "from": float(bin_edges[0]),
            "to": float(bin_edges[-1]),
            "right": density(scores["cg"][~wrong], bin_edges).tolist(),
            "wrong": density(scores["cg"][wrong], bin_edges).tolist(),
        },
    }
