"""Files are hostile: how much of one may be believed before it is read.

A compressed file can expand a thousandfold and a header can claim any shape. Readers ask here
first, so that a bad file costs an error message and not the machine's memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import CGScoreError, SourceError
from cgscore.execution.machine import available_memory, show_bytes

EXPANSION = 200  # large real data do not shrink more than this
FREE_OF_CHARGE = 1 << 31  # bytes below which only the memory that is free matters


def refuse_expansion(name: object, packed: int, claimed: int) -> None:
    """Raise `SourceError` if `packed` bytes cannot honestly hold `claimed` ones."""
    if claimed > max(FREE_OF_CHARGE, EXPANSION * packed):
        raise SourceError(
            f"{name} claims to hold {show_bytes(claimed)} in {show_bytes(packed)}: more than a "
            f"{EXPANSION}-fold expansion of data this large. The file is damaged or hostile."
        )
    refuse_size(name, claimed)


def refuse_size(name: object, size: int) -> None:
    """Raise `SourceError` if `size` bytes do not fit in the memory that is available."""
    free = available_memory()
    if size > free:
        raise SourceError(
            f"{name} holds {show_bytes(size)} once read; {show_bytes(free)} of memory is free."
        )


def gunzip(path: Path) -> bytes:
    """The content of a gzip file, up to what `EXPANSION` allows."""
    packed = path.stat().st_size
    limit = max(FREE_OF_CHARGE, EXPANSION * packed)
    parts, total = [], 0
    with _gzip(path) as file:
        while part := file.read(1 << 24):
            parts.append(part)
            total += len(part)
            if total > min(limit, available_memory()):
                refuse_expansion(path, packed, total)
    return b"".join(parts)


def gunzip_exactly(path: Path, size: int) -> NDArray[np.uint8]:
    """The content of a gzip file that must hold exactly `size` bytes, in one array."""
    refuse_expansion(path, path.stat().st_size, size)
    content = np.empty(size + 1, np.uint8)  # one more, to see whether there is more
    view, total = content.data, 0
    with _gzip(path) as file:
        while got := file.readinto(view[total : total + (1 << 22)]):
            total += got
    if total != size:
        raise SourceError(
            f"{path} holds {'more' if total > size else 'fewer'} bytes than the {size:,} that its "
            "header promises."
        )
    return content[:size]


@contextmanager
def _gzip(path: Path) -> Iterator[gzip.GzipFile]:
    try:
        with gzip.open(path, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path} is not a complete gzip file ({error}).") from error


def gzip_head(path: Path, size: int) -> bytes:
    """The first bytes of a gzip file's content."""
    with _gzip(path) as file:
        return file.read(size)


@contextmanager
def reading(path: object, form: str) -> Iterator[None]:
    """A context in which a file is decoded; whatever goes wrong is the file's fault.

    Decoders of damaged files raise nearly anything, so nearly anything is caught.
    """
    try:
        yield
    except CGScoreError:
        raise
    except Exception as error:
        raise SourceError(f"{path} is not a complete {form}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The gist of an error message of another library."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
