"""Wrong labels of the paper's experiments: an exact count, balanced over classes."""

from __future__ import annotations

import numpy as np

from cgscore.errors import OptionError
from cgscore.typing import Index


def wrong_labels(codes: Index, rate: float, seed: int) -> Index:
    """Labels (0 to k - 1) of which a share is wrong.

    The same share of every class, rounded to a whole number of examples, is given the labels of the
    other classes in equal parts (paper, appendix G: of 4,000 wrong labels of a class about 445 go
    to each of nine others). Where the parts cannot be equal, the following classes get one more, so
    that classes of equal size stay equal.
    """
    if not 0 <= rate < 1:
        raise OptionError(f"rate must be from 0 to below 1; got {rate!r}.")
    rng = np.random.default_rng([seed, round(1000 * rate)])
    k, given = int(codes.max()) + 1, codes.copy()
    for c in range(k):
        members = np.flatnonzero(codes == c)
        flipped = rng.choice(members, round(rate * len(members)), replace=False)
        given[flipped] = (c + 1 + np.arange(len(flipped)) % (k - 1)) % k
    return np.asarray(given, np.intp)
