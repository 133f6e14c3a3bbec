"""Data that the iterative method refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.methods import auto as choice
from cgscore.solvers.iterative import solve as iterative


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Data that consist of near-duplicates, most of which random blocks tear apart."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((300, 20))
    monkeypatch.setattr(iterative, "parts", lambda n: 8)
    monkeypatch.setattr("cgscore.api.choose", lambda *_: choice.Choice("iterative", "a test"))
    return np.vstack([X, X + 1e-2 * rng.standard_normal(X.shape)]), np.arange(600) % 3
