"""Rows of numbers from a file that may hold more than memory does.

Many of them go to a temporary file, which is then mapped: pages are read when rows are needed, and
the room on the disk is free again as soon as the array is gone.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.bounded import check_expansion, refuse_size
from cgscore.data.readers.mapped import MIN_MAPPED_BYTES
from cgscore.errors import DataError, StorageError
from cgscore.execution.files import naming_failures, scratch_file
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
    with RowWriter(n, first.shape[1:], first.dtype) as writer:
        for part in counted:
            writer.append(part)
        return writer.array()


class RowWriter:
    """Rows that come one part after the other, in memory or, if they may be many, in a file.

    Parameters
    ----------
    n : int
        Rows that there may be.
    shape, dtype
        Of a row.
    min_mapped : int, optional
        Bytes from which on they go to a temporary file; by default `MIN_MAPPED_BYTES`.

    Raises
    ------
    StorageError
        The folder of temporary files has no room.
    """

    def __init__(
        self, n: int, shape: tuple[int, ...], dtype: Any, *, min_mapped: int | None = None
    ) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._rows = 0
        self._file: Any = None
        size = n * math.prod(shape) * self.dtype.itemsize
        if size < (MIN_MAPPED_BYTES if min_mapped is None else min_mapped):
            self._memory: NDArray[Any] = np.empty((n, *self.shape), self.dtype)
            return
        self._where = f"A temporary file in {gettempdir()} (TMPDIR names another folder)"
        free = shutil.disk_usage(gettempdir()).free
        if size > free:
            raise StorageError(
                f"{self._where} would hold {show_bytes(size)}; {show_bytes(free)} is free."
            )
        with naming_failures(self._where):
            self._file = scratch_file()

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()  # the array stays mapped

    def append(self, rows: NDArray[Any]) -> None:
        """Put rows below those before."""
        if self._file is None:
            self._memory[self._rows : self._rows + len(rows)] = rows
        else:
            with naming_failures(self._where):
                self._file.write(np.ascontiguousarray(rows, self.dtype).data)
        self._rows += len(rows)

    def array(self) -> NDArray[Any]:
        """All rows that were written; those of a file are mapped and cannot be changed."""
        if self._file is None:
            return self._memory[: self._rows]
        with naming_failures(self._where):
            self._file.flush()
        mapped = np.memmap(self._file, self.dtype, "r", 0, (self._rows, *self.shape))
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
