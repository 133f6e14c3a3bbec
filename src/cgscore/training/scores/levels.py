"""Examples in equal groups by a score, as the paper looks at training dynamics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, OptionError

LEVELS = 10


def levels(scores: ArrayLike, count: int = LEVELS) -> list[NDArray[np.intp]]:
    """Positions of examples in ascending order of the score, cut into `count` equal groups.

    Ties are in the order of the input; where sizes cannot be equal, the first groups have one more.
    """
    values = np.asarray(scores, np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise DataError(
            f"scores has the shape {values.shape} and {np.isnan(values).sum():,} missing values. "
            "Expected one number per example."
        )
    if not 1 <= count <= len(values):
        raise OptionError(
            f"{len(values):,} examples cannot be cut into {count} groups. Expected 1 to "
            f"{len(values):,}."
        )
    return list(np.array_split(np.argsort(values, kind="stable"), count))
