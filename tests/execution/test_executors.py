"""One contract for all executors."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client
from tests.waiting import until
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from cgscore.errors import DataError, MemoryLimitError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.dask import Cluster
from cgscore.execution.executor import Executor, Local
from cgscore.solvers.cholesky.inplace import subtract_product


@pytest.fixture(params=["one thread", "three threads", "dask"])
def executor(request: pytest.FixtureRequest) -> Executor:
    if request.param == "dask":
        return Cluster(request.getfixturevalue("client"))
    return Local(max_threads=1 if request.param == "one thread" else 3)


def multiply(shared: Any, item: int) -> Any:
    return shared * item


def blas_threads(shared: Any, item: int) -> list[int]:
    A = np.ones((8, 8), order="F")
    subtract_product(A, A, A.copy(order="F"))
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def fail(shared: Any, item: int) -> None:
    if item == 2:
        raise DataError("the third is wrong")


def sleep(shared: Any, item: float) -> float:
    time.sleep(item)
    return item


def meet(shared: str, item: int) -> int:
    """Ends only when the other task has begun; returns the process."""
    (Path(shared) / str(item)).touch()
    until((Path(shared) / str(1 - item)).exists)
    return os.getpid()


def test_every_task_is_done_once(executor: Executor) -> None:
    found = list(executor.map(multiply, np.arange(3.0), list(range(17))))
    assert sorted(position for position, _ in found) == list(range(17))
    for position, value in found:
        assert value.tolist() == [0, position, 2 * position]


def test_nothing_to_do(executor: Executor) -> None:
    assert list(executor.map(multiply, 1, [])) == []


def test_tasks_have_one_blas_thread(executor: Executor) -> None:
    with one_blas_thread():  # once by this thread: others must be heeded afterwards
        pass
    # the same by a caller, who leaves this thread in control
    ThreadpoolController().limit(limits=1, user_api="blas").restore_original_limits()
    with threadpool_limits(limits=2, user_api="blas"):  # also where BLAS was given one thread
        for _, threads in executor.map(blas_threads, None, list(range(6))):
            assert len(threads) >= 1
            assert set(threads) == {1}
        assert set(blas_threads(None, 0)) == {2}


def test_an_error_of_a_task_is_raised_here(executor: Executor) -> None:
    with pytest.raises(DataError, match="the third is wrong"):
        list(executor.map(fail, None, [0, 1, 2, 3]))


def test_results_come_as_they_are_ready() -> None:
    order = [value for _, value in Local(max_threads=2).map(sleep, None, [0.3, 0.0])]
    assert order == [0.0, 0.3]


def test_a_cluster_uses_all_its_workers(client: Client, tmp_path: Path) -> None:
    cluster = Cluster(client)
    assert cluster.workers() == 2
    assert cluster.describe() == {"kind": "dask", "count": 2, "threads": 2}
    found = [value for _, value in cluster.map(meet, str(tmp_path), [0, 1])]
    assert len(set(found)) == 2


def test_values_stay_on_the_workers(client: Client) -> None:
    cluster = Cluster(client)
    held = cluster.hold(multiply, np.arange(4.0), [1, 2, 3])
    found = cluster.apply(multiply, held, 10)
    assert [value.tolist()[1] for value in found] == [10, 20, 30]


def test_threads_are_as_many_as_fit_in_memory() -> None:
    executor = Local(limit=1000, max_threads=8)
    executor.check_memory(shared=100, per_task=300)
    assert executor.workers() == 3
    with pytest.raises(MemoryLimitError, match=r"needs 1 kB .* 0.9 kB is left of the limit"):
        executor.check_memory(shared=100, per_task=1000)
