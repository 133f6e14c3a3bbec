"""How many examples of each group stay."""

from __future__ import annotations

import numpy as np

from cgscore.typing import Array, Index


def quotas(sizes: Index, count: int, weights: Array | None = None) -> Index:
    """How many of each group stay, so that `count` stay in all.

    Parameters
    ----------
    sizes : (g,) array
        Sizes of the groups; no quota is larger.
    count : int
        Examples that stay.
    weights : (g,) array, optional
        Quotas are proportional to these; by default to the sizes.

    Returns
    -------
    (g,) array
        Whole numbers. The largest remainders are rounded up, the first of equals.
    """
    weights = sizes.astype(np.float64) if weights is None else weights
    exact = np.zeros(len(sizes))
    unfilled = sizes > 0
    while unfilled.any():
        remaining = count - exact[~unfilled].sum()
        quota = weights * (remaining / weights[unfilled].sum())
        full = unfilled & (quota >= sizes)
        exact[unfilled] = np.where(full, sizes, quota)[unfilled]
        if not full.any():
            break
        unfilled &= ~full
    whole: Index = np.floor(exact + 1e-9).astype(np.intp)
    remainder = np.where(whole < sizes, exact - whole, -1.0)
    whole[np.argsort(-remainder, kind="stable")[: count - whole.sum()]] += 1
    return whole


def class_quotas(sizes: Index, count: int) -> Index:
    """The same share of every class, and at least one example of each where `count` allows it."""
    whole = quotas(sizes, count)
    if count >= (sizes > 0).sum():
        for empty in np.flatnonzero((whole == 0) & (sizes > 0)):
            whole[np.argmax(whole)] -= 1
            whole[empty] += 1
    return whole
