"""Every method with every kernel."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.kernel import KERNELS, unit_rows


@pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")
@pytest.mark.parametrize("method", ["iterative", "subsample", "partition"])
def test_every_method_takes_every_kernel(method: str) -> None:
    rng = np.random.default_rng(2)
    y = np.arange(400) % 3
    X = rng.standard_normal((400, 12)) + 2 * np.eye(3, 12)[y]
    exact = cgscore.score(X, y, kernel="relu-ntk-3", method="exact")
    found = cgscore.score(X, y, kernel="relu-ntk-3", method=method)
    cg = exact.table["cg"]
    tolerance = 1e-3 if method == "iterative" else 1e-9
    np.testing.assert_allclose(found.table["cg"], cg, rtol=0, atol=tolerance * cg.max())


def test_a_kernel_on_a_device() -> None:
    pytest.importorskip("torch")
    from cgscore.solvers.iterative.device import OnDevice

    X = np.random.default_rng(3).standard_normal((90, 7))
    X[5] = X[4] * (1 + 1e-5)
    for kernel in KERNELS.values():
        H = OnDevice(unit_rows(X, kernel=kernel), "cpu", lambda done: None)
        everything = np.arange(90)
        expected = cgscore.gram(X, kernel=kernel.name)
        np.testing.assert_allclose(H.part(everything, everything), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")
def test_new_examples_with_another_kernel() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    f = cgscore.factor(X[:-1], kernel="relu-ntk-3")
    new = f.score_new(X[-1:], y[-1:], y=y[:-1])
    whole = cgscore.score(X, y, kernel="relu-ntk-3").table
    assert new["cg"][0] == pytest.approx(whole["cg"].iloc[-1], rel=1e-9)
    copy = f.score_new(X[:1], y[:1], y=y[:-1])
    assert copy["cg"][0] == 0


def test_other_kernels_are_experiments() -> None:
    X = np.random.default_rng(4).standard_normal((6, 3))
    with pytest.warns(CGScoreWarning, match="an experiment"):
        scores = cgscore.score(X, [0, 1] * 3, kernel="relu-ntk-3")
    assert scores.meta["kernel"] == "relu-ntk-3"
