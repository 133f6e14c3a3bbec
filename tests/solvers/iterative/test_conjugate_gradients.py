"""Conjugate gradients for several systems at once."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.errors import ConvergenceError
from cgscore.kernel import unit_rows
from cgscore.solvers.iterative.conjugate_gradients import conjugate_gradients
from cgscore.solvers.iterative.half_matrix import InMemoryKernel
from cgscore.solvers.iterative.landmarks import Preconditioner, landmarks_of
from tests.solvers.iterative.rows import around_centres


def test_conjugate_gradients_solve_every_system_to_its_tolerance() -> None:
    X, _ = around_centres(600)
    rows = unit_rows(X)
    H = InMemoryKernel(rows, lambda size: None)
    M = Preconditioner(H, landmarks_of(H, rows, 0.0, np.random.default_rng(0)))
    B = np.asfortranarray(np.random.default_rng(1).standard_normal((5, 600)).astype(np.float32))
    B[3] = 0
    tolerance = np.array([1e-1, 1e-2, 1e-3, 1e-3, 1e-4])
    fractions: list[float] = []
    found = conjugate_gradients(H.product, M, B, tolerance, 500, fractions.append)
    true = cgscore.gram(X)
    left = np.linalg.norm(B - found.X @ true, axis=1)
    np.testing.assert_array_less(left, 1.1 * tolerance * np.linalg.norm(B, axis=1) + 1e-9)
    np.testing.assert_allclose(found.residual, B - found.X @ true, atol=1e-3)
    assert (np.diff(found.iterations[[0, 1, 2, 4]]) > 0).all()
    assert found.iterations[3] == 0
    assert fractions[-1] == pytest.approx(1)
    plain = conjugate_gradients(H.product, lambda V: V, B, tolerance, 2000, fractions.append)
    assert plain.iterations.max() > 2 * found.iterations.max()  # the preconditioner earns its keep


def test_conjugate_gradients_give_up_honestly() -> None:
    H = np.diag(np.logspace(0, -6, 200)).astype(np.float32)
    B = np.ones((1, 200), np.float32, order="F")
    with pytest.raises(ConvergenceError, match="did not converge in 5 products: 1 of 1 systems"):
        conjugate_gradients(lambda V: V @ H, lambda V: V, B, np.array([1e-3]), 5, lambda f: None)
    with pytest.raises(ConvergenceError, match="broke down"), np.errstate(all="ignore"):
        conjugate_gradients(lambda V: V * 0, lambda V: V, B, np.array([1e-3]), 5, lambda f: None)
