"""A real Dask cluster: scheduler and workers as processes of their own."""

from __future__ import annotations

from pathlib import Path

from distributed import Client

from tests.forked import Forked, run_module
from tests.waiting import until


class Processes:
    """A scheduler, and workers that tests add and kill."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._folder = folder
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        until(self.file.exists)
        self.workers: list[Forked] = []

    def add(self, *options: str, limit: int | None = None) -> Forked:
        """Start a worker, under a limit of its address space in bytes if there is one."""
        more = ("--nthreads", "1", "--no-nanny", *options)
        worker = self._start("worker", *more, limit=limit)
        self.workers.append(worker)
        return worker

    def client(self, count: int) -> Client:
        """A client, when `count` workers are there."""
        client = Client(scheduler_file=str(self.file), set_as_default=False, timeout=5)
        client.wait_for_workers(count, timeout=60)
        return client

    def close(self) -> None:
        """Kill everything."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, kind: str, *options: str, limit: int | None = None) -> Forked:
        shared = ["--scheduler-file", str(self.file), "--no-dashboard"]
        with (self._folder / "log").open("ab") as log:
            return Forked(
                _run,
                *(limit, f"distributed.cli.dask_{kind}", *shared, *options),
                stdout=log.fileno(),
                stderr=log.fileno(),
            )


def _run(limit: int | None, module: str, *arguments: str) -> None:
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    run_module(module, *arguments)
