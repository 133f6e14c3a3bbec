"""Verdicts on numeric targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import cgscore
from cgscore.issues.regression import (
    find_target_issues,
    judge_targets,
    range_medians,
    residual_scale,
    usable_d,
)


def drawn(n: int = 1000, seed: int = 0, share: float = 0.0) -> tuple[Any, Any, Any, Any]:
    """Targets with noise of Student's t, its predictions and d; a share swapped."""
    rng = np.random.default_rng(seed)
    mu, d = 3 * rng.normal(size=n), rng.uniform(1, 10, n)
    y = mu + rng.standard_t(6, n) / np.sqrt(d)
    rows = rng.choice(n, round(share * n), replace=False)
    z = y.copy()
    z[rows] = y[np.roll(rows, 1)]
    return y, z, mu, d


def covered(y: Any, verdicts: Any) -> Any:
    return (verdicts.low <= y) & (y <= verdicts.high)


def test_swapped_values_are_found_and_counted() -> None:
    y, z, mu, d = drawn(2000, share=0.1)
    verdicts, wrong = judge_targets(z, mu, d), y != z
    flagged = verdicts.right < 0.5
    assert (flagged & wrong).sum() >= 0.7 * wrong.sum()
    assert (flagged & wrong).sum() >= 0.9 * flagged.sum()
    assert 120 <= verdicts.wrong <= 240
    assert verdicts.interval[0] <= verdicts.wrong <= verdicts.interval[1]


def test_probabilities_are_calibrated() -> None:
    draws = [drawn(1000, seed, 0.1) for seed in range(10)]
    right = np.concatenate([judge_targets(z, mu, d).right for _, z, mu, d in draws])
    true = np.concatenate([y == z for y, z, _, _ in draws])
    for low, high in ((0.1, 0.5), (0.5, 0.9), (0.9, 0.99)):
        bin_ = (right >= low) & (right < high)
        assert true[bin_].mean() == pytest.approx(right[bin_].mean(), abs=0.12)


def test_wrong_values_do_not_widen_intervals() -> None:
    y, z, mu, d = drawn(2000, share=0.1)
    before, after = judge_targets(y, mu, d), judge_targets(z, mu, d)
    width = np.median(after.high - after.low) / np.median(before.high - before.low)
    assert width < 1.25
    assert 0.93 <= covered(y, after)[y == z].mean() <= 0.98


@pytest.mark.parametrize("seed", range(3))
def test_heavy_tails_alone_are_no_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mu = 5 * rng.normal(size=1000)
    y = mu + rng.standard_t(4, 1000)
    assert (judge_targets(y, mu, np.ones(1000)).right < 0.5).mean() <= 0.01


def test_noise_that_grows_with_the_target() -> None:
    rng = np.random.default_rng(0)
    mu = rng.uniform(1, 100, 3000)
    y = mu * (1 + 0.2 * rng.normal(size=3000))
    verdicts = judge_targets(y, mu, np.ones(3000))
    inside = covered(y, verdicts)
    for third in np.array_split(np.argsort(mu), 3):
        assert 0.92 <= inside[third].mean() <= 0.98
    assert (verdicts.right < 0.5).mean() <= 0.01


def test_skewed_noise_has_skewed_intervals() -> None:
    rng = np.random.default_rng(0)
    mu = 10 * rng.normal(size=2000)
    y = mu + rng.exponential(size=2000) - np.log(2)
    verdicts = judge_targets(y, mu, np.ones(2000))
    assert 0.93 <= covered(y, verdicts).mean() <= 0.97
    assert np.median(verdicts.high - mu) > 3 * np.median(mu - verdicts.low)


@pytest.mark.parametrize("n", [10, 25])
def test_few_rows_cover_and_flag_only_what_is_gross(n: int) -> None:
    inside, flagged = [], []
    for seed in range(100):
        y, _, mu, d = drawn(n, seed)
        verdicts = judge_targets(y, mu, d)
        inside.append(covered(y, verdicts).mean())
        flagged.append((verdicts.right < 0.5).mean())
    assert 0.92 <= np.mean(inside) <= 0.99
    assert np.mean(flagged) <= 0.01
    y[0] = mu[0] + 1000
    assert judge_targets(y, mu, d).right.argmin() == 0
    assert judge_targets(y, mu, d).right[0] < 0.5


def test_constant_targets_are_all_right() -> None:
    verdicts = judge_targets(np.full(30, 7.0), np.full(30, 7.0), np.ones(30))
    assert (verdicts.right == 1).all()
    assert (verdicts.low == 7).all()
    noisy = judge_targets(np.full(30, 7.0), np.linspace(7, 7.03, 30), np.ones(30))
    assert np.isfinite(noisy.low).all()
    assert not (noisy.right < 0.5).any()


def test_ties_are_not_taken_for_certainty() -> None:
    rng = np.random.default_rng(0)
    mu = rng.integers(0, 200, 800).astype(float)  # predicted to the unit
    y = mu.copy()
    y[::10] += rng.choice([-1, 1], 80)  # rounding
    verdicts = judge_targets(y, mu, np.ones(800))
    assert not (verdicts.right < 0.5).any()


def test_d_of_copies_and_of_ridge_0() -> None:
    assert usable_d(np.array([0.0, 1.0, 3.0, np.inf])).tolist() == [2.0, 1.0, 3.0, 3.0]
    y, _, mu, d = drawn(1000)
    r = y - mu
    r *= np.sqrt(d)  # noise that does not depend on d, which varies by ten orders of magnitude
    d = 10.0 ** np.linspace(0, 10, 1000)
    verdicts = judge_targets(mu + r, mu, d)
    assert (verdicts.right < 0.5).mean() <= 0.02
    inside = covered(mu + r, verdicts)
    for third in np.array_split(np.arange(1000), 3):
        assert 0.9 <= inside[third].mean() <= 0.99


def test_units_and_order_do_not_matter() -> None:
    _, z, mu, d = drawn(500, share=0.1)
    one = judge_targets(z, mu, d)
    other = judge_targets(1e6 * z + 3e6, 1e6 * mu + 3e6, d)
    np.testing.assert_allclose(other.right, one.right, atol=1e-6)
    np.testing.assert_allclose(other.low, 1e6 * one.low + 3e6, rtol=1e-6)
    order = np.random.default_rng(1).permutation(500)
    np.testing.assert_allclose(judge_targets(z[order], mu[order], d[order]).right, one.right[order])


def test_predictions_that_say_nothing_flag_gross_errors_only() -> None:
    rng = np.random.default_rng(0)
    y, mu = rng.normal(size=500), 0.01 * rng.normal(size=500)
    y[3] = 1e4
    verdicts = judge_targets(y, mu, np.ones(500))
    assert verdicts.uninformative
    assert np.flatnonzero(verdicts.right < 0.5).tolist() == [3]


def test_scale_of_ranges() -> None:
    rng = np.random.default_rng(0)
    mu = rng.uniform(0, 1, 5000)
    _, s = residual_scale(mu + (1 + 4 * mu) * rng.normal(size=5000), mu, np.ones(5000))
    assert np.median(np.abs(s / (1 + 4 * mu) - 1)) < 0.1
    # nothing to see: shrunk towards the common median, most often all the way
    noise = [float(np.ptp(range_medians(mu, rng.normal(size=5000)))) for _ in range(20)]
    assert np.median(noise) < 0.05
    assert np.ptp(range_medians(mu[:50], rng.normal(size=50))) == 0


def test_table_of_real_data() -> None:
    X, y = load_diabetes(return_X_y=True)
    z = y.copy()
    z[[5, 50, 200]] *= 10
    middle = np.median(z)
    scores = cgscore.score(X, z - middle, task="regression", ridge="auto")
    table = pd.DataFrame({"id": [f"r{i}" for i in range(len(z))], "given_label": z})
    mu = scores.loo[:, 0] + middle
    mu[7] = np.nan
    found = find_target_issues(table, mu, scores.d, ridge=scores.meta["ridge"])
    issues = found.table
    assert issues.columns.tolist() == [
        "is_label_issue",
        "label_score",
        "given_label",
        "predicted_label",
        "low",
        "high",
        "studentised_residual",
    ]
    assert set(issues.index[issues["is_label_issue"]]) == {"r5", "r50", "r200"}
    assert issues.loc["r7"].isna().sum() == 5
    judged = issues.drop(index="r7")
    assert judged["label_score"].between(0, 1).all()
    assert (judged["low"] < judged["high"]).all()
    assert found.summary.flagged == 3
    assert found.summary.examples == len(z) - 1
    assert found.worst_first()["label_score"].is_monotonic_increasing
    ten = find_target_issues(table, mu, scores.d, ridge=1.0, expected_noise=10)
    assert ten.table["is_label_issue"].sum() == 10


def test_a_promised_precision_of_numbers() -> None:
    X, y = load_diabetes(return_X_y=True)
    y = y.copy()
    y[::40] *= 10
    scores = cgscore.score(X, y, task="regression")
    promised = scores.find_issues(precision=0.9)
    right = promised.table["label_score"]
    flagged = promised.table["is_label_issue"]
    assert flagged.any()
    assert (right[flagged] < 0.5).all()
    assert flagged.to_numpy()[::40].sum() >= 0.9 * flagged.sum()
    published = cgscore.score(X, load_diabetes().target, task="regression")
    nothing = published.find_issues(precision=0.9)
    assert not nothing.table["is_label_issue"].any()
    assert "promise this precision" in str(nothing.summary.hint)
