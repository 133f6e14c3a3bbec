"""The audit of the model of landmarks against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.execution.random_streams import stream
from cgscore.kernel import own_gram
from cgscore.rows import streamed_rows
from cgscore.solvers.iterative.audit import rank_correlation
from cgscore.solvers.lowrank import audit as audits
from cgscore.solvers.lowrank import blocks
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.model import Targets
from cgscore.solvers.lowrank.solve import solve
from cgscore.valuation import margin, valuation


@pytest.mark.parametrize("storage", ["memory", "formed"])
@pytest.mark.parametrize("m", [30, 300])
def test_the_interval_holds_the_truth(
    storage: str, m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 40)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1200, 10))
    codes = np.where(rng.random(1200) < 0.2, rng.integers(0, 3, 1200), np.argmax(X[:, :3], axis=1))
    rows, targets = streamed_rows(X), Targets(codes, 3)
    landmarks = landmarks_of(rows, m, 0.1, seed=0)
    values = solve(rows, landmarks, targets, executor=Local(), progress=Silent()).valuation
    Y = targets[:]
    inverse = np.linalg.inv(own_gram(rows[:], 0.1))
    true = valuation(Y, codes, inverse @ Y, inverse.diagonal().copy())
    report, left_out = audits.audit(
        rows[:],
        0.1,
        Y,
        codes,
        (Y - values.loo) * values.d[:, None],
        values.d,
        storage=storage,
        seed=0,
        progress=Silent(),
    )
    assert left_out is None
    assert report is not None
    assert report["examples"] == audits.AUDIT_EXAMPLES
    low, high = report["rank_correlation_margin_interval"]
    assert low < rank_correlation(margin(values.loo, codes), margin(true.loo, codes)) < high
    low, high = report["rank_correlation_interval"]
    assert low < rank_correlation(values.cg, true.cg) < high
    audited = stream(0, "audit").choice(1200, audits.AUDIT_EXAMPLES, replace=False)
    there = rank_correlation(values.cg[audited], true.cg[audited])
    assert report["rank_correlation"] == pytest.approx(there, abs=1e-3)


def test_too_few_examples_are_not_compared() -> None:
    rows = streamed_rows(np.random.default_rng(0).standard_normal((6, 3)))
    Y = np.ones((6, 1))
    report, left_out = audits.audit(
        rows[:],
        0.1,
        Y,
        np.zeros(6, np.intp),
        Y,
        np.ones(6),
        storage="formed",
        seed=0,
        progress=Silent(),
    )
    assert (report, left_out) == (None, "too few examples")


def test_a_kernel_in_memory_is_formed_once() -> None:
    assert audits.audit_flops(1000, 500, "memory") < audits.audit_flops(1000, 500, "formed")
    assert audits.audit_bytes(9000, 10, 3, "memory") > audits.audit_bytes(9000, 10, 3, "formed")
