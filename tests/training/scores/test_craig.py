"""CRAIG against all subsets of small sets."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgscore.errors import OptionError
from cgscore.training.scores import craig as module
from cgscore.training.scores.craig import (
    craig,
    lazy_greedy,
    plain_greedy,
    stochastic_greedy,
)


def probabilities(n: int, k: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


def distances(G: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.norm(G[:, None] - G[None], axis=2)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_greedy_reaches_its_share_of_the_best(seed: int) -> None:
    G, count = probabilities(11, 3, seed), 3
    d = distances(G)
    top = d.max()

    def gain(rows: tuple[int, ...] | np.ndarray) -> float:
        return float((top - d[:, list(rows)].min(axis=1)).sum())

    best = max(gain(rows) for rows in combinations(range(11), count))
    assert best >= gain(lazy_greedy(G, count)) >= (1 - 1 / math.e) * best
    single = min(range(11), key=lambda j: d[:, j].sum())
    assert lazy_greedy(G, 1).tolist() == [single]  # one choice is the best choice


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(2, 5), st.booleans(), st.data())
def test_lazy_is_plain_greedy(seed: int, n: int, k: int, coarse: bool, data: st.DataObject) -> None:
    G = probabilities(n, k, seed)
    if coarse:  # many ties and equal rows
        G = np.round(G * 3) / 3
    count = data.draw(st.integers(1, n))
    lazy = lazy_greedy(G, count)
    assert lazy.tolist() == plain_greedy(G, count).tolist()
    assert len(set(lazy)) == count
    # By the definition: the next is the first of those that leave the least distance.
    if not coarse:
        d = distances(G)
        for step in range(count):
            left = [
                np.inf if j in lazy[:step] else d[:, [*lazy[:step], j]].min(axis=1).sum()
                for j in range(n)
            ]
            assert left[lazy[step]] <= min(left) + 1e-12


def test_blocks_of_candidates_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    p, y = probabilities(60, 4, 0), np.arange(60) % 4
    whole = craig(p, y, 0.3)
    monkeypatch.setattr(module, "_MAX_DISTANCES", 7)
    small = craig(p, y, 0.3)
    assert small.positions.tolist() == whole.positions.tolist()
    assert small.weights.tolist() == whole.weights.tolist()
    assert small.distance == whole.distance


def test_stochastic_is_nearly_as_good() -> None:
    G = probabilities(200, 4, 3)
    d = distances(G)

    def cost(rows: np.ndarray) -> float:
        return float(d[:, rows].min(axis=1).sum())

    draw = np.random.default_rng
    found = stochastic_greedy(G, 20, epsilon=0.01, draw=draw(0))
    assert len(set(found)) == 20
    chance = np.mean([cost(draw(i).choice(200, 20, replace=False)) for i in range(20)])
    assert cost(lazy_greedy(G, 20)) <= cost(found) * 1.02
    assert cost(found) < 0.85 * chance
    assert found.tolist() == stochastic_greedy(G, 20, epsilon=0.01, draw=draw(0)).tolist()
    everyone = stochastic_greedy(G, 4, epsilon=1e-9, draw=draw(0))  # the sample is all there are
    assert everyone.tolist() == plain_greedy(G, 4).tolist()


@pytest.mark.parametrize("method", ["lazy", "plain", "stochastic"])
def test_weights_are_who_is_stood_for(method: str) -> None:
    p, y = probabilities(90, 3, 5), np.repeat([0, 1, 2], [50, 30, 10])
    found = craig(p, y, 0.2, method=method, seed=1)
    assert np.bincount(y[found.positions]).tolist() == [10, 6, 2]
    assert (np.diff(found.positions) > 0).all()
    g = p - np.eye(3)[y]
    total = 0.0
    weights = dict.fromkeys(found.positions.tolist(), 0)
    for i in range(90):
        codes = [j for j in found.positions if y[j] == y[i]]
        away = [float(np.linalg.norm(g[i] - g[j])) for j in codes]
        weights[int(codes[int(np.argmin(away))])] += 1
        total += min(away)
    assert found.weights.tolist() == list(weights.values())
    assert found.weights.sum() == 90
    assert found.distance == pytest.approx(total)


def test_equal_gradients_stand_for_themselves() -> None:
    found = craig(np.full((6, 2), 0.5), [0, 0, 0, 1, 1, 1], 1.0)
    assert found.weights.tolist() == [1] * 6
    assert craig(np.full((6, 2), 0.5), [0, 0, 0, 1, 1, 1], 1 / 3).weights.tolist() == [3, 3]


def test_wrong_arguments() -> None:
    p, y = probabilities(4, 2, 0), [0, 1, 0, 1]
    with pytest.raises(OptionError, match="lazy, stochastic, plain"):
        craig(p, y, 0.5, method="best")
    with pytest.raises(OptionError, match="epsilon"):
        craig(p, y, 0.5, method="stochastic", epsilon=0)
    with pytest.raises(OptionError, match="fraction"):
        craig(p, y, 0)
