"""The probability that labels are right, and which are flagged."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.issues.calibration import Calibration
from cgscore.issues.noise_model import NoiseModel
from cgscore.issues.verdicts import MIN_FLAGGED, flag, flagging_probability, judge


def test_posteriors_against_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    F, codes = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    T = rng.dirichlet(np.ones(3), 3)
    found = judge(F, codes, NoiseModel(T, Calibration(2.5), 10))
    for i in range(40):
        q = np.exp(2.5 * F[i]) / np.exp(2.5 * F[i]).sum()
        posterior = q * T[:, codes[i]] / (q @ T[:, codes[i]])
        assert found.right[i] == pytest.approx(posterior[codes[i]])
        order = np.argsort(-posterior)
        assert (found.best[i], found.second[i]) == (order[0], order[1])
        assert found.best_probability[i] == pytest.approx(posterior.max())


def test_options_for_fewer_and_more() -> None:
    right = np.array([0.9, 0.05, 0.4, 0.99, 0.3, 0.6])
    assert flag(right).tolist() == [False, True, True, False, True, True]
    assert np.flatnonzero(flag(right, expected_noise=2)).tolist() == [1, 4]
    assert np.flatnonzero(flag(right, expected_noise=0.34)).tolist() == [1, 4]
    assert np.flatnonzero(flag(right, precision=0.9)).tolist() == [1]
    assert np.flatnonzero(flag(right, precision=0.75)).tolist() == [1, 2, 4]
    assert not flag(right, precision=0.99).any()


def test_the_default_threshold_has_the_best_expected_f1() -> None:
    rng = np.random.default_rng(0)
    wrong = np.r_[rng.beta(8, 1, 300), rng.beta(1, 12, 700)]
    best = max(
        (2 * wrong[wrong > t].sum() / ((wrong > t).sum() + wrong.sum()), t)
        for t in np.linspace(0.01, 0.99, 99)
    )
    assert flagging_probability(1 - wrong) == pytest.approx(best[0] / 2, abs=0.01)
    assert flagging_probability(1 - wrong) == pytest.approx(best[1], abs=0.03)
    assert flagging_probability(np.ones(5)) == 0.5
    assert flagging_probability(np.full(50, 0.9)) == 0.5  # hopeless: only what is likely wrong
    assert MIN_FLAGGED <= flagging_probability(np.r_[np.zeros(30), np.full(200, 0.8)]) < 0.5
