"""Processes that start at once: forked from one that has loaded what they import.

Python alone starts in a moment; pandas, scikit-learn and the rest take seconds of every process.
What begins with a fresh interpreter (imports, environment variables that libraries read when they
are loaded) is tested with ``subprocess``.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_LOADED = [
    *("pandas", "pyarrow.csv", "pyarrow.parquet", "sklearn.impute", "sklearn.preprocessing"),
    *("cgscore.api", "cgscore.cli.score", "cgscore.cli.review", "cgscore.review.server"),
    *("PIL.Image", "pytest", "distributed.cli.utils", "cgscore.execution.dask"),
]


class Forked:
    """A function in a process of its own; the methods are those of ``subprocess.Popen``."""

    def __init__(
        self,
        function: Callable[..., object],
        *arguments: object,
        folder: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        """`stdout` and `stderr` are open files, which stay open here."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_LOADED)
        streams = {1: stdout, 2: stderr}
        self._process = context.Process(
            target=_Start(function, arguments, folder or Path.cwd(), dict(environment), streams)
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status; minus the number of the signal that ended it."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def heed_signals() -> None:
    """As in a terminal: tests that run without one may have signals ignored."""
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_module(name: str, *arguments: str) -> None:
    """As ``python -m NAME ARGUMENTS``."""
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


class _Start:
    """What the new process does first: its folder, environment, streams and signals."""

    def __init__(
        self,
        function: Callable[..., object],
        arguments: tuple[object, ...],
        folder: Path,
        environment: dict[str, str],
        streams: dict[int, int | None],
    ) -> None:
        self._call = function, arguments
        self._folder, self._environment, self._streams = folder, environment, streams

    def __getstate__(self) -> dict[str, Any]:
        from multiprocessing.reduction import DupFd  # not on Windows

        sent = {to: None if file is None else DupFd(file) for to, file in self._streams.items()}
        return {**self.__dict__, "_streams": sent}

    def __call__(self) -> None:
        os.chdir(self._folder)
        os.environ.clear()
        os.environ.update(self._environment)
        for number, file in self._streams.items():
            if file is not None:
                os.dup2(file.detach(), number)  # type: ignore[attr-defined]
        # those of the first process are of another kind of file
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        heed_signals()
        function, arguments = self._call
        function(*arguments)
