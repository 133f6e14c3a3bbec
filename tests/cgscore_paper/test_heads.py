"""Heads on features: a convex problem, solved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cgscore_paper import appendix_e, heads
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan


def clusters(n: int = 300, p: int = 6, k: int = 3) -> tuple[heads.Single, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, k, n)
    X = rng.normal(size=(n, p)) + 1.5 * rng.normal(size=(k, p))[codes]
    return X.astype(np.float32), codes


def test_a_head_is_scikit_learns_logistic_regression() -> None:
    X, codes = clusters()
    head = heads.fit_head(X, codes, 3)
    model = LogisticRegression(C=1 / (heads.PENALTY * len(X)), tol=1e-8, max_iter=2000)
    model.fit(X.astype(np.float64), codes)
    np.testing.assert_allclose(head[:-1].T, model.coef_, atol=0.02)
    chosen = (X @ head[:-1] + head[-1]).argmax(axis=1)
    assert (chosen == model.predict(X)).mean() > 0.99
    assert heads.head_accuracy(head, X, codes) == pytest.approx((chosen == codes).mean())


def test_heads_become_curves(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, codes = clusters(k=10)
    monkeypatch.setattr(heads, "encoded", lambda *asked: (X, codes))
    plan = Plan.named("sample")
    own = Work(tmp_path, work.data)
    for by in ("full", "random"):
        own.all(heads.head_cells(plan, by))
    stored = Work(tmp_path, work.data, stored_only=True)
    curves = appendix_e.head_curves(stored, plan)
    assert len(curves.full) == 1
    assert curves.scores("low-first") == ["random"]
    assert curves.removed[1:] == pytest.approx(np.arange(1, 10) / 10)
    points = curves.found["high-first"]["random"][1:]
    assert [len(point) for point in points] == [heads.RANDOM_REPEATS] * 9
    assert np.mean(points[0]) > np.mean(points[-1])
    assert len({tuple(point) for point in points}) > 1
