"""Label noise for benches: an exact count, never to the true class, balanced over classes."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Name of a noise -> share of every class whose label is wrong.
RATES = {
    "5 % uniform": 0.05,
    "20 % uniform": 0.2,
    "30 % to one other class": 0.3,
    "20 % feature-dependent": 0.2,
    "50 % uniform": 0.5,
    "10 % uniform": 0.1,
    "20 % at the border": 0.2,
    "worst of three annotators": 0.15,  # of each annotator
}
NEIGHBOURS = 30


def noisy(X: Any, y: Any, kind: str, seed: int) -> Any:
    """Labels (0 to k - 1) with noise of a kind.

    Feature-dependent noise hits examples near another class: within each class they are drawn with
    a probability that falls by e for every standard deviation of the difference between the squared
    distances to the nearest other class mean and to their own; they get that class's label.

    At the border: examples are drawn from all classes together, with a probability proportional to
    0.3 plus the number of examples of other classes among the 30 nearest, and get the most frequent
    of those classes (that of the nearest other class mean where there is none).

    Worst of three annotators: each errs at an example with a probability proportional to 0.1 plus
    the share of other classes among the 30 nearest, 15 % on average and at most 70 %, and then
    names a class in proportion to its number among these plus 0.5. An example at which any of the
    three errs gets a wrong label of theirs, so that about a third are wrong.
    """
    if "annotators" in kind:
        return _worst_of_three(X, y, RATES[kind], seed)
    if "border" in kind:
        return _at_the_border(X, y, RATES[kind], seed)
    rng = np.random.default_rng([seed, list(RATES).index(kind)])
    k, wrong = int(y.max()) + 1, y.copy()
    other, gap = _nearest_other(X, y, k) if "feature" in kind else (None, None)
    for c in range(k):
        mine = np.flatnonzero(y == c)
        count = round(RATES[kind] * len(mine))
        if other is not None and gap is not None:
            chance = np.exp(-(gap[mine] - gap[mine].min()) / gap[mine].std())
            chosen = rng.choice(mine, count, replace=False, p=chance / chance.sum())
            wrong[chosen] = other[chosen]
        else:
            chosen = rng.choice(mine, count, replace=False)
            step = 1 if "one other" in kind else rng.integers(1, k, count)
            wrong[chosen] = (c + step) % k
    return wrong


def _nearest_other(X: Any, y: Any, k: int) -> tuple[Any, Any]:
    """The class, other than its own, whose mean is nearest to each example, and how much farther.

    Inputs are scaled to unit norm, as the scores scale them.
    """
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    means = np.stack([unit[y == c].mean(axis=0) for c in range(k)])
    apart = 1 - 2 * unit @ means.T + (means**2).sum(axis=1)
    rows = np.arange(len(y))
    own = apart[rows, y].copy()
    apart[rows, y] = np.inf
    return apart.argmin(axis=1), apart.min(axis=1) - own


def _at_the_border(X: Any, y: Any, rate: float, seed: int) -> Any:
    """Labels that are wrong where the nearest neighbours are of other classes."""
    n, k = len(y), int(y.max()) + 1
    rng = np.random.default_rng([seed, list(RATES).index("20 % at the border")])
    votes, rows = _neighbour_votes(X, y, k), np.arange(n)
    own = votes[rows, y].copy()
    votes[rows, y] = -1
    other = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), _nearest_other(X, y, k)[0])
    chance = 0.3 + votes.clip(0).sum(axis=1)
    assert np.allclose(own + votes.clip(0).sum(axis=1), min(NEIGHBOURS, n - 1))
    chosen = rng.choice(n, round(rate * n), replace=False, p=chance / chance.sum())
    wrong = y.copy()
    wrong[chosen] = other[chosen]
    return wrong


def _worst_of_three(X: Any, y: Any, rate: float, seed: int) -> Any:
    """Labels of which one is wrong if any of three annotators errs."""
    n, k = len(y), int(y.max()) + 1
    rng = np.random.default_rng([seed, list(RATES).index("worst of three annotators")])
    votes, rows = _neighbour_votes(X, y, k) + 0.5, np.arange(n)
    votes[rows, y] = 0
    contested = 0.1 + (votes.sum(axis=1) - 0.5 * (k - 1)) / min(NEIGHBOURS, n - 1)
    chance = np.minimum(0.7, rate * contested / contested.mean())
    named = votes.cumsum(axis=1) / votes.sum(axis=1, keepdims=True)
    wrong = y.copy()
    for _ in range(3):
        errs = rng.random(n) < chance
        label = (named > rng.random((n, 1))).argmax(axis=1)
        wrong[errs] = label[errs]
    return wrong


def _neighbour_votes(X: Any, y: Any, k: int, step: int = 1000) -> Any:
    """How many of the nearest neighbours of each example are of each class."""
    unit = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    n = len(unit)
    number = min(NEIGHBOURS, n - 1)
    votes = np.zeros((n, k))
    for start in range(0, n, step):
        alike = unit[start : start + step] @ unit.T
        rows = np.arange(len(alike))
        alike[rows, start + rows] = -np.inf
        near = np.argpartition(-alike, number - 1, axis=1)[:, :number]
        np.add.at(votes, (start + rows[:, None], y[near]), 1)
    return votes
