"""Confidence intervals."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.issues.intervals import mixture_interval, wilson


def test_shares_and_their_intervals() -> None:
    low, high = wilson(0.8, 10, 1.96)
    assert low == pytest.approx(0.4902, abs=1e-4)  # as tables of Wilson's interval have it
    assert high == pytest.approx(0.9433, abs=1e-4)
    assert wilson(0.0, 100, 3.0)[1] > 0.08  # nothing seen is not nothing there


def test_the_interval_of_a_mixture() -> None:
    one = mixture_interval(np.array([10.0]), np.array([2.0]), np.array([1.0]))
    assert one == pytest.approx((10 - 1.959964 * 2, 10 + 1.959964 * 2))
    means, deviations, weights = np.array([0.0, 50.0]), np.array([1.0, 5.0]), np.array([0.9, 0.1])
    rng = np.random.default_rng(0)
    which = rng.choice(2, 400_000, p=weights)
    drawn = means[which] + deviations[which] * rng.standard_normal(400_000)
    found = mixture_interval(means, deviations, weights)
    assert found == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.1)
    assert mixture_interval(np.zeros(1), np.zeros(1), np.ones(1)) == pytest.approx((0, 0), abs=1e-6)
