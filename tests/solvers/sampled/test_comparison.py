"""The audit of sampled scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.data import read
from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers.sampled import comparison, partition
from tests.unjudged import score

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_audit_is_honest(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"ratio": 2, "runs": 5}
    if method == "partition":
        monkeypatch.setattr(partition, "BLOCK_ROWS", 600)
        options = {"runs": 3}
    exact = score("sklearn:digits", method="exact").table
    held = 0
    for seed in range(5):
        s = score("sklearn:digits", method=method, seed=seed, **options)
        true = s.table["cg"].rank().corr(exact["cg"].rank())
        low, high = s.meta["audit"]["rank_correlation_interval"]
        held += low <= true <= high
        assert 0.5 < true < 0.999
        assert s.meta["audit"]["examples"] == 128
    assert held >= 4  # two intervals of 95 % miss the truth in 2 % of all such tests


def test_audit_of_exact_scores_finds_no_error() -> None:
    whole = score("sklearn:digits", method="partition")
    assert whole.meta["audit"] is None
    assert "nothing was drawn" in whole.meta["audit_left_out"]
    problem, _ = shared_problem(Inputs(read("sklearn:digits"), ridge=0.0).labelled(), 0)
    blocks = partition.blocks(1797, 64, 1, 1)
    means, _ = partition.solve(problem, blocks, executor=Local(), progress=Silent())
    audit, why = comparison.audit(
        problem, means, 0.0, limit=None, executor=Local(), progress=Silent()
    )
    assert why is None
    assert audit is not None
    for name, most in (("cg", 0.01), ("partial", 0.001), ("margin", 0.001)):
        assert audit[name]["median_error"] < most
    assert audit["rank_correlation"] > 0.9999


def test_an_audit_that_costs_too_much_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgscore.solvers.sampled.comparison.MAX_FLOPS", 0.0)
    s = score("sklearn:digits", method="partition", memory_limit="6MB")
    assert s.meta["audit"] is None
    assert "longer than the scores" in s.meta["audit_left_out"]
    assert "audit" not in repr(s)


def test_the_audit_heeds_a_memory_limit() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = rng.standard_normal((3000, 8)) + np.eye(3, 8)[y]
    s = score(X, y, method="partition", runs=1, memory_limit="8MB")
    assert s.meta["audit_left_out"] == "the kernel matrix does not fit in memory"


def test_an_audit_that_single_precision_spoils_is_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    X = np.vstack([X, X + 1e-5 * rng.standard_normal((300, 12))])
    y = np.arange(600) % 3
    s = score(X, y, method="subsample", ratio=1, runs=2)
    assert s.meta["audit"] is None
    assert "failed" in s.meta["audit_left_out"] or "single" in s.meta["audit_left_out"]
