"""Shares of wrong labels that are found, and areas under curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cgscore_paper import detection_curve


def test_curves_of_a_perfect_a_useless_and_a_reversed_score() -> None:
    wrong = np.arange(200) < 40
    perfect = wrong + np.linspace(0.1, 0, 200)
    curve = detection_curve.found_shares(perfect, wrong)
    assert curve.shape == (101,)
    np.testing.assert_allclose(curve, np.minimum(np.arange(101) / 20, 1), atol=1e-12)
    assert (
        detection_curve.found_at_count(perfect, wrong) == detection_curve.auroc(perfect, wrong) == 1
    )
    assert detection_curve.average_precision(perfect, wrong) == pytest.approx(1)
    assert detection_curve.found_shares(-perfect, wrong)[80] == 0
    assert (
        detection_curve.found_at_count(-perfect, wrong)
        == detection_curve.auroc(-perfect, wrong)
        == 0
    )
    assert detection_curve.auroc(np.zeros(200), wrong) == 0.5
    assert detection_curve.average_precision(np.zeros(200), wrong) == pytest.approx(0.2)


class TestFound:
    score = np.array([5.0, 4, 3, 2, 1])
    wrong = np.array([True, False, True, False, False])

    def test_highest_first(self) -> None:
        curve = detection_curve.found_shares(
            self.score, self.wrong, np.array([0, 0.2, 0.4, 0.6, 1])
        )
        np.testing.assert_allclose(curve, [0, 0.5, 0.5, 1, 1])

    def test_ties_are_the_mean_over_orders(self) -> None:
        rng = np.random.default_rng(0)
        score, wrong = rng.integers(0, 3, 40).astype(float), rng.random(40) < 0.3
        examined = np.arange(41) / 40
        orders = [
            detection_curve.found_shares(score + rng.uniform(0, 0.5, 40), wrong, examined)
            for _ in range(4000)
        ]
        curve = detection_curve.found_shares(score, wrong, examined)
        np.testing.assert_allclose(curve, np.mean(orders, axis=0), atol=0.01)

    def test_oracle_and_random(self) -> None:
        wrong = np.arange(100) < 20
        oracle = detection_curve.found_shares(wrong.astype(float), wrong)
        np.testing.assert_allclose(oracle, np.minimum(1, detection_curve.EXAMINED_SHARES / 0.2))
        chance = detection_curve.found_shares(np.zeros(100), wrong)
        np.testing.assert_allclose(chance, detection_curve.EXAMINED_SHARES)

    def test_area_under_the_roc_curve(self) -> None:
        rng = np.random.default_rng(1)
        score, wrong = rng.integers(0, 9, 200).astype(float), rng.random(200) < 0.4
        assert detection_curve.auroc(score, wrong) == pytest.approx(roc_auc_score(wrong, score))
