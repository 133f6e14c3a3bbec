"""Rows of numbers from a file that may hold more than memory does.

Many of them go to a temporary file, which is then mapped: pages are read when rows are needed, and
the room on the disk is free again as soon as the array is gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.bounded import check_expansion, refuse_size
from cgscore.data.readers.mapped import MIN_MAPPED_BYTES
from cgscore.errors import DataError, StorageError
from cgscore.execution.files import naming_failures
from cgscore.execution.machine import show_bytes


def stack_rows(parts: Iterator[NDArray[Any]], n: int, name: str) -> NDArray[Any]:
    """Parts with n rows in all below each other, in memory or, if the file is large, mapped.

    Parameters
    ----------
    parts : iterator of arrays
        With equally many columns.
    n : int
        Number of rows that the file promises.
    name : str
        What messages call the file. If it is one, its size bounds what it may unpack to.
    """
    first = next(parts)
    size = n * first[0].nbytes
    path = Path(name)
    if path.is_file():
        check_expansion(name, path.stat().st_size, size)
    counted = _count(chain([first], parts), n, name)
    if size < MIN_MAPPED_BYTES or not path.is_file():  # what is in memory already stays there
        refuse_size(name, size)
        return np.concatenate(list(counted))
    where = f"A temporary file in {gettempdir()} (TMPDIR names another folder)"
    free = shutil.disk_usage(gettempdir()).free
    if size > free:
        raise StorageError(f"{where} would hold {show_bytes(size)}; {show_bytes(free)} is free.")
    with ExitStack() as closing:
        with naming_failures(where):
            file = closing.enter_context(TemporaryFile(prefix="cgscore-"))
        for part in counted:
            with naming_failures(where):
                file.write(np.ascontiguousarray(part).data)
        with naming_failures(where):
            file.flush()
        mapped = np.memmap(file, first.dtype, "r", 0, (n, *first.shape[1:]))
    mapped.filename = None  # nobody else can open it
    return mapped


def _count(parts: Iterator[NDArray[Any]], n: int, name: str) -> Iterator[NDArray[Any]]:
    """The same parts; `DataError` as soon as they are not the n rows that were promised."""
    rows = 0
    for part in parts:
        rows += len(part)
        if rows > n:
            break
        yield part
    if rows != n:
        raise DataError(f"{name} promises {n:,} rows and holds {'more' if rows > n else rows}.")
