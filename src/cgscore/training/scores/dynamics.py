"""Training dynamics by score: how fast examples are learned (paper, section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import DataError
from cgscore.training.scores.levels import LEVEL_COUNT, levels

if TYPE_CHECKING:
    import pandas as pd


def dynamics(
    scores: ArrayLike, loss: ArrayLike, correct: ArrayLike, *, count: int = LEVEL_COUNT
) -> pd.DataFrame:
    """Mean loss and accuracy of each level of a score after each epoch.

    Parameters
    ----------
    scores : (n,) array
        The score; levels are groups of equal size in its ascending order.
    loss, correct : (epochs, n) arrays
        Loss of every example after each epoch, and whether it was classified correctly.
    count : int
        Number of levels.

    Returns
    -------
    DataFrame
        ``epoch`` and ``level``, both counted from 1, level 1 has the lowest scores; ``loss`` and
        ``accuracy``.
    """
    import pandas as pd

    groups = levels(scores, count)
    n = sum(map(len, groups))
    means = {}
    for name, given in (("loss", loss), ("correct", correct)):
        values = np.asarray(given, np.float64)
        if values.ndim != 2 or values.shape[1] != n:
            raise DataError(
                f"{name} has the shape {values.shape}. Expected (epochs, {n}): one row per epoch, "
                "one column per scored example."
            )
        means[name] = np.stack([values[:, group].mean(axis=1) for group in groups], axis=1)
    if means["loss"].shape != means["correct"].shape:
        raise DataError(
            f"loss has {len(means['loss']):,} epochs and correct {len(means['correct']):,}. "
            "Expected the same number."
        )
    epoch, level = np.indices(means["loss"].shape).reshape(2, -1) + 1
    table: pd.DataFrame = pd.DataFrame(
        {
            "epoch": epoch,
            "level": level,
            "loss": means["loss"].ravel(),
            "accuracy": means["correct"].ravel(),
        }
    )
    return table
