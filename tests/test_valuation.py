"""The fast path against the definitions, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.kernel import KERNELS
from cgscore.solvers import reference
from cgscore.valuation import class_targets

TERMS = ["first_term", "partial", "third_term"]


def close(found: Any, expected: Any) -> None:
    """Equal to 1e-8 of the largest value of the column."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore:kernel='relu-ntk-3' is an experiment")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_every_class_against_deletion(cloud: tuple[Any, Any], ridge: float, kernel: str) -> None:
    X, y = cloud
    H = cgscore.gram(X, kernel=kernel)
    R = H + ridge * np.eye(len(y))
    s = cgscore.score(X, y, ridge=ridge, kernel=kernel)
    assert s.meta["kernel"] == kernel
    h = KERNELS[kernel].diagonal
    extra = s.extra("cg_prime", "cg_approx")
    for c in range(3):
        codes, target = y == c, np.where(y == c, 1.0, -1.0)
        rows = s.table[codes]
        close(rows["cg"], reference.cg(R, target)[codes])
        for name, expected in zip(TERMS, reference.terms(R, target), strict=True):
            close(rows[name], expected[codes])
        loo = reference.leave_one_out(R, target)
        close(s.loo[:, c], loo)
        close(rows["residual"], (1 - loo)[codes])
        assert s.complexity[c] == pytest.approx(reference.complexity(R, target), rel=1e-9)
        close(extra["cg_prime"][codes], reference.cg_prime(H, target)[codes])
        t = target * (H @ target) - h
        close(extra["cg_approx"][codes], (t**2 / h**3 - 2 * t / h**2 + 1 / h)[codes])
    np.testing.assert_allclose(s.table[TERMS].sum(axis=1), s.table["cg"], rtol=1e-9)
    np.testing.assert_allclose(s.d, np.diag(np.linalg.inv(R)), rtol=1e-9)


def test_predictions_and_margins(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    s = cgscore.score(X, y)
    best = s.loo.argmax(axis=1)
    assert (s.table["predicted_label"].to_numpy() == best).all()
    for i, label in enumerate(y):
        others = np.delete(s.loo[i], label)
        assert s.table["margin"][i] == pytest.approx(s.loo[i, label] - others.max())
    assert ((s.table["margin"] < 0) == (best != y)).all()
    assert s.accuracy() == (best == y).mean()


def test_accumulated_error_is_the_error_summed_over_gradient_descent() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((12, 30)), np.repeat([1, -1], 6)
    H, eta = cgscore.gram(X), 0.5
    error, total = y.astype(float), np.zeros(12)
    for _ in range(3000):
        total += error
        error = error - eta * H @ error
    found = cgscore.score(X, y).extra("accumulated_error", eta=eta)["accumulated_error"]
    close(found, y * total)  # own-class convention: the sign that makes the own target +1


def test_binary_labels_of_any_kind_agree(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    sign = np.where(y == 1, 1, -1)
    reference_cg = reference.cg(cgscore.gram(X), sign.astype(float))
    for labels in (sign, sign == 1, np.where(y == 1, "yes", "no"), np.where(y == 1, 7, -3)):
        s = cgscore.score(X, labels)
        close(s.table["cg"], reference_cg)
        assert s.loo.shape == (60, 2)
        np.testing.assert_array_equal(s.loo[:, 0], -s.loo[:, 1])
        assert s.table["given_label"].tolist() == labels.tolist()
        assert set(s.table["predicted_label"]) <= set(labels.tolist())
        first, second = s.complexity.values()
        assert first == second


def test_regression_against_deletion(cloud: tuple[Any, Any]) -> None:
    X, _ = cloud
    t = np.random.default_rng(2).standard_normal(60)
    H = cgscore.gram(X)
    s = cgscore.score(X, t, task="regression")
    close(s.table["cg"], reference.cg(H, t))
    for name, expected in zip(TERMS, reference.terms(H, t), strict=True):
        close(s.table[name], expected)
    loo = reference.leave_one_out(H, t)
    close(s.loo[:, 0], loo)
    close(s.table["predicted_label"], loo)
    close(s.table["residual"], t - loo)
    close(s.extra("cg_prime")["cg_prime"], reference.cg_prime(H, t))
    assert s.complexity["target"] == pytest.approx(reference.complexity(H, t))
    assert s.table["margin"].isna().all()
    assert len(s.classes) == 0


def test_orthonormal_rows_have_closed_forms() -> None:
    """H = I/2: alpha = 2 y, d = 2, CG = 2, nothing predicts anything."""
    s = cgscore.score(np.eye(8), np.tile([0, 1], 4))
    np.testing.assert_allclose(s.table["cg"], 2)
    np.testing.assert_allclose(s.d, 2)
    np.testing.assert_allclose(s.loo, 0, atol=1e-15)
    np.testing.assert_allclose(s.table["partial"], 0, atol=1e-15)
    assert s.complexity[0] == pytest.approx(16)


def test_two_points_have_a_closed_form() -> None:
    """H = [[1/2, h], [h, 1/2]] and y = (1, -1): y^T H^-1 y = 2 / (1/2 - h); one alone has 2."""
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    h = np.cos(np.pi / 4) * (3 / 4) / 2
    with pytest.warns(CGScoreWarning, match="one example only"):
        s = cgscore.score(X, [0, 1])
    np.testing.assert_allclose(s.table["cg"], 2 / (0.5 - h) - 2)


@given(st.integers(0, 2**32 - 1), st.integers(8, 40), st.integers(2, 4), st.floats(0, 1))
def test_properties(seed: int, n: int, k: int, ridge: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 10)), np.arange(n) % k
    s = cgscore.score(X, y, ridge=ridge)
    cg = s.table["cg"].to_numpy()
    assert (cg >= 0).all()
    np.testing.assert_allclose(s.table[TERMS].sum(axis=1), cg, rtol=1e-6, atol=1e-9 * cg.max())
    np.testing.assert_allclose(s.d * s.table["residual"] ** 2, cg, rtol=1e-9)
    order = rng.permutation(n)
    permuted = cgscore.score(X[order], y[order], ridge=ridge).table["cg"]
    np.testing.assert_allclose(permuted, cg[order], rtol=1e-7, atol=1e-9 * cg.max())
    renamed = cgscore.score(X, (k - y).astype(str), ridge=ridge).table["cg"]
    np.testing.assert_allclose(renamed, cg, rtol=1e-9)
    scaled = cgscore.score(X * rng.uniform(0.1, 10, (n, 1)), y, ridge=ridge).table["cg"]
    np.testing.assert_allclose(scaled, cg, rtol=1e-7, atol=1e-9 * cg.max())


def test_targets_are_one_against_the_rest() -> None:
    np.testing.assert_array_equal(
        class_targets(np.array([2, 0]), 3), [[-1.0, -1.0, 1.0], [1.0, -1.0, -1.0]]
    )
