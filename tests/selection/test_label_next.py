"""Which unlabelled examples to label next."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.selection.label_next import label_next_lowrank

RIDGE = 0.05


def naive(X: np.ndarray, pool: np.ndarray, k: int) -> list[int]:
    """The total variance of the pool after each candidate, computed anew."""
    H = cgscore.gram(np.r_[X, pool])
    known, n, order = list(range(len(X))), len(X), []
    for _ in range(k):
        totals = {}
        for j in range(n, len(H)):
            if j in known:
                continue
            given = [*known, j]
            A = H[np.ix_(given, given)] + RIDGE * np.eye(len(given))
            B = H[np.ix_(given, range(n, len(H)))]
            totals[j] = np.trace(H[n:, n:]) - np.trace(B.T @ np.linalg.solve(A, B))
        best = min(totals, key=lambda j: totals[j])
        known.append(best)
        order.append(best - n)
    return order


def test_each_choice_leaves_the_least_variance() -> None:
    X = np.asarray(cgscore.read("sklearn:digits").X)
    labelled, pool = X[:30], X[100:150]
    expected = naive(labelled, pool, 6)
    found = cgscore.factor(labelled, ridge=RIDGE).next(pool, 6)
    assert found.tolist() == expected
    rows = unit_rows(np.r_[labelled, pool])
    same = label_next_lowrank(rows, 30, 6, ridge=RIDGE, seed=0, progress=Silent())
    assert same.order.tolist() == expected
    assert (np.diff(same.gains) < 0).all()


def test_what_is_labelled_already_is_not_chosen() -> None:
    X = np.asarray(cgscore.read("sklearn:digits").X[:80])
    pool = np.r_[X[:40], X[40:60] + 5.0]
    chosen = cgscore.factor(X[:40]).next(pool, 10)  # ridge 0
    assert (chosen >= 40).all()
    with pytest.raises(OptionError, match="k must be from 1 to the 60"):
        cgscore.factor(X[:40]).next(pool, 61)


@pytest.mark.parametrize("ridge", [0.0, 1e-13])
def test_a_pool_that_is_labelled_keeps_its_order(ridge: float) -> None:
    """Its variance is rounding, of which no landmark can be made."""
    X = np.random.default_rng(0).standard_normal((200, 8))
    factor = cgscore.factor(X, ridge=ridge)
    assert factor.next(X[:40], 5).tolist() == [0, 1, 2, 3, 4]
    assert factor.next(X[:40], 40).tolist() == list(range(40))
    for row in range(40):
        assert factor.next(X[row : row + 1], 1).tolist() == [0]


def test_one_new_example_among_labelled_ones_is_first() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    pool = np.r_[X[:150], rng.standard_normal((1, 8)), X[150:]]
    chosen = cgscore.factor(X).next(pool, 201)
    assert chosen[0] == 150
    assert sorted(chosen.tolist()) == list(range(201))
