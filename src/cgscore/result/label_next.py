"""Which unlabelled examples to label next, beside those of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cgscore.execution.progress import Listener, reporter
from cgscore.kernel import as_matrix, unit_rows
from cgscore.labels import as_labels
from cgscore.selection.greedy import Ranking
from cgscore.selection.label_next import MAX_LANDMARKS, label_next_lowrank
from cgscore.selection.window import centred
from cgscore.solvers.ridge_search import least_error, ridge_sample

if TYPE_CHECKING:
    from cgscore.result.scores import Scores


def label_next(
    scores: Scores,
    X: ArrayLike,
    X_pool: ArrayLike,
    k: int,
    *,
    landmarks: int = MAX_LANDMARKS,
    seed: int = 0,
    progress: bool | Listener | None = None,
) -> Ranking:
    """Positions of the pool in the order in which they should be labelled.

    Parameters
    ----------
    scores : Scores
        Of the labelled examples; their ridge is that by which labels are judged, or one chosen on a
        sample.
    X, X_pool : arrays
        Inputs of the labelled examples and of the pool, in the same columns.
    k, landmarks, seed, progress
        As for `Factor.next` and `Scores.keep`.
    """
    rows = unit_rows(np.vstack([as_matrix(X), as_matrix(X_pool, "X_pool")]), kernel=scores.kernel)
    n, ridge = len(scores), scores.judging_ridge
    if ridge == 0:
        labels = as_labels(scores.table["given_label"].to_numpy(), n, scores.meta["task"])
        sample = ridge_sample(labels.codes, seed)
        targets = labels.targets() if len(labels.classes) else centred(labels.targets())
        ridge = least_error(rows[sample], targets[sample]).ridge
    return label_next_lowrank(
        rows, n, k, ridge=ridge, landmarks=landmarks, seed=seed, progress=reporter(progress)
    )
