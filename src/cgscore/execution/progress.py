"""Progress of long work: phases with a total, shown as bars or handed to a function.

The library calls ``with progress.phase("factor", total) as advance: advance(amount)``. What the
user passes as ``progress=`` decides who listens: ``True`` draws bars on standard error, ``False``
nobody, ``None`` draws them if standard error is a terminal, and a function is called with the
phase's name and the fraction done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Listener = Callable[[str, float], object]
Advance = Callable[[float], None]


class Progress(Protocol):
    """Something that phases of work report to."""

    def phase(self, name: str, total: float) -> AbstractContextManager[Advance]:
        """Open a phase of the given size; the context yields a function that advances it."""
        ...


class Silent:
    """Nobody listens."""

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Ignore the phase."""
        yield lambda amount: None


class Calls:
    """Calls a function with the phase and the fraction done."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Report fractions from 0 to 1."""
        done = 0.0

        def advance(amount: float) -> None:
            nonlocal done
            done += amount
            self._listener(name, min(1.0, done / total) if total else 1.0)

        self._listener(name, 0.0)
        yield advance


class Bars:
    """One bar per phase on standard error, with per cent and time left."""

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Draw a bar until the phase ends."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description:<9}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
        )
        with RichProgress(*columns, console=Console(stderr=True)) as bars:
            task = bars.add_task(name, total=total)
            yield lambda amount: bars.advance(task, amount)


class Timed:
    """Passes phases on and keeps the seconds that each took."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Time the phase."""
        start = time.perf_counter()
        with self._inner.phase(name, total) as advance:
            yield advance
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def reporter(progress: bool | Listener | None) -> Progress:
    """What `progress=` asks for."""
    if callable(progress):
        return Calls(progress)
    if progress is None:
        progress = sys.stderr.isatty()
    return Bars() if progress else Silent()
