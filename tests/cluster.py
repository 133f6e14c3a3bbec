"""A real Dask cluster: scheduler and workers as processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from distributed import Client

from tests.waiting import until


class Processes:
    """A scheduler, and workers that tests add and kill."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._folder = folder
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        until(self.file.exists)
        self.workers: list[subprocess.Popen[bytes]] = []

    def add(self, *options: str, limit: int | None = None) -> subprocess.Popen[bytes]:
        """Start a worker, under a limit of its address space in bytes if there is one."""
        before = [] if limit is None else ["prlimit", f"--as={limit}"]
        more = ("--nthreads", "1", "--no-nanny", *options)
        worker = self._start("worker", *more, before=before)
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

    def _start(self, kind: str, *options: str, before: Any = ()) -> subprocess.Popen[bytes]:
        command = [*before, sys.executable, "-m", f"distributed.cli.dask_{kind}"]
        shared = ["--scheduler-file", str(self.file), "--no-dashboard"]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen([*command, *shared, *options], stdout=log, stderr=log)
