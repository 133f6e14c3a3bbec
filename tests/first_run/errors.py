"""Labels and targets that are made wrong on purpose, so that the truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPING_ERRORS = (0.1, 10.0)  # a decimal point in the wrong place


def flipped(labels: Any, share: float, seed: int) -> Any:
    """Labels of which a share is another one of the classes."""
    rng = np.random.default_rng(seed)
    values = np.array(labels, dtype=object)
    classes = sorted(set(values.tolist()), key=str)
    for row in rng.choice(len(values), round(share * len(values)), replace=False):
        others = [name for name in classes if name != values[row]]
        values[row] = others[rng.integers(len(others))]
    return values


def mistyped(targets: Any, share: float, seed: int) -> Any:
    """Numbers of which a share has the decimal point in the wrong place."""
    rng = np.random.default_rng(seed)
    values = np.array(targets, dtype=np.float64)
    whole = (values == np.round(values)).all()
    candidates = np.flatnonzero(values != 0)
    rows = rng.choice(candidates, round(share * len(values)), replace=False)
    values[rows] *= rng.choice(TYPING_ERRORS, len(rows))
    return np.round(values).astype(np.int64) if whole else values
