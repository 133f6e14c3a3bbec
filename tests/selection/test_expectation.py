"""What a choice is expected to cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.kernel import unit_rows
from cgscore.selection.expectation import expected_quality, left_out_predictions
from cgscore.solvers.lowrank.pivoted_cholesky import kernel_columns, landmark_features
from cgscore.valuation import class_targets


def test_predictions_are_those_of_fits_without_each_example(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    Y, ridge = class_targets(y, 3), 0.1
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(60, 0.5), 25, seed=0)
    K, noise = features.Phi @ features.Phi.T, features.rest + ridge
    kept = np.arange(0, 60, 3)
    F = left_out_predictions(features, Y, ridge, kept)
    expected = np.empty_like(F)
    for i in range(60):
        fit = kept[kept != i]
        A = np.linalg.solve(K[np.ix_(fit, fit)] + np.diag(noise[fit]), Y[fit])
        expected[i] = K[i, fit] @ A
    np.testing.assert_allclose(F, expected, atol=1e-10)
    judged = np.arange(60) % 2 == 0
    found = expected_quality(features, Y, ridge, kept, judged)
    assert found.kept == pytest.approx(np.mean((expected.argmax(axis=1) == y)[judged]))
    everything = left_out_predictions(features, Y, ridge, np.flatnonzero(judged))
    assert found.all == pytest.approx(np.mean((everything.argmax(axis=1) == y)[judged]))
    assert found.rank == 25
