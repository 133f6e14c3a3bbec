"""Where independent tasks run: one contract, and threads of this process.

A task is ``function(shared, item)``: `function` is named in a module, `shared` reaches every worker
once, `item` is small. Tasks run with one BLAS thread each, wherever they run, and draw random
numbers only from seeds in their item, so that results are the same bits for any number, order and
kind of workers on one type of processor.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar, runtime_checkable

from cgscore.errors import MemoryLimitError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.machine import cores, memory_room, show_bytes

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


#: The first half of an advice; error messages add the second.
SMALLER_TASKS = "Make tasks smaller (with ratio for subsample, memory_limit for partition),"


class Executor(Protocol):
    """Runs tasks."""

    def workers(self) -> int:
        """Tasks that can run at the same time now."""
        ...

    def check_memory(self, shared: int, per_task: int) -> None:
        """Raise `MemoryLimitError` unless tasks of `per_task` bytes fit beside `shared` bytes."""
        ...

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Results as they finish, each with the position of its item."""
        ...

    def describe(self) -> dict[str, Any]:
        """The value of ``meta["workers"]``."""
        ...

    def warnings(self) -> list[str]:
        """Sentences for the warnings of a result from these workers."""
        ...


@runtime_checkable
class ClusterExecutor(Executor, Protocol):
    """Runs tasks in other processes, which can also hold values between calls."""

    def memory(self) -> float:
        """Bytes that all workers may use together."""
        ...

    def hold(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> Any:
        """Values that stay on the workers: ``function(shared, item)`` of every item."""
        ...

    def apply(self, function: Callable[[R, S], T], remote: Any, argument: S) -> list[T]:
        """``function(value, argument)`` of every remote value, in order."""
        ...


def run_task(function: Callable[[S, T], R], shared: S, item: T) -> R:
    """The result of one task, computed with one BLAS thread."""
    with one_blas_thread():
        return function(shared, item)


class Local:
    """Threads of this process, one per core or as many as fit in memory.

    Nearly all of a task is BLAS and passes over arrays, which run outside of Python's lock; threads
    share the data and need no guard in scripts.
    """

    def __init__(self, limit: int | None = None, max_threads: int | None = None) -> None:
        self._limit = limit
        self._count = max_threads or cores()

    def workers(self) -> int:
        """Number of threads."""
        return self._count

    def check_memory(self, shared: int, per_task: int) -> None:
        """Use as many threads as fit in memory; `shared` bytes of a limit are in use already."""
        room = memory_room(self._limit, taken=shared)
        if per_task > room.bytes:
            raise MemoryLimitError(
                f"Each task needs {show_bytes(per_task)} of memory; {room}. {SMALLER_TASKS} "
                "or take a machine with more memory."
            )
        self._count = max(1, min(self._count, room.bytes // max(per_task, 1)))

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Run in threads; at most two items per thread are in flight."""
        pool = ThreadPoolExecutor(self._count)
        running: dict[Future[R], int] = {}
        remaining = iter(enumerate(items))
        try:
            while True:
                while len(running) < 2 * self._count:
                    position, item = next(remaining, (None, None))
                    if position is None:
                        break
                    running[pool.submit(run_task, function, shared, item)] = position  # type: ignore[arg-type]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def describe(self) -> dict[str, Any]:
        """Kind and number of threads."""
        return {"kind": "threads", "count": self._count}

    def warnings(self) -> list[str]:
        """No warnings."""
        return []


def in_order(results: Generator[tuple[int, R]]) -> Iterator[R]:
    """Results of `Executor.map` in the order of their items."""
    early: dict[int, R] = {}
    expected = 0
    for position, result in results:
        early[position] = result
        while expected in early:
            yield early.pop(expected)
            expected += 1
