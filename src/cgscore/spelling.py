"""How messages spell an option: as a keyword in Python, as a flag at the command line.

A message is written once, by code that does not know who will read it. `messages_for` says who
does; by default it is somebody who writes Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

Reader = Literal["python", "command line"]

_reader: ContextVar[Reader] = ContextVar("reader", default="python")


@contextmanager
def messages_for(reader: Reader) -> Iterator[None]:
    """A context in which messages spell options for Python or for the command line."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def spelled(**options: Any) -> str:
    """Options with their values, as the reader of the message writes them.

    Examples
    --------
    >>> spelled(label_column="class")
    "label_column='class'"
    >>> with messages_for("command line"):
    ...     spelled(skip_bad=True, resize=(64, 48))
    '--skip-bad --resize 64x48'
    """
    if _reader.get() == "command line":
        return " ".join(_flag(name, value) for name, value in options.items())
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def for_reader(*, python: str, command_line: str) -> str:
    """The text for the reader of the message, where a keyword and its flag have different names."""
    return command_line if _reader.get() == "command line" else python


def _flag(name: str, value: Any) -> str:
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        return flag
    if isinstance(value, list):
        return " ".join(_flag(name, item) for item in value)
    text = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f'{flag} "{text}"' if " " in text else f"{flag} {text}"
