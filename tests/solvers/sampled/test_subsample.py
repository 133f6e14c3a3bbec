"""The paper's estimator against naive computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data import read
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers import reference
from cgscore.solvers.sampled import subsample
from tests.unjudged import score

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_draws_are_random_and_repeatable(uneven: Any) -> None:
    slots = shared_problem(Inputs(read(uneven[0], labels=uneven[1]), ridge=0.0).labelled(), 0)[0]
    draws = subsample.draws([60, 25, 12, 3], 100, 12, 1, 40)
    codes = np.unique(uneven[1], return_inverse=True)[1]
    others: dict[int, list[Any]] = {c: [] for c in range(4)}
    for draw in draws:
        if draw.sample is None:
            continue
        (c,) = draw.classes
        rows = subsample.chosen(slots.slots, draw, 0)
        assert np.array_equal(rows, subsample.chosen(slots.slots, draw, 0))
        assert (np.diff(rows) > 0).all()
        assert set(np.flatnonzero(codes == c)) <= set(rows)
        assert len(rows) == 2 * (codes == c).sum()
        others[c].append(tuple(rows[codes[rows] != c]))
    assert {c: len(set(samples)) for c, samples in others.items()} == {0: 0, 1: 40, 2: 40, 3: 40}
    often = np.bincount(np.concatenate(others[1]), minlength=100)[codes != 1]
    assert often.min() > 40 * 25 / 75 / 3  # everybody has the same chance
    assert often.max() < 3 * 40 * 25 / 75
    first, other = (subsample.chosen(slots.slots, draws[-1], seed) for seed in (0, 1))
    assert not np.array_equal(first, other)


def test_scores_are_gaps_of_deleted_examples(uneven: Any) -> None:
    """One run of one class: delete each of its examples and invert again."""
    X, y = uneven
    posed = shared_problem(Inputs(read(X, labels=y), ridge=0.0).labelled(), 0)[0]
    (draw,) = [d for d in subsample.draws([60, 25, 12, 3], 100, 12, 2, 1) if d.classes == (2,)]
    rows = subsample.chosen(posed.slots, draw, 0)
    target = np.where(y[rows] == "c", 1.0, -1.0)
    gaps = reference.cg(cgscore.gram(X[rows]), target)
    table = score(X, y, method="subsample", ratio=2, runs=1).table
    np.testing.assert_allclose(table["cg"][rows][target > 0], gaps[target > 0], rtol=1e-8)


@pytest.mark.parametrize("labels", [2, 4])
def test_ratios_beyond_what_is_there_are_exact(labels: int, uneven: Any) -> None:
    X, y = uneven
    y = y if labels == 4 else y == "a"
    exact = score(X, y, method="exact")
    found = score(X, y, method="subsample", ratio=1e6)
    assert found.meta["tasks"] == 1
    for name in ("cg", "partial", "residual", "margin"):
        np.testing.assert_allclose(found.table[name], exact.table[name], rtol=1e-9)
    assert found.table["predicted_label"].equals(exact.table["predicted_label"])
    assert (found.table["cg_std_error"] == 0).all()
    assert found.complexity.keys() == exact.complexity.keys()
    np.testing.assert_allclose(
        list(found.complexity.values()), list(exact.complexity.values()), rtol=1e-9
    )


def test_the_papers_rule_for_runs() -> None:
    assert subsample.recommended_runs(500, 50_000, 4) == 13  # CIFAR-100; the paper: about 10
    assert subsample.recommended_runs(5000, 50_000, 4) == 2  # CIFAR-10; the paper: 2 to 3
    assert subsample.recommended_runs(6000, 60_000, 3) == 2
    assert subsample.recommended_runs(5000, 50_000, 1) == 5
    assert subsample.recommended_runs(30, 60, 4) == 1  # everybody
    s = score("sklearn:digits", method="subsample", ratio=1)
    assert s.meta["runs_of_class"]["0"] == 5  # 1,619 others, 178 of them in a run
    assert "half of the others" in s.meta["runs_rule"]


def test_more_runs_come_nearer() -> None:
    exact = score("sklearn:digits", method="exact").table["cg"].rank()
    near = [
        score("sklearn:digits", method="subsample", ratio=1, runs=runs).table["cg"].rank()
        for runs in (1, 8)
    ]
    assert 0.7 < near[0].corr(exact) < near[1].corr(exact) - 0.01
