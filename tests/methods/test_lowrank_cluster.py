"""Landmarks on a real cluster: the same bits, whatever happens to it."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import ClusterError, DataError
from cgscore.execution.executor import Local
from cgscore.rows import MappedArray, streamed_rows
from cgscore.solvers.lowrank import solve
from cgscore.solvers.lowrank.blocks import similar_blocks

if TYPE_CHECKING:
    from distributed import Client

    from tests.cluster import Processes

pytestmark = [
    pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning"),
    pytest.mark.needs("distributed"),
]
OPTIONS: dict[str, Any] = {"method": "lowrank", "ridge": 0.1, "landmarks": 60}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    """Rows of several segments."""
    rng = np.random.default_rng(3)
    y = np.arange(5500) % 4
    return (rng.standard_normal((5500, 8)) + np.eye(4, 8)[y]).astype(np.float32), y


@pytest.fixture(scope="module")
def local(data: Any) -> Any:
    """Scores by threads of this process."""
    parts = similar_blocks(streamed_rows(data[0]), seed=0, executor=Local())
    assert len(parts.segments()) == 4
    return cgscore.score(*data, **OPTIONS)


def same(one: Any, other: Any) -> bool:
    return bool(one.table.equals(other.table) and np.array_equal(one.loo, other.loo))


def at(name: str, act: Callable[[], object]) -> Callable[[str, float], None]:
    """A listener that acts once in the middle of a phase."""
    done: list[bool] = []

    def listen(phase: str, fraction: float) -> None:
        if phase == name and fraction >= 0.3 and not done:
            done.append(True)
            act()

    return listen


@pytest.mark.parametrize("tasks", [solve.MIN_TASKS, 0])
def test_same_bits_as_local(
    client: Client, data: Any, local: Any, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "MIN_TASKS", tasks)
    assert solve.segments_together(3, 2) == (1 if tasks else solve.MAX_TOGETHER)
    found = cgscore.score(*data, client=client, **OPTIONS)
    assert found.meta["workers"] == {"kind": "dask", "count": 2, "threads": 2}
    assert same(found, local)
    assert found.complexity == local.complexity


def test_a_worker_is_killed_and_another_joins(processes: Processes, data: Any, local: Any) -> None:
    first = processes.add()
    processes.add()

    def swap() -> None:
        first.send_signal(signal.SIGKILL)
        processes.add()

    with processes.client(2) as client:
        found = cgscore.score(*data, client=client, progress=at("sums", swap), **OPTIONS)
        assert first.wait() == -signal.SIGKILL
    assert same(found, local)


def test_the_scheduler_is_killed(
    processes: Processes, data: Any, local: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "SAVE_SECONDS", 0.0)
    processes.add()
    client = processes.client(1)
    with pytest.raises(ClusterError, match=r"scheduler was lost|cluster does not answer"):
        cgscore.score(
            *data,
            client=client,
            checkpoint=tmp_path / "kept",
            progress=at("scores", processes.scheduler.kill),
            **OPTIONS,
        )
    client.close()
    assert (tmp_path / "kept" / "first-pass.arrays").exists()
    assert same(cgscore.score(*data, checkpoint=tmp_path / "kept", **OPTIONS), local)


def test_auto_takes_landmarks_if_the_workers_cannot_hold_the_matrix(
    client: Client, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cgscore.methods.auto.spread_bytes", lambda *_: float("inf"))
    monkeypatch.setattr("cgscore.methods.lowrank.MAX_LANDMARKS", 60)
    found = cgscore.score(*data, client=client, ridge=0.1)
    assert found.meta["method"] == "lowrank"
    assert found.meta["choice"]["why"] == "the kernel matrix does not fit on the workers"


def test_mapped_files_are_opened_by_the_workers(
    client: Client, data: Any, local: Any, tmp_path: Path
) -> None:
    X, y = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = streamed_rows(mapped)
    assert rows.sent_bytes() == 0
    assert streamed_rows(X).sent_bytes() == X.nbytes
    content = pickle.dumps(rows)
    assert len(content) < 5000
    again = pickle.loads(content)
    assert isinstance(MappedArray.of(again.X), MappedArray)
    np.testing.assert_array_equal(again.X, X)
    part = pickle.loads(pickle.dumps(streamed_rows(mapped[1000:])))
    np.testing.assert_array_equal(part.X, X[1000:])
    assert same(cgscore.score(mapped, y, client=client, **OPTIONS), local)
    (tmp_path / "X.npy").rename(tmp_path / "elsewhere.npy")
    with pytest.raises(DataError, match=r"A worker cannot read .*X\.npy .*folder that all workers"):
        pickle.loads(content)
    np.save(tmp_path / "X.npy", X[:-1])
    with pytest.raises(DataError, match="has changed"):
        pickle.loads(content)
