"""Where independent tasks run: one contract, and threads of this process.

A task is ``function(shared, item)``: `function` is named in a module, `shared` reaches every worker
once, `item` is small. Tasks run with one BLAS thread each, wherever they run, and draw random
numbers only from seeds in their item, so that results are the same bits for any number, order and
kind of workers on one type of processor.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar, runtime_checkable

from cgscore.errors import MemoryLimitError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.machine import cores, memory_room, show_bytes

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


#: How users make tasks smaller.
SMALLER = "Make tasks smaller (with ratio for subsample, memory_limit for partition),"


class Executor(Protocol):
    """Runs tasks."""

    def workers(self) -> int:
        """Tasks that can run at the same time now."""
        ...

    def check_memory(self, shared: int, each: int) -> None:
        """Raise `MemoryLimitError` unless tasks of `each` bytes fit beside `shared` bytes."""
        ...

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Results as they come, each with the position of its item."""
        ...

    def describe(self) -> dict[str, Any]:
        """What ``meta["workers"]`` says."""
        ...

    def warnings(self) -> list[str]:
        """What a reader of results from these workers should know."""
        ...


@runtime_checkable
class ClusterExecutor(Executor, Protocol):
    """Runs tasks in other processes, which can also keep values."""

    def memory(self) -> float:
        """Bytes that all workers may use together."""
        ...

    def hold(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> Any:
        """Values that stay where they are made: ``function(shared, item)`` of every item."""
        ...

    def each(self, function: Callable[[R, S], T], held: Any, argument: S) -> list[T]:
        """``function(value, argument)`` of every held value, in their order."""
        ...


def alone(function: Callable[[S, T], R], shared: S, item: T) -> R:
    """The task, with one BLAS thread."""
    with one_blas_thread():
        return function(shared, item)


class Local:
    """Threads of this process, one per core or as many as fit in memory.

    Nearly all of a task is BLAS and passes over arrays, which run outside of Python's lock; threads
    share the data and need no guard in scripts.
    """

    def __init__(self, limit: int | None = None, most: int | None = None) -> None:
        self._limit = limit
        self._count = most or cores()

    def workers(self) -> int:
        """Threads."""
        return self._count

    def check_memory(self, shared: int, each: int) -> None:
        """Take as many threads as fit; the shared data are in memory, and count in a limit."""
        room = memory_room(self._limit, taken=shared)
        if each > room.bytes:
            raise MemoryLimitError(
                f"Each task needs {show_bytes(each)} of memory; {room}. {SMALLER} "
                "or take a machine with more memory."
            )
        self._count = max(1, min(self._count, room.bytes // max(each, 1)))

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Run in threads; few results wait to be taken."""
        pool = ThreadPoolExecutor(self._count)
        running: dict[Future[R], int] = {}
        left = iter(enumerate(items))
        try:
            while True:
                while len(running) < 2 * self._count:
                    position, item = next(left, (None, None))
                    if position is None:
                        break
                    running[pool.submit(alone, function, shared, item)] = position  # type: ignore[arg-type]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def describe(self) -> dict[str, Any]:
        """Threads."""
        return {"kind": "threads", "count": self._count}

    def warnings(self) -> list[str]:
        """None."""
        return []
