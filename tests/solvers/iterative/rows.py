"""Data for tests of the iterative solver."""

from __future__ import annotations

from typing import Any

import numpy as np


def around_centres(n: int, p: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Rows around a few centres, and the centre each belongs to."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    return rng.standard_normal((4, p))[y] + 0.7 * rng.standard_normal((n, p)), y


def few_columns(p: int, n: int = 800) -> tuple[Any, Any]:
    """Rows in all directions, so that many have an opposite one, and three classes."""
    rng = np.random.default_rng(p)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, 3)) + 0.3 * rng.standard_normal((n, 3))).argmax(axis=1)
