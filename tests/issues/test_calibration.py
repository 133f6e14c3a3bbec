"""Class probabilities from predictions, learnt from labels of which some are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.issues import calibration
from cgscore.issues.calibration import (
    MAX_FULL_CLASSES,
    Calibration,
    best_penalty,
    calibrate,
    log_likelihood,
    sharpest,
)

TRUE = np.array([[6.0, 2.0, 0.0], [-1.0, 4.0, 0.0], [0.0, 0.0, 9.0]])


def uniform(rate: float, k: int) -> Any:
    return (1 - rate) * np.eye(k) + rate / (k - 1) * (1 - np.eye(k))


def drawn(n: int, T: Any, seed: int = 0) -> tuple[Any, Any, Any]:
    """Predictions, true probabilities by `TRUE`, and labels with noise T."""
    rng = np.random.default_rng(seed)
    F = rng.uniform(-1, 1, (n, 3))
    q = Calibration(1.0, TRUE, np.zeros(3)).probabilities(F)
    true = np.array([rng.choice(3, p=row) for row in q])
    given = np.array([rng.choice(3, p=T[c]) for c in true])
    return F, q, given


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_true_probabilities_are_found_through_the_noise(rate: float) -> None:
    T = uniform(rate, 3)
    F, q, given = drawn(4000, T)
    start = sharpest(F, given, T)
    penalty = best_penalty(F, given, T, start)
    found = calibrate(F, given, T, start, penalty)
    assert penalty is not None
    assert log_likelihood(F, given, T, found) > log_likelihood(F, given, T, start) + 50
    error = np.abs(found.probabilities(F) - q).mean()
    assert error < 0.03
    assert error < 0.4 * np.abs(start.probabilities(F) - q).mean()
    blind = calibrate(F, given, np.eye(3), sharpest(F, given, np.eye(3)), penalty)
    assert rate == 0 or np.abs(blind.probabilities(F) - q).mean() > 3 * error


def test_the_likelihood_against_a_plain_loop() -> None:
    T = uniform(0.2, 3)
    F, _, given = drawn(50, T)
    how = Calibration(1.0, TRUE, np.array([0.5, 0.0, -0.5]))
    total = 0.0
    for f, j in zip(F, given, strict=True):
        e = np.exp(f @ TRUE + [0.5, 0.0, -0.5])
        total += np.log(sum(e[c] / e.sum() * T[c, j] for c in range(3)))
    assert log_likelihood(F, given, T, how) == pytest.approx(total)


def test_the_slope_of_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    T = uniform(0.2, 3)
    F, _, given = drawn(60, T)
    seen: list[Any] = []

    def minimize(cost: Any, first: Any, **_: Any) -> Any:
        seen.append(cost)
        return type("Found", (), {"x": first})

    monkeypatch.setattr(calibration, "minimize", minimize)
    calibrate(F, given, T, Calibration(2.0), 3.0)
    (cost,) = seen
    x = np.random.default_rng(1).standard_normal(12)
    steps = 1e-6 * np.eye(12)
    rise = [(cost(x + step)[0] - cost(x - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(cost(x)[1], rise, atol=1e-5)


def test_few_examples_or_many_classes_keep_the_one_sharpness() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    F = 2.0 * np.eye(3)[y] - 1 + 0.3 * rng.standard_normal((60, 3))
    T, start = uniform(0.1, 3), Calibration(4.0)
    how = calibrate(F, y, T, start, best_penalty(F, y, T, start))
    assert np.abs(how.probabilities(F) - start.probabilities(F)).mean() < 0.02
    k = calibration.MAX_FULL_CLASSES + 1
    many = np.zeros((k, k))
    assert best_penalty(many, np.arange(k), uniform(0.1, k), start) is None
    assert calibrate(F, y, T, start, None) == sharpest(F, y, T)


def test_very_many_classes_may_be_sharper() -> None:
    """Predictions of the right class that are hardly above 200 others are no less certain."""
    rng = np.random.default_rng(0)
    k = MAX_FULL_CLASSES + 72
    codes = rng.integers(0, k, 2000)
    F = 0.003 * rng.standard_normal((2000, k)) - 0.99
    F[np.arange(2000), codes] += 0.03
    T = uniform(0.1, k)
    wrong = rng.random(2000) < 0.1
    given = np.where(wrong, rng.integers(0, k, 2000), codes)
    found = sharpest(F, given, T)
    assert found.b > 200
    assert found.probabilities(F)[np.arange(2000), codes].mean() > 0.99
