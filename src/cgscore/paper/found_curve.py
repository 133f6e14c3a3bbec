"""How well a score finds wrong labels, examples being looked at from the highest score down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgscore.kernel import Array


def detection_curve(score: Array, wrong: NDArray[np.bool_]) -> Array:
    """Shares of the wrong labels among the highest 0, 1, ... 100 % of the examples."""
    ranked = np.argsort(-score, kind="stable")
    found = np.concatenate([[0], np.cumsum(wrong[ranked])])
    seen = np.rint(np.linspace(0, 1, 101) * len(score)).astype(np.intp)
    return np.asarray(found[seen] / found[-1])


def found_at_count(score: Array, wrong: NDArray[np.bool_]) -> float:
    """The share of the wrong labels among the highest examples, as many as are wrong."""
    ranked = np.argsort(-score, kind="stable")
    return float(wrong[ranked[: wrong.sum()]].mean())


def auroc(score: Array, wrong: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: how often a wrong label is higher than a right one."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(wrong, score))


def average_precision(score: Array, wrong: NDArray[np.bool_]) -> float:
    """The mean, over wrong labels, of the share of wrong ones from the top down to each."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(wrong, score))
