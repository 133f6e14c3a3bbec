"""Half a kernel matrix, in memory, on the fly and on a device."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.kernel import unit_rows
from cgscore.solvers.cholesky import plan as plans
from cgscore.solvers.iterative.device import OnDevice
from cgscore.solvers.iterative.half_matrix import HalfMatrix, InMemoryKernel, OnTheFlyKernel
from tests.solvers.iterative.rows import around_centres


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_TILE_ROWS", 130)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", ["kept", "formed", "device"])
def test_half_a_matrix_is_the_whole(kind: str) -> None:
    X, _ = around_centres(700)
    X[300] = X[20] + 1e-6  # a close pair, lost in float32 unless it is treated
    rows = unit_rows(X)
    seen: list[float] = []
    H: HalfMatrix = OnTheFlyKernel(rows)
    if kind != "formed":
        H = (
            InMemoryKernel(rows, seen.append)
            if kind == "kept"
            else OnDevice(rows, "cpu", seen.append)
        )
    true = cgscore.gram(X)
    V = np.random.default_rng(1).standard_normal((3, 700)).astype(np.float32)
    np.testing.assert_allclose(H.product(np.asfortranarray(V)), V @ true, atol=2e-3)
    some, others = np.sort(np.random.default_rng(2).choice(700, (2, 90), replace=False))
    for a, b in ((some, others), (some, some), (np.arange(700), others)):
        np.testing.assert_allclose(H.part(a, b), true[np.ix_(a, b)], atol=1e-6)
    pair = np.array([20, 300])
    assert H.part(pair, pair)[0, 1] == np.float32(true[20, 300])
    if kind != "formed":
        assert sum(seen) >= 700**2 / 2
