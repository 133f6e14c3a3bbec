"""Scores that the tests of issues share."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_digits

import cgscore
from tests.issues.examples import flipped


@pytest.fixture(scope="package")
def noisy() -> Any:
    """Digits with a twentieth of the labels flipped, scored with the automatic ridge."""
    X, y = load_digits(return_X_y=True)
    z = flipped(y, 0.05, 10)
    return X, y, z, cgscore.score(X, z, ridge="auto")
