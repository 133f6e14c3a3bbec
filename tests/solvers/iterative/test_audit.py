"""What the audit of the iterative method claims, on data that are hard for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.audit import (
    Audited,
    calibrate,
    measure,
    rank_correlation,
    strata,
    top_count,
    uncertain,
)
from cgscore.valuation import valuation
from tests.solvers.iterative.rows import few_columns
from tests.unjudged import score


def clusters(same_class: bool, count: int = 80, copies: int = 8) -> tuple[Any, Any]:
    """Groups of examples at a distance of 1e-3."""
    rng = np.random.default_rng(7)
    centre = np.repeat(np.arange(count), copies)[rng.permutation(count * copies)]
    X = rng.standard_normal((count, 20))[centre] + 1e-3 * rng.standard_normal((len(centre), 20))
    return X, rng.integers(0, 4, count)[centre] if same_class else rng.integers(0, 4, len(centre))


def overlap(found: Any, true: Any) -> float:
    """The share of the true top percent that was found."""
    m = top_count(len(true))
    return len(np.intersect1d(np.argsort(-found)[:m], np.argsort(-true)[:m])) / m


HARD = {
    "3 columns": few_columns(3),
    "6 columns": few_columns(6),
    "clusters of one class": clusters(same_class=True),
    "clusters of any class": clusters(same_class=False),
}


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
@pytest.mark.parametrize("kind", HARD)
def test_claims_hold_on_hard_data(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw of the audit; as intervals of 95 % they miss the truth for some other seeds."""
    X, y = HARD[kind]
    monkeypatch.setattr(iterative, "parts", lambda n: 2)
    true = score(X, y, method="exact")
    found = score(X, y, method="iterative")
    audit = found.meta["audit"]
    for column, key in (("cg", "rank_correlation"), ("margin", "rank_correlation_margin")):
        value = rank_correlation(found.table[column].to_numpy(), true.table[column].to_numpy())
        low, high = audit[f"{key}_interval"]
        assert low < value < high
        assert low <= audit[key] <= high
    low, high = audit["top_percent_interval"]
    assert low <= overlap(found.table["cg"].to_numpy(), true.table["cg"].to_numpy()) <= high
    assert low <= audit["top_percent"] <= high
    wrong = np.flatnonzero(np.abs(np.log(found.d / true.d)) > np.log(2))
    assert set(wrong) <= set(audit["uncertain"]["positions"])
    assert len(wrong) <= 2


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
@pytest.mark.parametrize(
    ("p", "pairs", "distance", "seed"), [(20, 44, 1e-5, 0), (20, 44, 1e-5, 5), (50, 44, 2e-3, 0)]
)
def test_few_opposite_pairs_are_marked(
    p: int, pairs: int, distance: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both bounds of their d agree and are thousands of times too small."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, p))
    X[:pairs] = -X[500 : 500 + pairs] + distance * rng.standard_normal((pairs, p))
    y = rng.integers(0, 3, 1000)
    monkeypatch.setattr(iterative, "parts", lambda n: 8)
    true = score(X, y, method="exact")
    found = score(X, y, method="iterative", seed=seed)
    marked = set(found.meta["audit"]["uncertain"]["positions"])
    wrong = set(np.flatnonzero(np.abs(np.log(found.d / true.d)) > np.log(3)))
    assert wrong <= marked
    assert {*range(pairs), *range(500, 500 + pairs)} <= marked
    assert len(marked) <= 2 * pairs + 5


def test_rare_large_errors_are_seen_by_strata() -> None:
    """2 % of the examples have a d that is wrong by a factor of 3, and bounds that are apart."""
    rng = np.random.default_rng(2)
    n = 3000
    codes = rng.integers(0, 2, n)
    Y = np.where(codes[:, None] == np.arange(2), 1.0, -1.0)
    d = np.exp(rng.normal(2, 0.3, n))
    alpha = rng.normal(0, 3, (n, 2))
    wrong = rng.choice(n, 60, replace=False)
    estimate = d * np.exp(rng.normal(0, 0.01, n))
    estimate[wrong] /= 3
    bounds = np.column_stack([estimate, 0.9 * estimate])
    bounds[wrong, 1] /= 1.5
    cg, mine = valuation(Y, codes, alpha, estimate).cg, alpha[np.arange(n), codes]
    true = rank_correlation(mine**2 / d, cg)
    drawn = np.setdiff1d(rng.choice(n, 70, replace=False), wrong)[:60]  # none of them by chance

    def claim(rows: Any, stratum: Any) -> Any:
        audited = Audited(rows, d[rows], alpha[rows])
        rng = np.random.default_rng(0)
        return measure(Y, codes, alpha, estimate, audited, estimate[rows], rng, stratum, 60)

    stratum = strata(cg, estimate, bounds)
    assert np.isin(stratum[wrong], (1, 2)).mean() == 1
    assert np.array_equal(np.sort(np.argsort(-cg)[:90]), np.flatnonzero(stratum == 1))
    more = [
        rng.choice(np.setdiff1d(np.flatnonzero(stratum == s), drawn), 24, False) for s in (1, 2)
    ]
    rows = np.concatenate([drawn, *more])
    low, high = claim(rows, stratum)["rank_correlation_interval"]
    assert low < true < high
    assert claim(drawn, None)["rank_correlation_interval"][0] > true  # what it was before
    low, high = claim(rows, stratum)["top_percent_interval"]
    assert low <= overlap(cg, mine**2 / d) <= high


def test_what_is_uncertain_is_listed() -> None:
    bounds = np.ones((5000, 2))
    bounds[1000:4000, 1] = 3.1
    audited = Audited(np.array([5, 6]), np.array([1.6, 1.4]), np.zeros((2, 1)))
    found = uncertain(bounds, audited, np.ones(2))
    assert found["count"] == 3001
    assert found["positions"] == [5, *range(1000, 1999)]
    assert found["share"] == 0.6
    suspected = np.arange(5000) == 2
    assert uncertain(bounds, audited, np.ones(2), suspected)["positions"][:2] == [2, 5]


def _directions(p: int) -> Any:
    def draw(n: int, rng: np.random.Generator) -> Any:
        X = rng.standard_normal((n, p))
        return X, (X @ rng.standard_normal((p, 3)) + 0.3 * rng.standard_normal((n, 3))).argmax(1)

    return draw


def _clusters(n: int, rng: np.random.Generator) -> Any:
    centre = rng.permutation(n) // 8
    X = rng.standard_normal((n // 8, 20))[centre] + 1e-3 * rng.standard_normal((n, 20))
    return X, rng.integers(0, 4, n)


def _copies(n: int, rng: np.random.Generator) -> Any:
    """A tenth are near-duplicates of others."""
    X = rng.standard_normal((n, 30))
    source = rng.integers(n // 10, n, n // 10)
    X[: n // 10] = X[source] + 1e-2 * rng.standard_normal((n // 10, 30))
    return X, (X @ rng.standard_normal((30, 4))).argmax(axis=1)


def _groups(n: int, rng: np.random.Generator) -> Any:
    """Classes of unequal width on one side of the origin, with wrong labels."""
    y = rng.integers(0, 5, n)
    X = np.abs(rng.standard_normal((5, 40))[y] + rng.standard_normal((n, 40)) * (0.3 + y[:, None]))
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), y)


KINDS = {
    "3 columns": _directions(3),
    "6 columns": _directions(6),
    "25 columns": _directions(25),
    "clusters of 8": _clusters,
    "near-duplicates": _copies,
    "groups": _groups,
}


DRAWS = 12


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_intervals_cover_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data and audit are drawn anew each time; fails for one in a thousand honest methods."""
    n = 1200
    monkeypatch.setattr(iterative, "parts", lambda n: 4)
    covered: dict[str, list[tuple[str, bool]]] = {"cg": [], "margin": [], "top": []}
    for kind, draw in KINDS.items():
        for seed in range(DRAWS):
            X, y = draw(n, np.random.default_rng([seed, 3]))
            true = score(X, y, method="exact")
            found = score(X, y, method="iterative", seed=seed)
            audit = found.meta["audit"]
            for name in ("cg", "margin"):
                value = rank_correlation(found.table[name].to_numpy(), true.table[name].to_numpy())
                key = "rank_correlation" if name == "cg" else f"rank_correlation_{name}"
                low, high = audit[f"{key}_interval"]
                covered[name].append((kind, low <= value <= high))
            low, high = audit["top_percent_interval"]
            value = overlap(found.table["cg"].to_numpy(), true.table["cg"].to_numpy())
            covered["top"].append((kind, low <= value <= high))
    for name, outcomes in covered.items():
        count = len(outcomes)
        missed = [kind for kind, inside in outcomes if not inside]
        assert count == DRAWS * len(KINDS)
        assert count - len(missed) >= binom.ppf(0.001, count, 0.95), (name, missed)
        for kind in KINDS:
            assert DRAWS - missed.count(kind) >= binom.ppf(0.001, DRAWS, 0.95), (name, kind)


def test_calibration_removes_a_factor_and_never_goes_below_a_bound() -> None:
    rng = np.random.default_rng(0)
    d = np.exp(rng.normal(2, 0.5, 1000))
    bounds = np.column_stack([0.8 * d, 0.7 * d])
    bounds[5, 1] = 50 * bounds[5, 0]  # a near-duplicate that similar blocks see
    rows = np.arange(100, 164)
    audited = Audited(rows, d[rows], np.zeros((64, 1)))
    everyone, unseen = calibrate(bounds, audited)
    np.testing.assert_allclose(np.delete(everyone, 5), np.delete(d, 5), rtol=1e-6)
    np.testing.assert_allclose(unseen, d[rows], rtol=1e-6)
    assert everyone[5] == bounds[5, 1]
    truth = d[rows].copy()
    truth[9] *= 3  # what is not seen does not depend on its own truth, but others' fits do
    other, unseen_then = calibrate(bounds, Audited(rows, truth, np.zeros((64, 1))))
    assert unseen_then[9] == pytest.approx(unseen[9], rel=1e-9)
    assert abs(unseen_then[10] / unseen[10] - 1) > 1e-3
    assert abs(other[0] / everyone[0] - 1) > 1e-3


def test_the_audit_measures_what_it_has_not_seen() -> None:
    """Errors of a known size: the audit's correlation agrees with the true one."""
    rng = np.random.default_rng(1)
    n, k = 3000, 3
    codes = rng.integers(0, k, n)
    Y = np.where(codes[:, None] == np.arange(k), 1.0, -1.0)
    d = np.exp(rng.normal(2, 0.3, n))
    alpha = rng.normal(0, 3, (n, k))
    noisy = d * np.exp(rng.normal(0, 0.05, n))
    rows = rng.choice(n, 64, replace=False)
    report = measure(Y, codes, alpha, noisy, Audited(rows, d[rows], alpha[rows]), noisy[rows], rng)
    own_alpha = alpha[np.arange(n), codes]
    true = rank_correlation(own_alpha**2 / d, own_alpha**2 / noisy)
    low, high = report["rank_correlation_interval"]
    assert low < true < high
    assert high - low < 0.004
    assert report["cg"]["median_error"] == pytest.approx(0.05 * 0.6745, rel=0.4)
    assert set(report) >= {"partial", "margin", "examples", "rank_correlation_margin"}
