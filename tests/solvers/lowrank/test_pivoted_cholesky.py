"""Features of low rank."""

from __future__ import annotations

import numpy as np

import cgscore
from cgscore.kernel import unit_rows
from cgscore.solvers.lowrank.pivoted_cholesky import kernel_columns, landmark_features
from cgscore.typing import Array


def rows(n: int) -> Array:
    return np.asarray(cgscore.read("sklearn:digits").X[:n])


def test_features_reproduce_the_columns_of_landmarks() -> None:
    X = rows(300)
    H = cgscore.gram(X)
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(300, 0.5), 200, seed=4)
    J = features.landmarks
    assert len(J) == len(set(J.tolist())) == 200
    K = features.Phi @ features.Phi.T
    np.testing.assert_allclose(K[:, J], H[:, J], atol=1e-12)
    np.testing.assert_allclose(features.rest, np.diagonal(H - K), atol=1e-12)
    assert (features.rest >= 0).all()
    assert np.linalg.eigvalsh(H - K).min() > -1e-12
    again = landmark_features(kernel_columns(unit_rows(X)), np.full(300, 0.5), 200, seed=4)
    assert (again.Phi == features.Phi).all()


def test_landmarks_are_drawn_where_the_others_leave_most() -> None:
    """Two thirds of the rows are nearly alike: far fewer than that of the landmarks are."""
    rng = np.random.default_rng(0)
    X = np.r_[np.ones((200, 8)) + 1e-3 * rng.normal(size=(200, 8)), rng.normal(size=(100, 8))]
    J = landmark_features(kernel_columns(unit_rows(X)), np.full(300, 0.5), 40, seed=0).landmarks
    assert (J < 200).mean() < 0.2


def test_copies_add_no_landmark() -> None:
    X = np.repeat(rows(20), 3, axis=0)
    features = landmark_features(kernel_columns(unit_rows(X)), np.full(60, 0.5), 60, seed=0)
    assert features.Phi.shape == (60, 20)
    np.testing.assert_allclose(features.Phi @ features.Phi.T, cgscore.gram(X), atol=1e-10)
