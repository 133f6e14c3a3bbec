"""Ways of choosing examples that train nothing and know no kernel: rankings within classes.

herding    next comes the example that brings the mean of those taken nearest to the mean of the
           class (Welling, 2009)
k-centre   next comes the example that is farthest from those taken (Sener and Savarese, 2018); the
           first is the one nearest to the mean
moderate   examples whose distance from the middle of the class is nearest to the median distance
           come first (Xia et al., 2023)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def herding(X: Any, count: int) -> Any:
    products, towards_mean = X @ X.T, X @ X.mean(axis=0)
    score, order = towards_mean.copy(), []
    is_open = np.ones(len(X), bool)
    for _ in range(count):
        j = int(np.argmax(np.where(is_open, score, -np.inf)))
        is_open[j] = False
        order.append(j)
        score += towards_mean - products[j]
    return np.array(order)


def k_centre(X: Any, count: int) -> Any:
    j = int(np.argmin(((X - X.mean(axis=0)) ** 2).sum(axis=1)))
    products = X @ X.T
    squares = np.diag(products)
    apart, order = np.full(len(X), np.inf), []
    for _ in range(count):
        order.append(j)
        apart = np.minimum(apart, squares + squares[j] - 2 * products[j])
        apart[j] = -np.inf
        j = int(np.argmax(apart))
    return np.array(order)


def moderate(X: Any, count: int) -> Any:
    apart = np.sqrt(((X - np.median(X, axis=0)) ** 2).sum(axis=1))
    return np.argsort(np.abs(apart - np.median(apart)), kind="stable")[:count]


CORESETS: dict[str, Callable[[Any, int], Any]] = {
    "herding": herding,
    "k-centre": k_centre,
    "moderate": moderate,
}


def ranked(name: str, X: Any, labels: Any, most: float) -> dict[Any, Any]:
    """The first share `most` of every class, in the order of a way: class -> positions."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    found = {}
    for label in np.unique(labels):
        mine = np.flatnonzero(labels == label)
        found[label] = mine[CORESETS[name](unit[mine], max(1, round(most * len(mine))))]
    return found


def first(order: dict[Any, Any], labels: Any, fraction: float) -> Any:
    """The first share of every class, ascending."""
    counts = {label: max(1, round(fraction * int((labels == label).sum()))) for label in order}
    return np.sort(np.concatenate([order[label][:count] for label, count in counts.items()]))
