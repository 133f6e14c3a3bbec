"""Standard output and error: safe text, JSON, and streams that may be closed or broken."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cgscore.errors import CGScoreWarning
from cgscore.execution.file_names import WINDOWS

if TYPE_CHECKING:
    from rich.console import Console

MAX_TEXT_WIDTH = 40  # characters of an id, label or text
PIPE_WIDTH = 200  # characters of a line if standard output is not a terminal


def prepare_streams() -> None:
    """Make standard output and error usable whatever they are connected to.

    Closed streams are opened on the null device, warnings become one line each, and characters
    that a terminal cannot show are escaped.
    """
    _open_closed_streams()
    warnings.showwarning = lambda message, *_: print_error(f"warning: {message}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _open_closed_streams() -> None:
    """Connect closed standard streams to the null device.

    Their file descriptors would otherwise be given to the next files that are opened.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def is_broken_pipe(error: OSError) -> bool:
    """Whether whoever reads standard output has stopped reading.

    Windows calls that an invalid argument, as it does a bad name of a file, which the error has.
    """
    invalid = error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or (WINDOWS and invalid)


def discard_output() -> None:
    """Connect standard output to the null device, so that what is still buffered is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Ignore warnings of this package: commands print them from the result's metadata."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CGScoreWarning)
        yield


def output_console() -> Console:
    """A console for results on standard output."""
    from rich.console import Console

    class OutputConsole(Console):
        def on_broken_pipe(self) -> None:
            """Stop printing, but go on: the result is still to be written."""
            discard_output()

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return OutputConsole(highlight=False, markup=False, emoji=False, width=width)


def print_error(text: str) -> None:
    """Print to standard error."""
    print(_escaped(text), file=sys.stderr)


def print_written(written: dict[str, str]) -> None:
    """Print the files that were written, each with its size in words."""
    for path, size in written.items():
        print(f"Written:  {one_line(path)}, {size}")


def one_line(text: str) -> str:
    """Text on one line, without characters that could control a terminal."""
    return _escaped(text.replace("\n", "\\n"))


def shortened(value: object, width: int = MAX_TEXT_WIDTH) -> str:
    """An id, label or text on one line of at most `width` characters; the middle is left out."""
    text = one_line(str(value))
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _escaped(text: str) -> str:
    """Text with escapes in place of characters that could control a terminal."""
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document."""
    print(json.dumps(_json_value(document), indent=2, allow_nan=False))


def _json_value(value: Any) -> Any:
    """A value in the types of JSON; numbers that are infinite or missing become null."""
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
