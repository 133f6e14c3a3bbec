"""Limits for files that may be hostile, checked before they are read.

A compressed file can expand a thousandfold, a header can claim any shape, a name can belong to a
pipe that never ends. Readers check here first, so that a bad file costs an error message and not
the machine's memory. ``docs/limits.md`` lists the limits.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import CGScoreError, SourceError
from cgscore.execution.machine import available_memory, show_bytes
from cgscore.spelling import spelled

MAX_EXPANSION = 200  # bytes unpacked per byte packed; large real data do not shrink more
MIN_SUSPICIOUS_BYTES = 100_000_000  # less may expand more, within the memory that is free
MAX_COLUMNS = 50_000  # of a table, unless `max_columns` says otherwise

_OTHER_FILES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def check_regular(path: Path) -> int:
    """The size of a regular file; `SourceError` for anything else, before it is opened."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        kind = _OTHER_FILES.get(stat.S_IFMT(status.st_mode), "something else")
        raise SourceError(f"{path} is {kind}. Expected a regular file; copy the data into one.")
    return status.st_size


def leads_inside(path: Path, folder: Path) -> bool:
    """Whether a path, all links followed, is in a folder whose own links are followed."""
    try:
        return path.resolve(strict=True).is_relative_to(folder)
    except (OSError, RuntimeError):  # to nothing, or in a circle
        return False


def check_link(path: Path, folder: Path) -> None:
    """Raise `SourceError` if an entry of a folder is a link that leads out of it."""
    if path.is_symlink() and not leads_inside(path, folder.resolve()):
        raise SourceError(f"{path} is a link that leads out of {folder}. Copy the file.")


def check_member(path: Path, folder: Path) -> int:
    """The size of a regular file that belongs to a folder."""
    check_link(path, folder)
    return check_regular(path)


def check_columns(name: object, count: int, limit: int | None) -> None:
    """Raise `SourceError` for more columns than `limit` (None: `MAX_COLUMNS`)."""
    limit = MAX_COLUMNS if limit is None else limit
    if count > limit:
        raise SourceError(
            f"{name} has {count:,} columns; at most {limit:,} are read. If they are meant, raise "
            f"the limit: {spelled(max_columns=count)}"
        )


def check_expansion(name: object, packed: int, claimed: int) -> None:
    """Raise `SourceError` if `packed` bytes claim to unpack to more than real data do."""
    if claimed > max(MIN_SUSPICIOUS_BYTES, MAX_EXPANSION * packed):
        raise SourceError(
            f"{name} claims to hold {show_bytes(claimed)} in {show_bytes(packed)}: more than a "
            f"{MAX_EXPANSION}-fold expansion of data this large. The file is damaged or hostile; "
            "if it is neither, save it uncompressed."
        )


def refuse_expansion(name: object, packed: int, claimed: int) -> None:
    """Raise `SourceError` if bytes claim to unpack to more than they, or the memory, can hold."""
    check_expansion(name, packed, claimed)
    refuse_size(name, claimed)


def refuse_size(name: object, size: int, verb: str = "holds", when: str = "once read") -> None:
    """Raise `SourceError` if `size` bytes do not fit in the memory that is available."""
    free = available_memory()
    if size > free:
        raise SourceError(
            f"{name} {verb} {show_bytes(size)} {when}; {show_bytes(free)} of memory is free. "
            "Take a part of the rows or columns, or a machine with more memory."
        )


def gunzip(path: Path) -> bytearray:
    """The content of a gzip file, up to what `MAX_EXPANSION` allows."""
    content = bytearray()
    with path.open("rb") as packed, _gzip(path, packed) as file:
        while part := file.read(1 << 22):
            content += part
            refuse_expansion(path, packed.tell(), len(content))  # of what was read so far
    return content


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
def _gzip(path: Path, packed: BinaryIO | None = None) -> Iterator[gzip.GzipFile]:
    try:
        with gzip.GzipFile(path, "rb", fileobj=packed) as file:
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
    """The first line of the error message of another library."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
