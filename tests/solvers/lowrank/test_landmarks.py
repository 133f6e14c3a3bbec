"""The choice of landmarks, and landmarks that depend on others."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.kernel import own_gram
from cgscore.rows import streamed_rows
from cgscore.solvers.lowrank.landmarks import RULES, landmarks_of

X = np.random.default_rng(0).standard_normal((300, 6))


@pytest.mark.parametrize("rule", RULES)
def test_landmarks_and_their_factor(rule: str) -> None:
    rows = streamed_rows(X)
    found = landmarks_of(rows, 40, 0.1, seed=3, rule=rule)
    assert 35 <= len(found) <= 40
    assert (np.diff(found.positions) > 0).all()
    np.testing.assert_array_equal(found.rows.centred, rows[found.positions].centred)
    np.testing.assert_allclose(found.C @ found.C.T, own_gram(found.rows), atol=1e-14)
    assert np.triu(found.C, 1).max() == 0
    again = landmarks_of(rows, 40, 0.1, seed=3, rule=rule)
    np.testing.assert_array_equal(again.positions, found.positions)
    other = landmarks_of(rows, 40, 0.1, seed=4, rule=rule)
    assert not np.array_equal(other.positions, found.positions)


def test_no_more_landmarks_than_rows() -> None:
    assert landmarks_of(streamed_rows(X), 1000, 0.1, seed=0).positions.tolist() == list(range(300))


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-7])
def test_dependent_landmarks_are_left_out(apart: float) -> None:
    near = np.vstack([X[:50], X[:50] + apart])
    found = landmarks_of(streamed_rows(near), 100, 0.1, seed=0)
    assert len(found) == (50 if apart < 1e-9 else 100)
    np.testing.assert_allclose(found.C @ found.C.T, own_gram(found.rows), atol=1e-14)
    assert len(set(found.positions % 50)) == 50


def test_rows_in_one_direction_leave_one_landmark() -> None:
    line = np.outer(np.arange(1, 30), [1.0, 2.0, 3.0])
    assert len(landmarks_of(streamed_rows(line), 10, 0.1, seed=0)) == 1
