"""Progress of long work: phases with a total, shown as one bar or handed to a function.

The library calls ``with progress.phase("factor", total) as advance: advance(amount)``; phases may
be open at the same time and take turns. Totals are counts of the same thing (flops), so that
``with progress.whole(total)`` around them gives per cent and time left of all together.

The user's ``progress=`` chooses the display: ``True`` draws a bar on standard error, ``False``
shows nothing, ``None`` draws the bar if standard error is a terminal, and a function is called
with the name of the phase and the fraction of it that is done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, runtime_checkable

from cgscore.execution.machine import show_seconds

Listener = Callable[[str, float], object]


class Advance(Protocol):
    """Advances a phase by an amount.

    `before` marks work done by an earlier run; `note` is shown beside the bar.
    """

    def __call__(self, amount: float, *, before: bool = False, note: str = "") -> None:
        """Advance the phase."""
        ...


@runtime_checkable
class Progress(Protocol):
    """Receives the progress of the phases of a computation."""

    def whole(self, total: float) -> AbstractContextManager[None]:
        """All phases opened inside add up to `total`."""
        ...

    def phase(self, name: str, total: float) -> AbstractContextManager[Advance]:
        """Open a phase of the given size; the context yields a function that advances it."""
        ...


def ignore(amount: float, *, before: bool = False, note: str = "") -> None:
    """Ignore progress, for work too short to report."""


class Silent:
    """Shows nothing."""

    def whole(self, total: float) -> AbstractContextManager[None]:
        """Ignore the total."""
        return nullcontext()

    def phase(self, name: str, total: float) -> AbstractContextManager[Advance]:
        """Ignore the phase."""
        return nullcontext(ignore)


class Calls:
    """Calls a function with the phase and the fraction done."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def whole(self, total: float) -> AbstractContextManager[None]:
        """Ignore the total: phases are reported one by one."""
        return nullcontext()

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Report fractions from 0 to 1."""
        done = 0.0

        def advance(amount: float, *, before: bool = False, note: str = "") -> None:
            nonlocal done
            done += amount
            self._listener(name, min(1.0, done / total) if total else 1.0)

        self._listener(name, 0.0)
        yield advance


class Bars:
    """A bar on standard error: the phase, per cent of the whole, and time left."""

    def __init__(self) -> None:
        self._bar: _Bar | None = None

    @contextmanager
    def whole(self, total: float) -> Iterator[None]:
        """Draw one bar for all phases inside."""
        with _Bar(total) as self._bar:
            try:
                yield
            finally:
                self._bar = None

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Move the bar of the whole, or draw one for this phase."""
        if self._bar:
            yield self._bar.mover(name)
            return
        with _Bar(total) as bar:
            yield bar.mover(name)


class _Bar:
    """One bar; the time left is that of the remaining work at the mean speed so far."""

    def __init__(self, total: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._total = total
        self._done = 0.0  # of the total
        self._new = 0.0  # of it, since `_start`: not read from an earlier run
        self._start = time.perf_counter()
        self._display = Progress(
            TextColumn("{task.description:<9}"),
            BarColumn(),
            TaskProgressColumn(show_speed=False),
            TextColumn("{task.fields[time_left]}"),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
        )
        self._task = self._display.add_task("", total=total, time_left="", note="")

    def __enter__(self) -> _Bar:
        self._display.start()
        return self

    def __exit__(self, *_: Any) -> None:
        spent = show_seconds(time.perf_counter() - self._start)
        self._display.update(self._task, time_left=f"{spent}")
        self._display.stop()

    def mover(self, name: str) -> Advance:
        """A function that moves the bar and shows `name` beside it."""

        def advance(amount: float, *, before: bool = False, note: str = "") -> None:
            self._done += amount
            if before:
                self._start = time.perf_counter()  # reading finished parts says nothing of speed
                self._new = 0.0
            else:
                self._new += amount
            spent = time.perf_counter() - self._start
            time_left = ""
            if self._new > 0 and spent > 0.1:
                seconds = max(0.0, self._total - self._done) * spent / self._new
                time_left = f"{show_seconds(seconds)} left"
            self._display.update(
                self._task, completed=self._done, description=name, time_left=time_left, note=note
            )

        return advance


class Named:
    """Forwards the progress of all phases to another display under one name."""

    def __init__(self, name: str, inner: Progress) -> None:
        self._name, self._inner = name, inner

    def whole(self, total: float) -> AbstractContextManager[None]:
        """Forward the total."""
        return self._inner.whole(total)

    def phase(self, name: str, total: float) -> AbstractContextManager[Advance]:
        """Open a phase of the one name."""
        return self._inner.phase(self._name, total)


class Timed:
    """Forwards progress to another display and records the seconds of each phase.

    Time is booked on the phase that advances, so that phases may alternate.
    """

    def __init__(self, inner: Progress) -> None:
        self.inner = inner
        self._last = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def whole(self, total: float) -> AbstractContextManager[None]:
        """Forward the total."""
        return self.inner.whole(total)

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Advance]:
        """Time the phase."""
        self._last = time.perf_counter()
        with self.inner.phase(name, total) as inner:

            def advance(amount: float, *, before: bool = False, note: str = "") -> None:
                inner(amount, before=before, note=note)
                self._book(name)

            yield advance
            self._book(name)

    def _book(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


def reporter(progress: bool | Listener | None) -> Progress:
    """The display for a value of ``progress=``."""
    if callable(progress):
        return Calls(progress)
    if progress is None:
        progress = sys.stderr.isatty()
    return Bars() if progress else Silent()
