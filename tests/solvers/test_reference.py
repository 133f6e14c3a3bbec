"""The definitions where their values are known."""

from __future__ import annotations

import numpy as np

from cgscore.solvers import reference


def test_orthonormal_rows_have_closed_forms() -> None:
    """H = I / 2: every example costs 2, whatever its label, and predicts nothing of the others."""
    H, y = np.eye(6) / 2, np.array([1.0, -1, 1, 1, -1, 1])
    assert reference.complexity(H, y) == 12
    assert reference.gap(H, y, [0, 3]) == 4
    np.testing.assert_allclose(reference.cg(H, y), 2)
    first, partial, third = reference.terms(H, y)
    assert (first == 0).all()
    assert (partial == 0).all()
    np.testing.assert_allclose(third, 2)
    assert (reference.leave_one_out(H, y) == 0).all()
    np.testing.assert_allclose(reference.cg_prime(H, y), 0.5)


def test_definitions_agree_with_each_other() -> None:
    """The terms add up to the gap, which is the squared error of leaving out times d."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((7, 9))
    H, y = A @ A.T, rng.choice([-1.0, 1.0], 7)
    gaps = reference.cg(H, y)
    np.testing.assert_allclose(sum(reference.terms(H, y)), gaps)
    d = np.diagonal(np.linalg.inv(H))
    np.testing.assert_allclose((y - reference.leave_one_out(H, y)) ** 2 * d, gaps)
