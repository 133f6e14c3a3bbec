"""Iterative scores against exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import CGScoreWarning, ConvergenceError, MemoryLimitError
from cgscore.kernel import unit_rows
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.audit import rank_correlation
from tests.solvers.iterative.rows import around_centres
from tests.unjudged import score


def test_a_residual_that_stays_large_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = around_centres(300)
    monkeypatch.setattr(iterative, "MAX_RESIDUAL", 1e-5)  # float32 alone does not reach that
    refined = score(X, y, method="iterative")
    assert refined.meta["refinements"] in (1, 2, 3)
    assert refined.meta["audit"]["residual"] < 1e-5
    monkeypatch.setattr(iterative, "MAX_RESIDUAL", 1e-20)
    with pytest.raises(ConvergenceError, match="after 3 refinements in float64"):
        score(X, y, method="iterative")


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_iterative_scores_are_nearly_exact(ridge: float) -> None:
    X, y = around_centres(2500, 60)
    true = score(X, y, ridge=ridge, method="exact")
    found = score(X, y, ridge=ridge, method="iterative")
    assert rank_correlation(found.table["cg"].to_numpy(), true.table["cg"].to_numpy()) > 0.999
    assert (
        rank_correlation(found.table["margin"].to_numpy(), true.table["margin"].to_numpy()) > 0.997
    )
    np.testing.assert_allclose(found.alpha, true.alpha, atol=0.02 * np.abs(true.alpha).max())
    terms = found.table[["first_term", "partial", "third_term"]].sum(axis=1)
    np.testing.assert_allclose(terms, found.table["cg"], rtol=1e-9, atol=1e-9)
    for label, value in found.complexity.items():
        assert value == pytest.approx(true.complexity[label], rel=0.01)
    meta = found.meta
    assert meta["method"] == "iterative"
    assert meta["audit"]["examples"] == 112
    assert meta["audit"]["residual"] < 2e-3
    assert meta["ridge"] == ridge


def test_the_same_seed_gives_the_same_bits_and_storage_does_not_matter_much() -> None:
    X, y = around_centres(900)
    first, again, other = (score(X, y, method="iterative", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.d, again.d)
    assert np.array_equal(first.alpha, again.alpha)
    assert not np.array_equal(first.d, other.d)
    rows = unit_rows(X)
    limit = iterative.bytes_formed(900, 20, 4) + rows.centred.nbytes + 100_000
    formed = score(X, y, method="iterative", seed=1, memory_limit=limit)
    assert formed.meta["storage"] == "formed"
    assert first.meta["storage"] == "memory"
    np.testing.assert_allclose(formed.d, first.d, rtol=1e-3)
    with pytest.raises(MemoryLimitError, match="900 examples iteratively needs"):
        score(X, y, method="iterative", memory_limit=limit - 300_000)


def test_two_classes_regression_and_copies() -> None:
    X, y = around_centres(1000)
    binary = score(X, y % 2, method="iterative")
    exact = score(X, y % 2, method="exact")
    assert rank_correlation(binary.table["cg"].to_numpy(), exact.table["cg"].to_numpy()) > 0.995
    np.testing.assert_array_equal(binary.loo[:, 0], -binary.loo[:, 1])
    target = X @ np.arange(20.0)
    found = score(X, target, method="iterative", task="regression")
    exact = score(X, target, method="exact", task="regression")
    assert rank_correlation(found.table["cg"].to_numpy(), exact.table["cg"].to_numpy()) > 0.99
    assert "margin" not in found.meta["audit"]
    X[500:520] = X[:20]
    y[510] = y[10] + 1
    with pytest.warns(CGScoreWarning):
        merged = score(X, y, method="iterative")
    with pytest.warns(CGScoreWarning):
        exact = score(X, y, method="exact")
    assert np.isinf(merged.table["cg"][[10, 510]]).all()
    assert (merged.table["cg"][[500, 501]] == 0).all()
    assert (merged.table["duplicate_of"] == exact.table["duplicate_of"]).all()


def test_near_duplicates_are_survived() -> None:
    X, y = around_centres(1200, 30)
    X[600] = X[3] + 1e-5 * X[4]
    true = score(X, y, method="exact")
    found = score(X, y, method="iterative")
    assert found.d[3] == pytest.approx(true.d[3], rel=0.05)
    assert found.d[600] == pytest.approx(true.d[600], rel=0.05)


def test_a_missed_target_is_said_and_a_given_one_pursued(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = around_centres(1500, 40)
    monkeypatch.setattr(iterative, "parts", lambda n: 32)
    usual = score(X, y, method="iterative", target=0.5)
    assert usual.meta["blocks"] == 32
    with pytest.warns(CGScoreWarning, match=r"below the target of 0\.99999"):
        strong = score(X, y, method="iterative", target=0.99999)
    assert strong.meta["blocks"] < 32
    assert strong.meta["audit"]["cg"]["median_error"] < usual.meta["audit"]["cg"]["median_error"]
    monkeypatch.setattr(iterative, "TARGET_CORRELATION", 0.9999999)
    with pytest.warns(CGScoreWarning, match="below the target of 1"):
        score(X, y, method="iterative")
