"""One contract for all executors."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from cgscore.errors import DataError, MemoryLimitError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.executor import Executor, Local
from cgscore.solvers.cholesky.inplace import subtract_product


@pytest.fixture(
    params=[
        "one thread",
        "three threads",
        pytest.param("dask", marks=pytest.mark.needs("distributed")),
    ]
)
def executor(request: pytest.FixtureRequest) -> Executor:
    if request.param == "dask":
        from cgscore.execution.dask import Cluster

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


def test_threads_are_as_many_as_fit_in_memory() -> None:
    executor = Local(limit=1000, max_threads=8)
    executor.check_memory(shared=100, per_task=300)
    assert executor.workers() == 3
    with pytest.raises(MemoryLimitError, match=r"needs 1 kB .* 0.9 kB is left of the limit"):
        executor.check_memory(shared=100, per_task=1000)
