"""Tasks and matrix panels on a Dask cluster.

Shared data are scattered to all workers once. Dask itself reruns the tasks of a lost worker and
copies the data to a new one; if the last worker that holds the data dies, they are scattered
again. Failures from which Dask cannot recover raise a `ClusterError` that names the cause.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import platform
import signal
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
from distributed import Client, Future, LocalCluster, as_completed
from distributed.comm.core import CommClosedError
from distributed.protocol.pickle import dumps
from distributed.scheduler import KilledWorker

from cgscore import __version__
from cgscore.errors import CGScoreError, ClusterError, MemoryLimitError
from cgscore.execution.blas import libraries
from cgscore.execution.executor import SMALLER_TASKS, run_task
from cgscore.execution.machine import show_bytes

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_CONNECTION_LOST = "The connection to the Dask scheduler was lost."
_RESTART_ADVICE = (
    "Start the cluster again, and run again; with a checkpoint no finished task is repeated."
)

RETRIES = 3  # scatters in a row without a finished task before giving up
WORKER_LIST_SECONDS = 1.0  # age up to which the list of workers is reused for the progress shown
CONNECT_SECONDS = 30  # timeout for a scheduler or a first worker
SCATTER_SECONDS = 30.0  # timeout for data to reach all workers,
MIN_BYTES_PER_SECOND = 1e6  # plus their size at this rate


@contextmanager
def connected(
    address: str | None = None, scheduler_file: str | None = None, workers: int | None = None
) -> Iterator[Client]:
    """A client of the cluster at an address or in a file, or of a new one of local processes."""
    if workers is not None:
        try:
            with _deferred_interrupts(), ExitStack() as starting:
                local = starting.enter_context(
                    LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        dashboard_address=None,
                        # Failures reach the client. What workers log besides are tracebacks of
                        # heartbeats that find the scheduler gone when all of it is closed.
                        silence_logs=logging.CRITICAL,
                    )
                )
                client = starting.enter_context(Client(local))
                running = starting.pop_all()
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"{workers} local workers could not be started: {error}") from error
        try:
            yield client
        finally:
            with _deferred_interrupts():
                running.close()
        return
    where = address or scheduler_file
    try:
        client = Client(address or _address_in(scheduler_file), timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {where} ({error}). Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS --nthreads 1`."
        ) from error
    with client:
        yield client


@contextmanager
def _deferred_interrupts() -> Iterator[None]:
    """Defer a `KeyboardInterrupt` to the end of the block: Dask cannot be stopped while it starts.

    Processes started inside ignore the signal: Ctrl-C in a terminal reaches them too, and they end
    with this one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    masked = hasattr(signal, "pthread_sigmask")  # threads and processes inherit the mask
    if masked:
        from multiprocessing import resource_tracker

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
    """The address in a scheduler file."""
    try:
        document = json.loads(Path(str(scheduler_file)).read_text(encoding="utf-8"))
        return str(document["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"{scheduler_file} is not a scheduler file ({error!r}). `dask scheduler "
            "--scheduler-file FILE` writes one."
        ) from error


@dataclass
class RemoteArray:
    """Values on workers, and how to recompute them."""

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
        self._workers: dict[str, Any] = {}  # by address, as last fetched
        self._last_workers: dict[str, Any] = {}  # the last list that was not empty
        self._fetch_time = 0.0
        with _naming_failures("the first call"):
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            self._check()

    def workers(self) -> int:
        """Threads of all connected workers, at most `WORKER_LIST_SECONDS` seconds old."""
        is_recent = self._workers and time.monotonic() - self._fetch_time < WORKER_LIST_SECONDS
        workers = self._workers if is_recent else self._fetch_workers()
        return sum(worker["nthreads"] for worker in workers.values())

    def memory(self) -> float:
        """Bytes of all workers together; infinite if one has no limit."""
        limits = [worker["memory_limit"] for worker in self._fetch_workers().values()]
        return float(sum(limits)) if all(limits) else float("inf")

    def check_memory(self, shared: int, per_task: int) -> None:
        """Raise `MemoryLimitError` if a worker has too little memory for its tasks."""
        for name, worker in self._fetch_workers().items():
            threads, limit = worker["nthreads"], worker["memory_limit"]
            needed = shared + per_task * threads
            if limit and needed > limit:
                raise MemoryLimitError(
                    f"The worker {name} may use {show_bytes(limit)} of memory and needs "
                    f"{show_bytes(needed)}: {show_bytes(shared)} for the data and "
                    f"{show_bytes(per_task)} for a task in each of its {threads} threads. "
                    f"{SMALLER_TASKS} or start workers with a larger --memory-limit or fewer "
                    "--nthreads."
                )

    def map(
        self, function: Callable[[S, T], R], shared: S, items: Sequence[T]
    ) -> Generator[tuple[int, R]]:
        """Run on the workers, earlier items first."""
        remaining = dict(enumerate(items))
        failed_rounds = 0
        while remaining:
            before = len(remaining)
            for position, result in self._run_remaining(function, shared, remaining):
                del remaining[position]
                yield position, result
            failed_rounds = 0 if len(remaining) < before else failed_rounds + 1
            if failed_rounds == RETRIES:
                raise ClusterError(
                    f"Workers died {RETRIES} times before any task was finished, and the data with "
                    "them. Look at the workers' logs; they may have too little memory."
                )

    def hold(self, function: Callable[[S, T], R], shared: S, items: Sequence[T]) -> RemoteArray:
        """Values that stay on the workers: ``function(shared, item)`` of every item."""

        def make() -> list[Future[Any]]:
            with _naming_failures("a part of the kernel matrix"):
                data = self._scatter(shared)
                futures = self._client.map(
                    _task,
                    items,
                    function=function,
                    shared=data,
                    key=_name(),
                    pure=False,
                    version=__version__,
                )
                for future in as_completed(futures, loop=self._client.loop):
                    if future.status != "finished":
                        future.result()
            return list(futures)

        return RemoteArray(make, make())

    def apply(self, function: Callable[[R, S], T], remote: RemoteArray, argument: S) -> list[T]:
        """``function(value, argument)`` computed where each value is, in order.

        Dask recomputes values that are lost with a worker. Where it cannot, because their inputs
        are lost too, all values are recomputed.
        """
        attempt = 0
        while True:
            try:
                with _naming_failures("a product"):
                    data = self._scatter(argument)
                    futures = self._client.map(
                        _with_argument,
                        remote.values,
                        function=function,
                        argument=data,
                        key=_name(),
                        pure=False,
                    )
                    results: list[T] = self._client.gather(futures)
                return results
            except _DataLostError:  # noqa: PERF203
                attempt += 1
                if attempt == RETRIES:
                    raise
                remote.values = remote.make()

    def describe(self) -> dict[str, Any]:
        """The workers as of the last non-empty list: they may be gone once the work is done."""
        threads = sum(worker["nthreads"] for worker in self._last_workers.values())
        return {"kind": "dask", "count": len(self._last_workers), "threads": threads}

    def warnings(self) -> list[str]:
        """Workers whose libraries differ from those here."""
        return self._warnings

    def _run_remaining(
        self, function: Callable[[S, T], R], shared: S, remaining: dict[int, T]
    ) -> Generator[tuple[int, R]]:
        """Results of the remaining items, until all are done or the data are lost."""
        order = sorted(remaining)
        with _naming_failures("a task"):
            data = self._scatter(shared)
            futures = self._client.map(
                _task,
                [remaining[position] for position in order],
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
                    with _naming_failures("a task"):
                        result = future.result()
                except _DataLostError:
                    continue
                yield positions[future.key], result
                running.pop(future.key).release()
        finally:
            # a scheduler that is gone has forgotten them, noticed here or not
            if self._client.status == "running":
                with suppress(OSError, TimeoutError, RuntimeError, CancelledError):
                    self._client.cancel(list(running.values()), force=True)

    def _scatter(self, value: S) -> Future[S]:
        """The value on all workers; retried if a worker dies meanwhile.

        The scheduler would wait for that worker forever: it requests as many copies as there were
        workers at the start.
        """

        async def spread(key: str) -> Any:
            return await self._client.scatter({key: value}, broadcast=True, asynchronous=True)

        attempt, seconds = 0, scatter_seconds(value)
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
                if waited and not self._fetch_workers():
                    raise ClusterError(
                        "Workers died again and again, and none is left. They probably ran out of "
                        f"memory. {SMALLER_TASKS} or start workers with a larger --memory-limit or "
                        "fewer --nthreads."
                    ) from error
                if attempt > RETRIES or self._client.status != "running":
                    raise
                Future(key, self._client).release()  # or the scheduler would go on trying
                time.sleep(2**attempt / 4)  # the scheduler has to notice

    def _fetch_workers(self) -> dict[str, Any]:
        """The workers connected now."""
        with _naming_failures("a look at the workers"):
            info = self._client.scheduler_info(n_workers=-1)
        if "workers" not in info:
            raise ClusterError(f"{_CONNECTION_LOST} {_RESTART_ADVICE}")
        self._workers, self._fetch_time = info["workers"], time.monotonic()
        self._last_workers = self._workers or self._last_workers
        return self._workers

    def _check(self) -> None:
        """Reject workers with another version of cgscore; warn if their libraries differ."""
        ours = environment()
        try:
            environments = self._client.run(environment)
        except (ModuleNotFoundError, AttributeError) as error:
            raise ClusterError(
                f"The workers cannot import cgscore ({error}). Install cgscore "
                f"{ours['cgscore']} where they run, and start them again."
            ) from error
        for name, theirs in environments.items():
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
    """Versions and hardware that decide the bits of a result here."""
    return {
        "cgscore": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "BLAS": libraries(threads=False),
        "machine": platform.machine(),
    }


def scatter_seconds(value: object) -> float:
    """Timeout for a value to reach all workers: a constant, and a time that grows with its size."""
    return SCATTER_SECONDS + sent_bytes(value) / MIN_BYTES_PER_SECOND


def sent_bytes(value: object) -> int:
    """Bytes of a value as Dask sends it. Arrays count with their size and are not copied.

    `dask.sizeof` does not look into our classes. The exception to the above are arrays with gaps
    between their numbers: they have to be packed for sending, too.
    """
    buffers: list[pickle.PickleBuffer] = []
    pickled: bytes = dumps(value, buffer_callback=buffers.append)
    return len(pickled) + sum(buffer.raw().nbytes for buffer in buffers)


def _task(item: T, *, function: Callable[[S, T], R], shared: S, version: str) -> R:
    if __version__ != version:  # a worker may have joined after `Cluster._check`
        raise ClusterError(
            f"A worker has cgscore {__version__}, the caller {version}. Install the same version "
            "everywhere."
        )
    return run_task(function, shared, item)


def _with_argument(value: R, *, function: Callable[[R, S], T], argument: S) -> T:
    return run_task(function, value, argument)


def _name() -> str:
    return f"cgscore-{uuid.uuid4().hex}"


class _DataLostError(ClusterError):
    """All workers that held some data died; their tasks are lost."""


def _reason(error: Any) -> str:
    """Why one future, or a group of gathered futures, was cancelled."""
    groups = getattr(error, "error_groups", None)
    return str(groups[0].reason if groups else getattr(error, "reason", "unknown"))


def _connection_lost(activity: str) -> ClusterError:
    return ClusterError(f"{_CONNECTION_LOST} It was busy with {activity}. {_RESTART_ADVICE}")


@contextmanager
def _naming_failures(activity: str) -> Iterator[None]:
    """Turn what Dask raises during an activity into errors that say what happened."""
    try:
        yield
    except CGScoreError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died again and again while they worked on {activity}; the last was "
            f"{error.last_worker.address}. They probably ran out of memory. {SMALLER_TASKS} or "
            "start workers with a larger --memory-limit or fewer --nthreads."
        ) from error
    except MemoryError as error:
        raise MemoryLimitError(
            f"A worker ran out of memory on {activity} ({error}). {SMALLER_TASKS} or start workers "
            "with more memory or fewer --nthreads."
        ) from error
    except CancelledError as error:
        if _reason(error).startswith("scheduler"):
            raise _connection_lost(activity) from error
        raise _DataLostError(
            f"All workers that held the data died during {activity}. Look at their logs; they may "
            "have too little memory. With a checkpoint a new run goes on from here."
        ) from error
    except (CommClosedError, ConnectionError) as error:  # how a dead scheduler may show as well
        raise _connection_lost(activity) from error
    except (OSError, TimeoutError, RuntimeError) as error:  # the latter from a closed client
        raise ClusterError(
            f"The Dask cluster does not answer: {error}. {_RESTART_ADVICE}"
        ) from error
