"""The orders in which examples are removed.

Examples are sorted by a score, within each class or all together, and a fixed number of them stays.
`ORDERS` has one function for each order, which picks from the examples of one group:

==============  ==================================================================================
order           what stays
==============  ==================================================================================
``low-first``   the highest scores: hard and rare examples, and wrong labels if there are any
``high-first``  the lowest scores: typical examples
``window``      a run of the ascending order that starts at `offset` (the paper's appendix B);
                the lowest and the highest scores are both left out
``stratified``  examples of every level of the score, drawn at random within a level: in proportion
                to the sizes of the levels where few examples stay, evenly where most do
``random``      examples drawn at random: the baseline
``greedy``      the first of a ranking by kernel regression (`greedy.py`); it needs the inputs
``auto``        the same without suspected label errors
==============  ==================================================================================

The last two sort by the ranking instead of a score, the first within each class or all together.

A score says what an example is worth beside all others. Where most examples go, similar ones, each
of them worth little beside the others, go together. Then windows and strata are better than either
end. Kernel regression finds where a window should start (`window.py`).

Ties are in the order of the input. Draws follow from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import OptionError
from cgscore.execution.random_streams import stream
from cgscore.selection.quotas import class_quotas, quotas
from cgscore.spelling import for_reader
from cgscore.typing import Array, Index

STRATA = 20  # levels of a score


@dataclass(frozen=True)
class Group:
    """The examples of one class, or all of them.

    Attributes
    ----------
    ranked : (m,) array
        Positions of the examples, by ascending score.
    values : (m,) array
        Their scores.
    count : int
        How many stay.
    offset : float
        Where a window starts, as a share of the group.
    rng : Generator
        The source of draws.
    """

    ranked: Index
    values: Array
    count: int
    offset: float
    rng: np.random.Generator


def _low_first(group: Group) -> Index:
    return group.ranked[len(group.ranked) - group.count :]


def _high_first(group: Group) -> Index:
    return group.ranked[: group.count]


def _window(group: Group) -> Index:
    size = len(group.ranked)
    start = min(round(group.offset * size), size - group.count)
    return group.ranked[start : start + group.count]


def _stratified(group: Group) -> Index:
    """Examples of every level, in proportion to its size to the power of the removed share."""
    if not group.count:
        return group.ranked[:0]
    level = _levels(group.values)
    strata = [group.ranked[level == number] for number in np.unique(level)]
    sizes = np.array([len(stratum) for stratum in strata], np.intp)
    weights = np.float64(sizes) ** (1 - group.count / len(group.ranked))
    counts = quotas(sizes, group.count, weights)
    drawn = [
        group.rng.choice(stratum, count, replace=False)
        for stratum, count in zip(strata, counts, strict=True)
    ]
    return np.concatenate(drawn)


def _random(group: Group) -> Index:
    return group.rng.choice(group.ranked, group.count, replace=False)


#: The function of each order: the positions of a group that stay, in any order.
ORDERS: dict[str, Callable[[Group], Index]] = {
    "low-first": _low_first,
    "high-first": _high_first,
    "window": _window,
    "stratified": _stratified,
    "random": _random,
}

#: Orders that sort by the ranking of `greedy.py` in place of a score.
RANKED_ORDERS = ("greedy", "auto")


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
        The class of each example, or the same number for all.
    count : int
        Examples that stay; every group keeps the same share.
    order : str
        One of `ORDERS`.
    offset : float
        Where a window starts, as a share of each group.
    seed : int
        Seed of the draws.
    """
    rng = stream(seed, "selection")
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    stay = []
    for members, quota in zip(
        np.split(by_group, np.cumsum(sizes)[:-1]), class_quotas(sizes, count), strict=True
    ):
        ranked = members[np.argsort(values[members], kind="stable")]
        stay.append(ORDERS[order](Group(ranked, values[ranked], int(quota), offset, rng)))
    return np.sort(np.concatenate(stay))


def check_selection(fraction: float, order: str, offset: float | None, seed: int = 0) -> None:
    """Raise `OptionError` for options that cannot be used, before any work."""
    numbers: tuple[object, ...] = (fraction, 0 if offset is None else offset)
    if not all(isinstance(number, Real) for number in numbers) or not 0 < fraction <= 1:
        name = for_reader(python="fraction", command_line="--keep")
        raise OptionError(f"{name} must be above 0 and at most 1; got {fraction!r}.")
    number: object = seed
    if not isinstance(number, Integral) or seed < 0:
        raise OptionError(f"seed must be a whole number, 0 or larger; got {seed!r}.")
    names = (*ORDERS, *RANKED_ORDERS)
    if order not in names:
        raise OptionError(f"order must be one of {', '.join(names)}; got {order!r}.")
    if offset is None:
        return
    if order != "window":
        raise OptionError(f"offset is for order='window'; got order={order!r}. Leave offset out.")
    if not 0 <= offset <= 1 or offset + fraction > 1 + 1e-9:
        raise OptionError(
            f"offset must be from 0 to {1 - fraction:g} for fraction={fraction:g}; got {offset:g}."
        )


def as_positions(positions: ArrayLike, n: int) -> Index:
    """Positions of examples, from positions or from a mask of all n."""
    values = np.asarray(positions)
    if values.dtype == bool and values.shape == (n,):
        return np.flatnonzero(values)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "iu"):
        raise OptionError(
            f"Expected positions, or a mask of {n:,} examples; got {values.dtype} of the shape "
            f"{values.shape}."
        )
    if len(values) and not 0 <= values.min() <= values.max() < n:
        raise OptionError(
            f"Positions from {values.min()} to {values.max()} do not fit {n:,} examples: expected "
            f"positions from 0 to {n - 1:,}."
        )
    return values.astype(np.intp)


def _levels(values: Array) -> Index:
    """The level of each of these ascending values.

    Levels are equally wide on a scale that is linear around the median and logarithmic far from it,
    since scores have long tails.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.zeros(len(values), np.intp)
    bounded = np.clip(values, finite[0], finite[-1])
    centred = bounded - np.median(bounded)
    width = float(np.median(np.abs(centred))) or 1.0
    scale = np.arcsinh(centred / width)
    edges = np.linspace(scale[0], scale[-1], STRATA + 1)[1:-1]
    levels: Index = np.searchsorted(edges, scale, side="right")
    return levels
