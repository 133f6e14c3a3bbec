"""The probability that labels are right, and which are flagged."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.issues.calibration import Calibration
from cgscore.issues.noise_model import NoiseModel
from cgscore.issues.verdicts import flag, judge


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
    assert flag(right).tolist() == [False, True, True, False, True, False]
    assert np.flatnonzero(flag(right, expected_noise=2)).tolist() == [1, 4]
    assert np.flatnonzero(flag(right, expected_noise=0.34)).tolist() == [1, 4]
    assert np.flatnonzero(flag(right, precision=0.9)).tolist() == [1]
    assert np.flatnonzero(flag(right, precision=0.75)).tolist() == [1, 2, 4]
    assert not flag(right, precision=0.99).any()
