"""Wrong labels as the paper's experiments have them: an exact count, balanced over classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError

Index = NDArray[np.intp]


def wrong_labels(codes: Index, rate: float, seed: int) -> Index:
    """Labels (0 to k - 1) of which a share is wrong.

    Of every class the same share, to the nearest whole number, gets the labels of the other classes
    in equal parts, and never its own (paper, appendix G: of 4,000 wrong labels of a class about 445
    go to each of nine). The classes that get one more are the next ones, so that classes
    of equal size stay equal.
    """
    if not 0 <= rate < 1:
        raise OptionError(f"rate={rate!r} makes no sense. Expected a share from 0 to below 1.")
    rng = np.random.default_rng([seed, round(1000 * rate)])
    k, given = int(codes.max()) + 1, codes.copy()
    for c in range(k):
        mine = np.flatnonzero(codes == c)
        chosen = rng.choice(mine, round(rate * len(mine)), replace=False)
        given[chosen] = (c + 1 + np.arange(len(chosen)) % (k - 1)) % k
    return np.asarray(given, np.intp)
