"""Scores that the tests of selection share."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore


@pytest.fixture(scope="package")
def digits() -> cgscore.Scores:
    dataset = cgscore.read("sklearn:digits")
    X, y = np.asarray(dataset.X[:900]), np.asarray(dataset.y)[:900].copy()
    wrong = np.arange(len(y)) % 17 == 0
    y[wrong] = (y[wrong] + 1) % 10
    return cgscore.score(X, y, ridge="auto")
