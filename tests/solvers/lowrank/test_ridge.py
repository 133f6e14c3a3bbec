"""The ridge of the least leave-one-out error of the model of landmarks."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.rows import streamed_rows
from cgscore.solvers.lowrank import blocks, ridge
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.model import Targets
from cgscore.solvers.lowrank.solve import solve
from tests.issues.examples import blobs


@pytest.mark.parametrize("start", [1e-4, 0.1, 10.0])
def test_the_ridge_is_a_minimum_of_the_error_of_the_model(
    start: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = blobs([60, 60, 60], apart=1.0)
    candidates = 10.0 ** np.linspace(-4, 1, 21)
    monkeypatch.setattr(ridge, "CANDIDATES", candidates)
    monkeypatch.setattr(ridge, "MAX_BLOCK_ROWS", 50)
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 50)
    rows, targets = streamed_rows(X), Targets(y, 3)
    errors = []
    for value in candidates:
        landmarks = landmarks_of(rows, 30, float(value), seed=0)
        values = solve(rows, landmarks, targets, executor=Local(), progress=Silent()).valuation
        residuals = targets[:] - values.loo
        errors.append(np.mean((residuals - residuals.mean(axis=1, keepdims=True)) ** 2))
    sample = ridge.sample_of(y, 0)
    assert sample.tolist() == list(range(180))
    found = ridge.least_error(
        rows[sample],
        sample,
        targets[sample],
        landmarks_of(rows, 30, 0.0, seed=0),
        start,
        n=180,
        executor=Local(),
    )
    assert found.ridge == candidates[int(np.argmin(errors))]
    assert found.error == pytest.approx(min(errors), rel=1e-8)
    assert found.error_without == pytest.approx(errors[0], rel=1e-8)
    assert found.examples == 180


def test_some_classes_stand_for_very_many() -> None:
    X, y = np.random.default_rng(0).standard_normal((300, 5)), np.arange(300) % 150
    rows, targets = streamed_rows(X), Targets(y, 150)
    sample = np.arange(300)
    landmarks = landmarks_of(rows, 30, 0.0, seed=0)
    found = ridge.least_error(
        rows[sample], sample, targets[sample], landmarks, 0.1, n=300, executor=Local()
    )
    assert found.error < found.error_without
