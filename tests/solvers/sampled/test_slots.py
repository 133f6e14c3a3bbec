"""Copies, which share a slot or are torn between classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_copies_are_what_they_are_in_the_exact_scores(uneven: Any) -> None:
    """Copies that agree, and two groups that are torn between classes."""
    X, y = uneven
    y = y.copy()
    X[90], X[91], X[92], X[93] = X[0], X[1], X[2], X[2]
    y[90] = y[0]
    y[1], y[91] = "a", "b"
    y[2], y[92], y[93] = "a", "a", "c"
    exact = cgscore.score(X, y, method="exact")
    every: list[dict[str, Any]] = [{"method": "subsample", "ratio": 1e6}, {"method": "partition"}]
    for options in every:
        found = cgscore.score(X, y, **options)
        for name in ("cg", "first_term", "partial", "third_term", "residual", "margin"):
            np.testing.assert_allclose(found.table[name], exact.table[name], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.loo, exact.loo, rtol=1e-8, atol=1e-10)
        assert np.isinf(list(found.complexity.values())).tolist() == [True, True, True, False]
    sampled = cgscore.score(X, y, method="subsample", ratio=1, runs=3).table
    assert (sampled["cg"][[90]] == 0).all()
    assert np.isinf(sampled["cg"][[1, 91, 2, 92, 93]]).all()
    assert sampled["cg_std_error"][[1, 91, 2, 92, 93]].isna().all()


def test_a_class_that_every_row_has(uneven: Any) -> None:
    X = uneven[0][:20]
    X, y = np.vstack([X, X[:5]]), np.repeat([0, 1], [20, 5])
    exact = cgscore.score(X, y, method="exact").table
    found = cgscore.score(X, y, method="subsample", ratio=1).table
    assert np.isinf(found["cg"]).tolist() == np.isinf(exact["cg"]).tolist()
    twice = np.vstack([X[:20], X[:20]])
    torn = cgscore.score(twice, np.repeat([0, 1], 20), method="partition")
    assert np.isinf(torn.table["cg"]).all()
