"""How clean labels are: the statement, and whether it is kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from cgscore.review.cleanliness import CONFIDENCE, cleanliness

NOBODY = np.empty(0, np.intp)
NOTHING = np.empty(0, bool)


def test_sure_labels_are_clean_and_doubtful_ones_are_not() -> None:
    clean = cleanliness(np.full(1000, 1e-6), NOBODY, NOTHING)
    assert clean.reached
    assert clean.looks == 0
    assert clean.share > 0.999
    dirty = cleanliness(np.full(1000, 0.2), NOBODY, NOTHING)
    assert not dirty.reached
    assert dirty.low < dirty.share < 0.9
    assert dirty.looks is not None
    assert dirty.looks > 900


def test_looks_are_enough_and_no_more() -> None:
    rng = np.random.default_rng(0)
    wrong = np.where(rng.random(2000) < 0.1, 0.95, 0.0005)
    before = cleanliness(wrong, NOBODY, NOTHING)
    order = np.argsort(-wrong, kind="stable")
    truth = rng.random(2000) < wrong
    assert before.looks is not None
    assert before.looks >= 150
    decided = order[: before.looks + 20]
    assert cleanliness(wrong, decided, truth[decided]).reached
    assert not cleanliness(wrong, order[:100], truth[order[:100]]).reached


def test_decisions_correct_the_model() -> None:
    wrong = np.r_[np.full(200, 0.9), np.full(1800, 0.02)]
    decided = np.arange(200)
    as_said = cleanliness(wrong, decided, np.arange(200) < 180)
    harmless = cleanliness(wrong, decided, np.arange(200) < 20)
    assert harmless.share > as_said.share
    sample = np.arange(200, 600)  # of those that nobody doubts, and none was wrong
    checked = cleanliness(
        wrong, np.r_[decided, sample], np.r_[np.arange(200) < 180, np.zeros(400, bool)]
    )
    assert checked.probability > as_said.probability


def test_everything_decided_is_clean() -> None:
    wrong = np.full(50, 0.5)
    done = cleanliness(wrong, np.arange(50), np.arange(50) < 30)
    assert (done.share, done.low, done.looks) == (1.0, 1.0, 0)
    assert done.probability == pytest.approx(1.0)


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0])
def test_the_promise_is_kept_where_the_model_is_off(shift: float) -> None:
    """When the goal is said to be reached, it is in at least 95 of 100 cases."""
    kept = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        z = np.where(rng.random(1500) < 0.08, rng.normal(2, 1.5, 1500), rng.normal(-5, 1, 1500))
        truth = rng.random(1500) < expit(z + shift)
        wrong, order = expit(z), np.argsort(-z)
        for looks in range(0, 1500, 30):
            decided = order[:looks]
            if cleanliness(wrong, decided, truth[decided]).reached:
                kept.append(truth[order[looks:]].sum() <= 15)
                break
    assert len(kept) > 25
    assert np.mean(kept) >= CONFIDENCE - 0.05  # of 30 cases


def test_mistakes_of_reviewers_remain() -> None:
    wrong = np.r_[np.full(100, 0.99), np.full(1900, 1e-4)]
    decided, truth = np.arange(100), np.ones(100, bool)
    careful = cleanliness(wrong, decided, truth)
    careless = cleanliness(wrong, decided, truth, reviewer_error=0.3)
    assert careful.reached
    assert not careless.reached
    assert careless.looks is None  # more looks make more mistakes
    assert careful.share - careless.share == pytest.approx(30 / 2000)
    some = cleanliness(wrong, decided[:50], truth[:50], reviewer_error=0.03)
    assert some.looks is not None
    assert 20 < some.looks < 60


def test_probabilities_of_zero_one_and_missing() -> None:
    wrong = np.array([0.0, 1.0, np.nan, 0.5] * 25)
    found = cleanliness(wrong, np.array([1, 2]), np.array([True, False]))
    assert np.isfinite([found.share, found.low, found.probability]).all()
