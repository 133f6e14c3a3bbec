"""Features of low rank."""

from __future__ import annotations

import numpy as np

import cgscore
from cgscore.kernel import unit_rows
from cgscore.solvers.lowrank.pivoted_cholesky import Columns, kernel_columns, landmark_features
from cgscore.typing import Array, Index


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


def limited(K: Array, calls: int) -> Columns:
    """The columns of K, for a limited number of calls: a loop without an end fails."""
    left = iter(range(calls))

    def columns(positions: Index) -> Array:
        assert next(left, None) is not None, "columns are asked for again and again"
        block: Array = K[:, positions].copy()
        return block

    return columns


def test_a_diagonal_that_is_rounding_has_rank_0() -> None:
    rng = np.random.default_rng(0)
    K = 1e-16 * rng.standard_normal((50, 50))
    diagonal = np.maximum(np.diagonal(K), 0.0)
    features = landmark_features(limited(K, 20), diagonal, 50, seed=0, scale=0.5)
    assert features.Phi.shape == (50, 0)
    assert len(features.landmarks) == 0


def test_a_diagonal_that_its_columns_do_not_have_is_corrected() -> None:
    K = np.diag([0.5, 0.0, -1e-9, 0.25, 1e-12])
    diagonal = np.array([0.5, 1e-3, 1e-3, 0.25, 1e-3])
    features = landmark_features(limited(K, 50), diagonal, 5, seed=0)
    assert sorted(features.landmarks.tolist()) == [0, 3]
    assert features.rest.max() == 0.0


def test_rounding_is_not_drawn() -> None:
    """One row of 2,000 has something left, less than the rounding of the others together."""
    diagonal = np.full(2000, 1e-13)
    diagonal[77] = 1e-10
    K = np.zeros((2000, 2000))
    K[np.diag_indices(2000)] = diagonal
    features = landmark_features(limited(K, 5), diagonal, 500, seed=0, scale=0.5)
    assert features.landmarks.tolist() == [77]
