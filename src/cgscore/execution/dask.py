"""Tasks and matrix panels on a Dask cluster.

Shared data are scattered to all workers once. Dask itself repeats what a lost worker had in hand
and fetches the data for a new one; if the last worker that holds the data dies, they are scattered
again. What Dask cannot mend ends in a `ClusterError` that says what happened.
"""

from __future__ import annotations

import asyncio
import json
import platform
import signal
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
from dask.sizeof import sizeof
from distributed import Client, Future, LocalCluster, as_completed
from distributed.scheduler import KilledWorker

from cgscore import __version__
from cgscore.errors import CGScoreError, ClusterError, MemoryLimitError
from cgscore.execution.blas import libraries
from cgscore.execution.executor import SMALLER, alone
from cgscore.execution.machine import show_bytes

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_GONE = "The connection to the Dask scheduler was lost."
_AGAIN = "Start the cluster again, and run again; with a checkpoint no finished task is repeated."

RETRIES = 3  # times that data are scattered again without a task finished in between
FRESH = 1.0  # seconds for which a look at the workers is good enough for the progress shown
WAIT = 30  # seconds for a scheduler or a first worker
RECONNECT_SECONDS = 30.0  # seconds for data to reach all workers,
SLOWEST = 1e6  # and bytes of them that must at least be done in one more


@contextmanager
def connected(
    address: str | None = None, scheduler_file: str | None = None, workers: int | None = None
) -> Iterator[Client]:
    """A client of the cluster at an address or in a file, or of a new one of local processes."""
    if workers is not None:
        try:
            with _later_interrupts(), ExitStack() as starting:
                local = starting.enter_context(
                    LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
                )
                client = starting.enter_context(Client(local))
                running = starting.pop_all()
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"{workers} local workers could not be started: {error}") from error
        try:
            yield client
        finally:
            with _later_interrupts():
                running.close()
        return
    where = address or scheduler_file
    try:
        client = Client(address or _address_in(scheduler_file), timeout=WAIT)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {where} ({error}). Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS --nthreads 1`."
        ) from error
    with client:
        yield client


@contextmanager
def _later_interrupts() -> Iterator[None]:
    """Raise a `KeyboardInterrupt` after what is inside: Dask cannot be stopped while it starts.

    Processes that are started inside are not interrupted at all: Ctrl-C in a terminal reaches them
    too, and they end with this one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    masked = hasattr(signal, "pthread_sigmask")  # threads and processes inherit the mask
    if masked:
        resource_tracker.ensure_running()  # which would unmask the signal when it starts
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
    try:
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if pressed:
            raise KeyboardInterrupt


def _address_in(scheduler_file: str | None) -> str:
    """The address in the file that a scheduler wrote."""
    try:
        found = json.loads(Path(str(scheduler_file)).read_text(encoding="utf-8"))
        return str(found["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"{scheduler_file} is no scheduler file ({error!r}). `dask scheduler "
            "--scheduler-file FILE` writes one."
        ) from error


@dataclass
class RemoteArray:
    """Values on workers, and how to make them again."""

    make: Callable[[], list[Future[Any]]]
    values: list[Future[Any]]


class Cluster:
    """Runs tasks on the workers of a Dask client."""

    def __init__(self, client: Any) -> None:
        if not isinstance(client, Client):
            raise ClusterError(
                f"client={client!r} is not a client of dask.distributed. "
                "Give distributed.Client('tcp://...')."
            )
        self._client = client
        self._warnings: list[str] = []
        self._last: dict[str, Any] = {}  # workers, as of the last look,
        self._there: dict[str, Any] = {}  # and of the last one that saw any
        self._looked = 0.0
        with _mended("the first call"):
            client.wait_for_workers(1, timeout=WAIT)
            self._check()

    def workers(self) -> int:
        """Threads of all workers that are there, as of `FRESH` seconds ago at most."""
        fresh = self._last and time.monotonic() - self._looked < FRESH
        found = self._last if fresh else self._found()
        return sum(worker["nthreads"] for worker in found.values())

    def memory(self) -> float:
        """Bytes of all workers together; infinite if one has no limit."""
        limits = [worker["memory_limit"] for worker in self._found().values()]
        return float(sum(limits)) if all(limits) else float("inf")

    def check_memory(self, shared: int, each: int) -> None:
        """Refuse workers that are too small before they die of it."""
        for name, worker in self._found().items():
            threads, limit = worker["nthreads"], worker["memory_limit"]
            needed = shared + each * threads
            if limit and needed > limit:
                raise MemoryLimitError(
                    f"The worker {name} may use {show_bytes(limit)} of memory and needs "
                    f"{show_bytes(needed)}: {show_bytes(shared)} for the data and "
                    f"{show_bytes(each)} for a task in each of its {threads} threads. {SMALLER} "
                    "or start workers with a larger --memory-limit or fewer --nthreads."
                )

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Run on the workers, earlier items first."""
        left = dict(enumerate(items))
        fruitless = 0
        while left:
            before = len(left)
            for position, result in self._round(function, shared, left):
                del left[position]
                yield position, result
            fruitless = 0 if len(left) < before else fruitless + 1
            if fruitless == RETRIES:
                raise ClusterError(
                    f"Workers died {RETRIES} times before any task was finished, and the data with "
                    "them. Look at the workers' logs; they may have too little memory."
                )

    def hold(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> RemoteArray:
        """Values that stay on the workers: ``function(shared, item)`` of every item."""

        def make() -> list[Future[Any]]:
            with _mended("a part of the kernel matrix"):
                data = self._scattered(shared)
                made = self._client.map(
                    _task,
                    items,
                    function=function,
                    shared=data,
                    key=_name(),
                    pure=False,
                    version=__version__,
                )
                for future in as_completed(made, loop=self._client.loop):
                    if future.status != "finished":
                        future.result()
            return list(made)

        return RemoteArray(make, make())

    def each(self, function: Callable[[R, S], T], held: RemoteArray, argument: S) -> list[T]:
        """``function(value, argument)`` where the values are, in their order.

        Dask makes values again that are lost with a worker. Where it cannot, because what they are
        made of is lost too, all are made again.
        """
        attempt = 0
        while True:
            try:
                with _mended("a product"):
                    data = self._scattered(argument)
                    asked = self._client.map(
                        _with_argument,
                        held.values,
                        function=function,
                        argument=data,
                        key=_name(),
                        pure=False,
                    )
                    found: list[T] = self._client.gather(asked)
                return found
            except _Forgotten:  # noqa: PERF203
                attempt += 1
                if attempt == RETRIES:
                    raise
                held.values = held.make()

    def describe(self) -> dict[str, Any]:
        """Dask's workers when any were seen last: all may be gone once the work is done."""
        threads = sum(worker["nthreads"] for worker in self._there.values())
        return {"kind": "dask", "count": len(self._there), "threads": threads}

    def warnings(self) -> list[str]:
        """Workers with other libraries."""
        return self._warnings

    def _round(
        self, function: Callable[[S, T], R], shared: S, left: dict[int, T]
    ) -> Generator[tuple[int, R]]:
        """Results of what is left, until nothing is or the data are lost."""
        order = sorted(left)
        with _mended("a task"):
            data = self._scattered(shared)
            futures = self._client.map(
                _task,
                [left[position] for position in order],
                function=function,
                shared=data,
                version=__version__,
                key=_name(),
                pure=False,
            )
        positions = {future.key: position for future, position in zip(futures, order, strict=True)}
        running = dict(zip((future.key for future in futures), futures, strict=True))
        futures.clear()
        try:
            for future in as_completed(list(running.values()), loop=self._client.loop):
                try:
                    with _mended("a task"):
                        result = future.result()
                except _Forgotten:
                    continue
                yield positions[future.key], result
                running.pop(future.key).release()
        finally:
            # a scheduler that is gone has forgotten them, noticed here or not
            if self._client.status == "running":
                with suppress(OSError, TimeoutError, RuntimeError, CancelledError):
                    self._client.cancel(list(running.values()), force=True)

    def _scattered(self, value: S) -> Future[S]:
        """The value on all workers; tried again when one dies in the middle of it.

        The scheduler would wait for that one for ever: it asks for as many copies as there were
        workers when it began.
        """

        async def spread(key: str) -> Any:
            return await self._client.scatter({key: value}, broadcast=True, asynchronous=True)

        attempt, seconds = 0, RECONNECT_SECONDS + sizeof(value) / SLOWEST
        while True:
            key = _name()
            try:
                futures: dict[str, Future[S]] = self._client.sync(
                    spread, key, callback_timeout=seconds
                )
                return futures[key]
            except (OSError, KeyError, asyncio.TimeoutError) as error:
                # a KeyError is the scheduler's way to say that a worker is gone
                attempt += 1
                waited = isinstance(error, TimeoutError) and self._client.status == "running"
                if waited and not self._found():
                    raise ClusterError(
                        "Workers died again and again, and none is left. They probably ran out of "
                        f"memory. {SMALLER} or start workers with a larger --memory-limit or fewer "
                        "--nthreads."
                    ) from error
                if attempt > RETRIES or self._client.status != "running":
                    raise
                Future(key, self._client).release()  # or the scheduler would go on trying
                time.sleep(2**attempt / 4)  # the scheduler has to notice

    def _found(self) -> dict[str, Any]:
        """The workers that are there now."""
        with _mended("a look at the workers"):
            found = self._client.scheduler_info(n_workers=-1)
        if "workers" not in found:
            raise ClusterError(f"{_GONE} {_AGAIN}")
        self._last, self._looked = found["workers"], time.monotonic()
        self._there = self._last or self._there
        return self._last

    def _check(self) -> None:
        """Refuse workers without this version of cgscore; warn if their libraries differ."""
        ours = environment()
        try:
            found = self._client.run(environment)
        except (ModuleNotFoundError, AttributeError) as error:
            raise ClusterError(
                f"The workers cannot import cgscore ({error}). Install cgscore "
                f"{ours['cgscore']} where they run, and start them again."
            ) from error
        for name, theirs in found.items():
            if theirs["cgscore"] != ours["cgscore"]:
                raise ClusterError(
                    f"The worker {name} has cgscore {theirs['cgscore']}, here is "
                    f"{ours['cgscore']}. Install the same version everywhere."
                )
            other = [key for key, value in ours.items() if theirs[key] != value]
            if other:
                self._warnings.append(
                    f"The worker {name} differs from this machine in {', '.join(other)}: results "
                    "may differ in their last digits from those of other workers."
                )


def environment() -> dict[str, Any]:
    """What decides the bits of a task here."""
    return {
        "cgscore": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "BLAS": libraries(threads=False),
        "machine": platform.machine(),
    }


def _task(item: T, *, function: Callable[[S, T], R], shared: S, version: str) -> R:
    if __version__ != version:  # it may have joined after all others were asked
        raise ClusterError(
            f"A worker has cgscore {__version__}, the caller {version}. Install the same version "
            "everywhere."
        )
    return alone(function, shared, item)


def _with_argument(value: R, *, function: Callable[[R, S], T], argument: S) -> T:
    return alone(function, value, argument)


def _name() -> str:
    return f"cgscore-{uuid.uuid4().hex}"


class _Forgotten(ClusterError):
    """All workers that held some data died, and the work with them."""


def _reason(error: Any) -> str:
    """Why work was cancelled, of one future or of several that were gathered."""
    groups = getattr(error, "error_groups", None)
    return str(groups[0].reason if groups else getattr(error, "reason", "unknown"))


@contextmanager
def _mended(what: str) -> Iterator[None]:
    """Turn what Dask raises into errors that say what happened."""
    try:
        yield
    except CGScoreError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died again and again while they worked on {what}; the last was "
            f"{error.last_worker.address}. They probably ran out of memory. {SMALLER} or start "
            "workers with a larger --memory-limit or fewer --nthreads."
        ) from error
    except MemoryError as error:
        raise MemoryLimitError(
            f"A worker ran out of memory on {what} ({error}). {SMALLER} or start workers with more "
            "memory or fewer --nthreads."
        ) from error
    except CancelledError as error:
        if _reason(error).startswith("scheduler"):
            raise ClusterError(f"{_GONE} It was busy with {what}. {_AGAIN}") from error
        raise _Forgotten(
            f"All workers that held the data died during {what}. Look at their logs; they may have "
            "too little memory. With a checkpoint a new run goes on from here."
        ) from error
    except (OSError, TimeoutError, RuntimeError) as error:  # the latter from a closed client
        raise ClusterError(f"The Dask cluster does not answer: {error}. {_AGAIN}") from error
