"""Scores of a device."""

from __future__ import annotations

import numpy as np

from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.solvers.iterative import solve as iterative
from tests.solvers.iterative.rows import around_centres


def test_a_device_gives_the_same_scores() -> None:
    X, y = around_centres(700)
    Y = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    found = [
        iterative.solve(
            unit_rows(X), 0.0, Y, y, storage=storage, seed=0, target=None, progress=Silent()
        )
        for storage in ("memory", "torch:cpu")
    ]
    np.testing.assert_allclose(found[0].d, found[1].d, rtol=1e-3)
    np.testing.assert_allclose(found[0].alpha, found[1].alpha, atol=0.02)
