"""Verdicts in place of predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError
from cgscore.issues.judged import judge_labels, restored
from cgscore.valuation import margin
from tests.issues.examples import blobs


@pytest.mark.parametrize("k", [2, 5, 130])
def test_what_is_saved_is_all_that_verdicts_need(k: int) -> None:
    rng = np.random.default_rng(k)
    codes = np.arange(1300) % k
    loo = 0.4 * rng.standard_normal((1300, k)) + np.eye(k)[codes]
    judged = judge_labels(loo, codes)
    facts = json.loads(json.dumps(judged.facts()))
    again = restored(judged.vectors(), facts, codes, k)
    for name, value in vars(judged.verdicts).items():
        np.testing.assert_array_equal(getattr(again.verdicts, name), value)
        assert getattr(again.verdicts, name).dtype == value.dtype
    assert again.chance == judged.chance
    np.testing.assert_array_equal(again.margin, margin(loo, codes))
    for name in ("contested", "overlap", "odds_factor", "anchors"):
        assert getattr(again.noise, name) == getattr(judged.noise, name)
    weights: list[Any] = [each.weight for each in again.noise.hypotheses]
    assert weights == [each.weight for each in judged.noise.hypotheses]
    assert len(again.noise.T) == k
    assert (again.noise.T.shape == (k, k)) == (k <= 100)


def test_one_prediction_is_enough() -> None:
    judged = judge_labels(np.array([[0.9, -0.5, -0.4], [np.nan] * 3]), np.array([0, 1]))
    assert judged.verdicts.right.shape == (1,)
    assert 0 <= judged.verdicts.right[0] <= 1


def test_without_any_prediction_nothing_is_judged() -> None:
    _, y = blobs([10, 10])
    with pytest.raises(OptionError, match="No example has a prediction"):
        judge_labels(np.full((20, 2), np.nan), y)
