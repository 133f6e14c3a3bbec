"""Which examples to keep.

Examples are sorted by a score, within each class or all together, and a fixed number of them stays:

==============  ==================================================================================
order           what stays
==============  ==================================================================================
``low-first``   the highest: the hard, the rare and, if there are any, the wrong
``high-first``  the lowest: the typical
``window``      a run of the ascending order that starts at `offset` (the paper's appendix B); the
                lowest share ``offset`` and the highest are both left out
``stratified``  some of every level of the score, drawn at random within a level: in proportion to
                how many there are if few examples stay, the more alike the more stay
``random``      whatever is drawn: the baseline
==============  ==================================================================================

Single scores say what an example is worth beside all others. When most examples go, those that were
worth little because others were like them go together, and nobody is left to stand for them: then
windows and strata are better than either end. Where the window should start is found by kernel
regression (`best_window.py`).

Ties are in the order of the input, draws follow from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import OptionError
from cgscore.kernel import Array

Index = NDArray[np.intp]

ORDERS = ("low-first", "high-first", "window", "stratified", "random")
LEVELS = 20  # of a score, for strata


def check_selection(fraction: float, order: str, offset: float | None, seed: int = 0) -> None:
    """Refuse what makes no sense, before any work."""
    numbers: tuple[object, ...] = (fraction, 0 if offset is None else offset)
    if not all(isinstance(one, Real) for one in numbers) or not 0 < fraction <= 1:
        raise OptionError(f"fraction={fraction!r} makes no sense. Expected a share of 0 to 1.")
    whole: object = seed
    if not isinstance(whole, Integral) or seed < 0:
        raise OptionError(f"seed={seed!r} makes no sense. Expected a whole number from 0 up.")
    if order not in ORDERS:
        raise OptionError(f"order={order!r} is not known. Choose one of: {', '.join(ORDERS)}.")
    if offset is None:
        return
    if order != "window":
        raise OptionError(f"offset= is for order='window', not {order!r}.")
    if not 0 <= offset <= 1 or offset + fraction > 1 + 1e-9:
        raise OptionError(
            f"A window from {offset:g} to {offset + fraction:g} of the examples makes no sense. "
            f"Expected an offset of 0 to {1 - fraction:g}."
        )


def as_positions(kept: ArrayLike, n: int) -> Index:
    """Positions of examples, from positions or a mask of all n."""
    values = np.asarray(kept)
    if values.dtype == bool and values.shape == (n,):
        return np.flatnonzero(values)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "iu"):
        raise OptionError(
            f"Expected positions, or a mask of {n:,} examples; found {values.dtype} of the shape "
            f"{values.shape}."
        )
    if len(values) and not 0 <= values.min() <= values.max() < n:
        raise OptionError(
            f"Positions from {values.min()} to {values.max()} do not fit {n:,} examples."
        )
    return values.astype(np.intp)


def quotas(sizes: Index, count: int, weights: Array | None = None) -> Index:
    """How many of each group stay, so that `count` stay in all.

    In proportion to `weights` (by default to sizes, so that shares are alike), but none beyond its
    size. Remainders go to the largest ones, the first of equals.
    """
    weights = sizes.astype(np.float64) if weights is None else weights
    exact = np.zeros(len(sizes))
    open_ones = sizes > 0
    while open_ones.any():
        left = count - exact[~open_ones].sum()
        share = weights * (left / weights[open_ones].sum())
        full = open_ones & (share >= sizes)
        exact[open_ones] = np.where(full, sizes, share)[open_ones]
        if not full.any():
            break
        open_ones &= ~full
    whole: Index = np.floor(exact + 1e-9).astype(np.intp)
    remainder = np.where(whole < sizes, exact - whole, -1.0)
    whole[np.argsort(-remainder, kind="stable")[: count - whole.sum()]] += 1
    return whole


def class_quotas(sizes: Index, count: int) -> Index:
    """The same share of every class; none vanishes as long as there is one for each."""
    whole = quotas(sizes, count)
    if count >= (sizes > 0).sum():
        for empty in np.flatnonzero((whole == 0) & (sizes > 0)):
            whole[np.argmax(whole)] -= 1
            whole[empty] += 1
    return whole


def select(
    values: Array,
    groups: Index,
    count: int,
    *,
    order: str,
    offset: float = 0.0,
    seed: int = 0,
) -> Index:
    """Positions of the `count` examples that stay, ascending.

    Parameters
    ----------
    values : (n,) array
        The score.
    groups : (n,) array
        The class of each example, or all alike.
    order, offset
        As above; `offset` counts examples of a group, as a share.
    """
    draw = np.random.default_rng(seed)
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    kept = []
    for members, few in zip(
        np.split(by_group, np.cumsum(sizes)[:-1]), class_quotas(sizes, count), strict=True
    ):
        ranked = members[np.argsort(values[members], kind="stable")]
        kept.append(_PICKS[order](ranked, values, int(few), offset, draw))
    return np.sort(np.concatenate(kept))


def _window(ranked: Index, values: Array, few: int, offset: float, draw: object) -> Index:
    start = min(round(offset * len(ranked)), len(ranked) - few)
    return ranked[start : start + few]


def _stratified(
    ranked: Index, values: Array, few: int, offset: float, draw: np.random.Generator
) -> Index:
    """Some of every level, in proportion to its size to the power of the share that goes.

    Levels are equally wide on a scale that is even around the median and logarithmic far from it,
    since scores have long tails.
    """
    if not few:
        return ranked[:0]
    level = _levels(values[ranked])
    members = [ranked[level == one] for one in np.unique(level)]
    sizes = np.array([len(one) for one in members], np.intp)
    counts = quotas(sizes, few, np.float64(sizes) ** (1 - few / len(ranked)))
    drawn = [draw.choice(one, n, replace=False) for one, n in zip(members, counts, strict=True)]
    return np.concatenate(drawn)


def _levels(values: Array) -> Index:
    """The level of each value, ascending values given."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.zeros(len(values), np.intp)
    bounded = np.clip(values, finite[0], finite[-1])
    middle = bounded - np.median(bounded)
    width = float(np.median(np.abs(middle))) or 1.0
    scale = np.arcsinh(middle / width)
    edges = np.linspace(scale[0], scale[-1], LEVELS + 1)[1:-1]
    found: Index = np.searchsorted(edges, scale, side="right")
    return found


Pick = Callable[[Index, Array, int, float, np.random.Generator], Index]
_PICKS: dict[str, Pick] = {
    "low-first": lambda ranked, values, few, offset, draw: ranked[len(ranked) - few :],
    "high-first": lambda ranked, values, few, offset, draw: ranked[:few],
    "window": _window,
    "stratified": _stratified,
    "random": lambda ranked, values, few, offset, draw: draw.choice(ranked, few, replace=False),
}
