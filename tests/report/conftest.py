"""Scores that the tests of reports share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import cgscore


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page about digits of which some labels are wrong and two examples repeat."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    z = y.copy()
    wrong = rng.choice(len(y), 150, replace=False)
    z[wrong] = (y[wrong] + rng.integers(1, 10, 150)) % 10
    data = cgscore.read("sklearn:digits").with_labels(z)
    X = data.X.copy()
    X[7] = X[6]  # a copy with another label
    scores = cgscore.score(
        cgscore.data.Dataset(X, z, data.ids, pictures=data.pictures), ridge="auto"
    )
    path = tmp_path_factory.mktemp("report") / "digits.html"
    assert scores.report(path) == []
    return scores, path
