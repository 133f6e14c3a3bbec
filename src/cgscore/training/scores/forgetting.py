"""Forgetting events: how often a correctly classified example is wrong an epoch later.

The paper (appendix D.3) counts, over epochs t = 2 ... T, how often the prediction changes from
right at t - 1 to wrong at t. An example that is never right is never forgotten and gets 0, like the
easiest ones. The original definition (Toneva et al., 2019) ranks such examples last instead; here
they then get ``T``, which is larger than any possible number of events.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import DataError, OptionError
from cgscore.typing import Array

NEVER_LEARNED = ("zero", "last")


def forgetting(correct: ArrayLike, *, never_learned: str = "zero") -> Array:
    """Mean number of forgetting events of every example.

    Parameters
    ----------
    correct : (epochs, n) or (runs, epochs, n) array
        Whether each example was classified correctly after each epoch.
    never_learned : {"zero", "last"}
        Score of an example in a training in which it was never right: 0 as in the paper, or the
        number of epochs, which is larger than every other score.

    Returns
    -------
    (n,) array
    """
    if never_learned not in NEVER_LEARNED:
        raise OptionError(
            f"never_learned must be one of {', '.join(NEVER_LEARNED)}; got {never_learned!r}."
        )
    right = np.asarray(correct)
    if right.ndim == 2:
        right = right[None]
    if right.ndim != 3 or not all(right.shape[:2]):
        raise DataError(
            f"correct has the shape {right.shape}. Expected (epochs, n) or (runs, epochs, n)."
        )
    if not np.isin(right, (0, 1)).all():
        raise DataError("correct has values other than 0 and 1. Expected right or wrong.")
    right = right.astype(bool)
    events = (right[:, :-1] & ~right[:, 1:]).sum(axis=1, dtype=np.float64)
    if never_learned == "last":
        events[~right.any(axis=1)] = right.shape[1]
    mean: Array = events.mean(axis=0)
    return mean
