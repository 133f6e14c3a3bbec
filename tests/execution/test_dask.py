"""Scores on a real cluster: the same bits, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client

import cgscore
from cgscore.errors import ClusterError, MemoryLimitError, OptionError
from cgscore.execution import dask
from cgscore.execution.dask import Cluster, sent_bytes
from cgscore.execution.executor import Local
from cgscore.kernel import unit_rows
from cgscore.rows import streamed_rows
from cgscore.solvers.lowrank.blocks import Blocks
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.model import FirstPass, Targets
from tests.cluster import Processes
from tests.unjudged import score
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")

OPTIONS: dict[str, dict[str, Any]] = {
    "subsample": {"ratio": 2, "runs": 4},
    "partition": {"runs": 3, "memory_limit": "1500kB"},
}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(4), 200)
    return rng.standard_normal((800, 30)) + np.eye(4, 30)[y], y


@pytest.fixture(scope="module")
def local(data: Any) -> dict[str, Any]:
    """Scores by threads of this process."""
    return {name: score(*data, method=name, **more) for name, more in OPTIONS.items()}


def same(one: Any, other: Any) -> bool:
    return bool(one.table.equals(other.table) and np.array_equal(one.loo, other.loo, True))


def once(at: float, act: Callable[[], object]) -> Callable[[str, float], None]:
    """A listener that acts once when so much of the tasks is done."""
    done: list[bool] = []

    def listen(phase: str, fraction: float) -> None:
        if phase == "tasks" and fraction >= at and not done:
            done.append(True)
            act()

    return listen


@pytest.mark.parametrize("method", OPTIONS)
def test_same_bits_as_local(client: Client, data: Any, local: Any, method: str) -> None:
    found = score(*data, method=method, client=client, **OPTIONS[method])
    assert found.meta["workers"] == {"kind": "dask", "count": 2, "threads": 2}
    assert found.meta["tasks"] > 8
    assert same(found, local[method])


@pytest.mark.parametrize("others", [1, 0])
def test_a_worker_is_killed_and_another_joins(
    processes: Processes, data: Any, local: Any, others: int
) -> None:
    """If it was the only one the data go with it, and are sent again to its successor."""
    first = processes.add()
    for _ in range(others):
        processes.add()
    with processes.client(1 + others) as client:

        def swap() -> None:
            first.send_signal(signal.SIGKILL)
            processes.add()

        found = score(
            *data,
            method="subsample",
            client=client,
            progress=once(0.3, swap),
            **OPTIONS["subsample"],
        )
        assert first.wait() == -signal.SIGKILL
    assert same(found, local["subsample"])


def test_the_scheduler_is_killed(
    processes: Processes, data: Any, local: Any, tmp_path: Path
) -> None:
    processes.add()
    kept = tmp_path / "kept"
    client = processes.client(1)
    with pytest.raises(ClusterError, match=r"connection to the Dask scheduler was lost"):
        score(
            *data,
            method="subsample",
            client=client,
            checkpoint=kept,
            progress=once(0.5, processes.scheduler.kill),
            **OPTIONS["subsample"],
        )
    client.close()
    done = {path.name: path.stat().st_mtime_ns for path in kept.glob("class-*.arrays")}
    assert 8 <= len(done) < 16
    found = score(*data, method="subsample", checkpoint=kept, **OPTIONS["subsample"])
    assert same(found, local["subsample"])
    after = {path.name: path.stat().st_mtime_ns for path in kept.glob("class-*.arrays")}
    assert len(after) == 16
    assert {name: after[name] for name in done} == done  # none was done again


def test_a_worker_too_small_is_refused_before_the_work(processes: Processes, data: Any) -> None:
    processes.add("--memory-limit", "1MB")
    with (
        processes.client(1) as client,
        pytest.raises(MemoryLimitError, match=r"The worker tcp://.* may use 1 MB .* needs \d"),
    ):
        score(*data, method="subsample", client=client)


@pytest.mark.slow
def test_a_worker_that_runs_out_of_memory(processes: Processes) -> None:
    """The limit is one that Dask does not know of."""
    processes.add("--memory-limit", "0", limit=1_000_000_000)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12_000, 4)), np.arange(12_000) % 2
    with (
        processes.client(1) as client,
        pytest.raises(MemoryLimitError, match=r"A worker ran out of memory on a task .*nthreads"),
    ):
        score(X, y, method="subsample", client=client)


def plus(shared: Any, item: int) -> float:
    return float(shared.sum() + item)


@pytest.mark.slow
def test_a_worker_that_stands_still_holds_nobody_up(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data are for the workers that are left when it dies, and Dask would wait for it for ever."""
    monkeypatch.setattr("cgscore.execution.dask.SCATTER_SECONDS", 10.0)
    first = processes.add()
    processes.add()
    with processes.client(2) as client:
        cluster = Cluster(client)
        first.send_signal(signal.SIGSTOP)
        death = threading.Timer(2.0, first.kill)
        death.start()
        found = list(cluster.map(plus, np.ones(3), [1, 2]))
        death.join()
    assert sorted(found) == [(0, 4.0), (1, 5.0)]


def die(shared: Any, item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_worker(processes: Processes) -> None:
    for _ in range(5):  # Dask tries a task on four, and one keeps the data
        processes.add()
    with (
        processes.client(5) as client,
        # on a busy machine the last copy of the data may go before the fourth attempt is counted
        pytest.raises(ClusterError, match=r"Workers died (again and again|3 times).* memory"),
    ):
        list(Cluster(client).map(die, None, [1]))


def test_iterative_on_a_cluster(
    client: Client, processes: Processes, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cgscore.solvers.iterative.distributed.MAX_PANEL_ROWS", 100)
    two = score(*data, method="iterative", client=client)
    assert two.meta["storage"] == "cluster"
    exact = score(*data, method="exact")
    here = score(*data, method="iterative")
    for other_way in (exact, here):  # not the same bits: H is kept and summed differently here
        both = [s.table["cg"].rank() for s in (two, other_way)]
        assert both[0].corr(both[1]) > 0.999
    first = processes.add()
    killed: list[int] = []

    def listen(phase: str, fraction: float) -> None:
        if phase == "solve" and fraction > 0.2 and not killed:
            processes.add()
            other.wait_for_workers(2, timeout=60)
            first.send_signal(signal.SIGKILL)
            killed.append(1)

    with processes.client(1) as other:
        one = score(*data, method="iterative", client=other, progress=listen)
    assert killed
    assert same(one, two)


def test_blocks_done_elsewhere_are_those_done_here(data: Any) -> None:
    from cgscore.execution.progress import ignore
    from cgscore.kernel import unit_rows
    from cgscore.solvers.iterative.block_bounds import Bounds, random_blocks
    from cgscore.solvers.iterative.half_matrix import OnTheFlyKernel
    from cgscore.solvers.iterative.landmarks import landmarks_of

    rows = unit_rows(data[0])
    H = OnTheFlyKernel(rows)
    for ridge in (0.0, 0.1):
        known = landmarks_of(H, rows, ridge, np.random.default_rng(0))
        blocks = random_blocks(800, 4, np.random.default_rng(1))
        here = Bounds(H, rows, known).of("random", blocks, ignore)
        there = Bounds(H, rows, known).of("random", blocks, ignore, Local(max_threads=2))
        np.testing.assert_allclose(there, here, rtol=1e-5)


def test_auto_on_a_cluster(client: Client, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    small = cgscore.score(*data, client=client)
    assert small.meta["method"] == "exact"
    assert "cluster is not needed" in small.meta["choice"]["why"]
    monkeypatch.setattr("cgscore.methods.auto.MAX_SMALL_N", 100)
    assert cgscore.score(*data, client=client).meta["method"] == "iterative"
    monkeypatch.setattr("cgscore.methods.auto.spread_bytes", lambda *_: float("inf"))
    assert cgscore.score(*data, client=client).meta["method"] == "partition"


def test_what_is_no_client(data: Any, client: Client) -> None:
    with pytest.raises(ClusterError, match="'here' is not a client"):
        score(*data, method="subsample", client="here")
    with pytest.raises(OptionError, match=r"A cluster has no effect on method='exact'"):
        score(*data, method="exact", client=client)


def test_the_scheduler_dies_when_all_tasks_are_done(
    processes: Processes, data: Any, local: Any
) -> None:
    """Nothing is lost but perhaps the audit."""
    processes.add()
    client = processes.client(1)

    def end() -> None:
        processes.scheduler.kill()
        processes.scheduler.wait()

    s = score(
        *data,
        method="subsample",
        client=client,
        progress=once(1.0, end),
        **OPTIONS["subsample"],
    )
    client.close()
    assert same(s, local["subsample"])
    assert s.meta["workers"]["count"] == 1
    assert s.meta["audit"] or "it failed" in s.meta["audit_left_out"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("moment", [0.0, 0.6, 1.4])
def test_an_interrupt_while_workers_start_is_one_message(tmp_path: Path, moment: float) -> None:
    """Ctrl-C in a terminal reaches all processes of the group."""
    program = (
        "import sys, cgscore.execution.dask; from cgscore.cli import main;"
        " print('here', flush=True); sys.argv[0] = 'cgscore'; main()"
    )
    command = [sys.executable, "-c", program, "score", "sklearn:digits", "--method", "partition"]
    with subprocess.Popen(
        [*command, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        time.sleep(0.3 + moment)  # reading the data, and then the start of the cluster
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (130, 0), errors  # a quick machine may be done before
    assert "Traceback" not in errors


def tasks_left(dask_scheduler: Any) -> int:
    return sum(str(key).startswith("cgscore") for key in dask_scheduler.tasks)


def test_work_ends_when_the_caller_fails(client: Client, data: Any) -> None:
    def fail(phase: str, fraction: float) -> None:
        if fraction > 0.02:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough") as caught:
        score(*data, method="subsample", ratio=1, runs=400, client=client, progress=fail)
    assert caught.tb is not None  # held, and with it the frames that were left
    until(lambda: client.run_on_scheduler(tasks_left) < 10, seconds=6)


def test_a_checkpoint_that_auto_made_exact_goes_on(
    client: Client, data: Any, tmp_path: Path
) -> None:
    for _ in range(2):
        s = score(*data, client=client, checkpoint=tmp_path / "kept")
        assert s.meta["method"] == "exact"
    with pytest.raises(OptionError, match="client and device cannot be combined"):
        score(*data, client=client, device="cuda")


def meet(shared: str, item: int) -> int:
    """Ends only when the other task has begun; returns the process."""
    (Path(shared) / str(item)).touch()
    until((Path(shared) / str(1 - item)).exists)
    return os.getpid()


def test_a_cluster_uses_all_its_workers(client: Client, tmp_path: Path) -> None:
    cluster = Cluster(client)
    assert cluster.workers() == 2
    assert cluster.describe() == {"kind": "dask", "count": 2, "threads": 2}
    found = [value for _, value in cluster.map(meet, str(tmp_path), [0, 1])]
    assert len(set(found)) == 2


def test_values_stay_on_the_workers(client: Client) -> None:
    cluster = Cluster(client)
    held = cluster.hold(mul, np.arange(4.0), [1, 2, 3])
    found = cluster.apply(mul, held, 10)
    assert [value.tolist()[1] for value in found] == [10, 20, 30]


def first_pass(X: Any) -> FirstPass:
    rows, n = streamed_rows(X), len(X)
    targets = Targets(np.zeros(n, np.intp), 2)
    return FirstPass(rows, Blocks(np.arange(n), (n,)), landmarks_of(rows, 5, 0.1, seed=0), targets)


@pytest.mark.parametrize("make", [unit_rows, streamed_rows, first_pass])
def test_the_time_to_send_data_grows_with_their_arrays(make: Callable[[Any], Any]) -> None:
    X = np.random.default_rng(0).standard_normal((4000, 50))
    for n in (400, 4000):
        value = make(X[:n])
        assert 8 * n * 50 <= sent_bytes(value) <= 1.2 * 8 * n * 50 + 10_000
        seconds = dask.scatter_seconds(value) - dask.SCATTER_SECONDS
        assert seconds == pytest.approx(sent_bytes(value) / dask.MIN_BYTES_PER_SECOND)
    gaps = np.broadcast_to(X, (2, *X.shape))[0, :, ::2]
    assert X.nbytes / 2 <= sent_bytes(gaps) <= X.nbytes / 2 + 10_000


def test_sizes_are_those_of_what_is_sent(tmp_path: Path) -> None:
    """An array is not copied to be measured, and a file that workers map themselves is not sent."""
    X = np.ones((100_000, 100))
    tracemalloc.start()
    try:
        assert sent_bytes((X, "a name")) >= X.nbytes
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 100
    finally:
        tracemalloc.stop()
    np.save(tmp_path / "X.npy", X)
    assert sent_bytes(streamed_rows(np.load(tmp_path / "X.npy", mmap_mode="r"))) < X.nbytes / 100


def test_a_scatter_waits_as_long_as_its_data_need(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = unit_rows(np.random.default_rng(0).standard_normal((4000, 50)))
    timeouts: list[float] = []
    sync: Any = client.sync

    def recorded(*arguments: Any, callback_timeout: float | None = None, **more: Any) -> Any:
        timeouts.append(callback_timeout or 0.0)
        return sync(*arguments, callback_timeout=callback_timeout, **more)

    cluster = Cluster(client)
    monkeypatch.setattr(client, "sync", recorded)
    assert list(cluster.map(size, rows, [0])) == [(0, 4000)]
    assert max(timeouts) >= dask.SCATTER_SECONDS + 1.6


def size(shared: Any, item: int) -> int:
    return len(shared)
