"""Levels of a score: groups of equal size in its ascending order (paper, section 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, OptionError

LEVEL_COUNT = 10


def levels(scores: ArrayLike, count: int = LEVEL_COUNT) -> list[NDArray[np.intp]]:
    """Positions of the examples of each level, lowest scores first.

    Ties keep the order of the input. If `count` does not divide the number of examples, the first
    levels have one example more.
    """
    values = np.asarray(scores, np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise DataError(
            f"scores has the shape {values.shape} and {np.isnan(values).sum():,} missing values. "
            "Expected one number per example."
        )
    if not 1 <= count <= len(values):
        raise OptionError(
            f"count must be from 1 to the number of examples, {len(values):,}; got {count!r}."
        )
    return list(np.array_split(np.argsort(values, kind="stable"), count))
