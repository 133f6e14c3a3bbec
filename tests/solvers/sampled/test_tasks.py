"""Tasks in any number of threads, and runs that are interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data import read
from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers.sampled import partition, subsample
from cgscore.solvers.sampled.averages import ESTIMATED

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_any_number_of_threads_gives_the_same_bits(method: str, uneven: Any) -> None:
    posed = shared_problem(Inputs(read(uneven[0], labels=uneven[1]), ridge=0.0).labelled(), 0)[0]
    solver: Any = {"subsample": subsample, "partition": partition}[method]
    tasks: Any = (
        subsample.draws([60, 25, 12, 3], 100, 12, 1.5, 9)
        if method == "subsample"
        else partition.blocks(100, 12, 3, 9)
    )
    found = [
        solver.solve(posed, tasks, executor=Local(max_threads=most), progress=Silent())[0]
        for most in (1, 5)
    ]
    for name in ESTIMATED:
        assert np.array_equal(found[0].mean[name], found[1].mean[name])
    assert np.array_equal(found[0].loo(), found[1].loo(), equal_nan=True)


class StopHereError(Exception):
    pass


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_an_interrupted_run_repeats_no_finished_task(
    method: str, uneven: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition, "BLOCK_ROWS", 34)
    monkeypatch.setattr(partition, "ROWS_PER_CLASS", 1)
    options: dict[str, Any] = {"method": method, "runs": 6, "seed": 2}
    whole = cgscore.score(*uneven, **options)

    def stop(phase: str, fraction: float) -> None:
        if fraction > 0.5:
            raise StopHereError

    kept = tmp_path / "kept"
    with pytest.raises(StopHereError):
        cgscore.score(*uneven, **options, checkpoint=kept, progress=stop)
    done = {path: path.stat().st_mtime_ns for path in kept.glob("*.arrays")}
    assert 2 <= len(done) < whole.meta["tasks"]
    damaged = min(done)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    del done[damaged]  # this one is noticed and done again
    resumed = cgscore.score(*uneven, **options, checkpoint=kept)
    assert resumed.table.equals(whole.table)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    more = cgscore.score(*uneven, **options | {"runs": 8}, checkpoint=kept)
    assert more.table.equals(cgscore.score(*uneven, **options | {"runs": 8}).table)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    other = options | {"seed": 3}
    with pytest.raises(cgscore.CGScoreError, match="the seed differs"):
        cgscore.score(*uneven, **other, checkpoint=kept)
