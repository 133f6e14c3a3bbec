"""The probability that labels are right, and which are flagged."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.issues.calibration import Calibration
from cgscore.issues.noise_model import NoiseModel
from cgscore.issues.verdicts import flag, flag_with_precision, judge, promised


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


def test_a_tiny_class_that_takes_all_probability_leaves_the_others_theirs() -> None:
    F = np.array([[0.0, 0.1, 2.0], [0.1, 0.0, 2.0], *[[1.0, 0.0, 0.0]] * 3, *[[0.0, 1.0, 0.0]] * 3])
    codes = np.array([0, 1, 0, 0, 0, 1, 1, 2])  # class 2 has one example
    T = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    verdicts = judge(F, codes, NoiseModel(T, Calibration(2000.0), 10))
    assert np.isfinite(verdicts.right).all()
    assert verdicts.best[:2].tolist() == [1, 0]


def test_options_for_fewer_and_more() -> None:
    right = np.array([0.9, 0.05, 0.4, 0.99, 0.3, 0.6])
    assert flag(right).tolist() == [False, True, True, False, True, False]
    assert np.flatnonzero(flag(right, expected_noise=2)).tolist() == [1, 4]
    assert np.flatnonzero(flag(right, expected_noise=0.34)).tolist() == [1, 4]


def test_a_precision_leaves_room_for_chance_and_flags_nothing_probable() -> None:
    right = np.r_[np.full(60, 0.001), np.full(40, 0.3), np.full(100, 0.6)]
    assert flag_with_precision(right, 0.9)[:60].all()
    found = flag_with_precision(right, 0.9).sum()
    assert 60 < found < 100
    assert right[flag_with_precision(right, 0.9)].sum() < 0.7 * 0.1 * found
    assert flag_with_precision(right, 0.1).sum() == 100  # never what is more likely right
    assert not flag_with_precision(right[60:], 0.9).any()
    assert not flag_with_precision(np.array([0.04, 0.04]), 0.9).any()  # too few for a promise


def test_a_promise_leaves_room_for_chance() -> None:
    # labels of class 1 are right with a probability of 3 %, those of class 0 certainly
    T = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    calibration = Calibration(float(np.log(0.97 / 0.03 / 0.5)))

    def promise(count: int) -> int:
        F = np.tile([[1.0, 0.0, -9.0]], (count + 50, 1))
        codes = np.r_[np.ones(count, int), np.zeros(50, int)]
        noise = NoiseModel(T, calibration, 10)
        verdicts = judge(F, codes, noise)
        assert verdicts.right[0] == pytest.approx(0.03, rel=1e-3)
        return int(promised(verdicts, noise, 0.9, np.ones(len(codes), bool)).sum())

    assert promise(15) == 0  # one may be right, and three quarters of one is expected to be
    assert promise(2000) == 2000


def test_a_class_of_two_is_not_suggested() -> None:
    codes = np.array([0] * 6 + [1] * 6 + [2] * 2)
    F = np.full((14, 3), -1.0)
    F[:, 2] = 1.0  # everything looks like the class of two
    F[np.arange(14), codes] = np.maximum(F[np.arange(14), codes], 0.0)
    T = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    found = judge(F, codes, NoiseModel(T, Calibration(3.0), 10))
    assert (found.best[:12] != 2).all()
    assert (found.other[:12] == 1 - codes[:12]).all()
    assert (found.best[12:] == 2).all()  # whose own label may still be right
