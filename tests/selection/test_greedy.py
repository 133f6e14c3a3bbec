"""Greedy choice in features against the formula itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.kernel import unit_rows
from cgscore.selection import greedy
from cgscore.selection.greedy import rank
from cgscore.solvers.lowrank.pivoted_cholesky import Features, kernel_columns, landmark_features
from cgscore.typing import Array
from cgscore.valuation import class_targets
from tests.selection.greedy_reference import reference

RIDGE = 0.02


def digits(n: int) -> tuple[Array, Array, Any]:
    dataset = cgscore.read("sklearn:digits")
    y = np.asarray(dataset.y, np.intp)[:n]
    return np.asarray(dataset.X[:n]), class_targets(y, 10), y


def full_rank(X: Array) -> Features:
    return landmark_features(kernel_columns(unit_rows(X)), np.full(len(X), 0.5), len(X), seed=0)


def test_one_at_a_time_in_features_of_full_rank_is_the_formula() -> None:
    X, Y, _ = digits(150)
    order, gains = reference(cgscore.gram(X), Y, RIDGE, 150)
    found = rank(full_rank(X), Y, ridge=RIDGE, block=1)
    assert (found.order == order).all()
    np.testing.assert_allclose(found.gains, gains, atol=1e-8)
    one = Y[:, :1] - Y[:, :1].mean()  # a regression
    order, gains = reference(cgscore.gram(X), one, RIDGE, 60)
    assert (rank(full_rank(X), one, ridge=RIDGE, block=1).order[:60] == order).all()


def test_gains_are_the_fall_of_the_error_of_a_regression_fitted_anew() -> None:
    """In blocks, of low rank: what the features leave out counts as noise of each example."""
    X, Y, _ = digits(200)
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(200, 0.5), 40, seed=1)
    found = rank(features, Y, ridge=RIDGE, block=16)
    assert sorted(found.order.tolist()) == list(range(200))
    K = features.Phi @ features.Phi.T
    noise = features.rest + RIDGE
    assert noise.max() > 1.5 * RIDGE

    def error(chosen: Any) -> float:
        inner = K[np.ix_(chosen, chosen)] + np.diag(noise[chosen])
        return float(np.sum((Y - K[:, chosen] @ np.linalg.solve(inner, Y[chosen])) ** 2))

    errors = [float(np.sum(Y**2)), *(error(found.order[:t]) for t in range(1, 200))]
    np.testing.assert_allclose(found.gains[:-1], -np.diff(errors), atol=1e-7)


def test_blocks_lose_little_and_stretches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, _ = digits(300)
    features = full_rank(X)
    single = rank(features, Y, ridge=RIDGE, block=1)
    blocks = rank(features, Y, ridge=RIDGE, block=16)
    fall = np.cumsum(single.gains), np.cumsum(blocks.gains)
    assert (fall[1][20:] > 0.97 * fall[0][20:]).all()
    monkeypatch.setattr(greedy, "STRETCH", 0.2)  # computed anew after every 60
    monkeypatch.setattr(greedy, "CHUNK_ROWS", 70)
    anew = rank(features, Y, ridge=RIDGE, block=1)
    assert (anew.order == single.order).all()


class Steps(dict[str, dict[str, Any]]):
    def load(self, name: str) -> dict[str, Any] | None:
        return self.get(name)

    def save(self, name: str, **arrays: Any) -> None:
        self[name] = {key: np.array(value) for key, value in arrays.items()}


def test_an_interrupted_ranking_goes_on_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, _ = digits(240)
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(240, 0.5), 30, seed=0)
    monkeypatch.setattr(greedy, "STRETCH", 2)  # stretches of 60
    whole = rank(features, Y, ridge=RIDGE, block=8)
    steps, taken = Steps(), []

    def advance(amount: float, *, before: bool = False, note: str = "") -> None:
        taken.append(0 if before else amount)
        if sum(taken) > 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(features, Y, ridge=RIDGE, block=8, store=steps, advance=advance)
    assert len(steps) == 2
    taken.clear()
    again = rank(features, Y, ridge=RIDGE, block=8, store=steps, advance=advance)
    assert sum(taken) == 120  # the first 120 are read
    assert (again.order == whole.order).all()
    assert (again.gains == whole.gains).all()


def test_wrong_labels_come_late_and_the_order_says_where_gains_end() -> None:
    X, _, y = digits(400)
    wrong = np.arange(400) % 8 == 0
    Y = class_targets(np.where(wrong, (y + 3) % 10, y), 10)
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(400, 0.5), 60, seed=0)
    found = rank(features, Y, ridge=0.2)
    assert wrong[found.order[:40]].mean() < 0.5 * wrong.mean()
    assert 0 < found.useful < 400
    assert (found.gains[: found.useful] > 0).all()
    assert found.gains[found.useful] <= 0


def test_candidates_only_and_enough_of_them() -> None:
    X, Y, _ = digits(120)
    candidates = np.arange(120) % 3 == 0
    found = rank(full_rank(X), Y, ridge=RIDGE, candidates=candidates, block=4)
    assert sorted(found.order.tolist()) == np.flatnonzero(candidates).tolist()
    some = rank(full_rank(X), Y, ridge=RIDGE, enough=lambda order: len(order) >= 10, block=4)
    assert 10 <= len(some.order) < 14
    assert (
        some.order == rank(full_rank(X), Y, ridge=RIDGE, block=4).order[: len(some.order)]
    ).all()


def test_permuted_examples_are_chosen_in_the_same_order() -> None:
    X, Y, _ = digits(100)
    shuffled = np.random.default_rng(3).permutation(100)
    order = rank(full_rank(X), Y, ridge=RIDGE, block=1).order
    other = rank(full_rank(X[shuffled]), Y[shuffled], ridge=RIDGE, block=1).order
    assert (shuffled[other][:50] == order[:50]).all()
