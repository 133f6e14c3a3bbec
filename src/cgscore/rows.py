"""Inputs on the unit sphere that are scaled when they are asked for, a few rows at a time."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import DataError
from cgscore.kernel import RELU, Kernel, UnitRows, aligned, as_matrix, find_kernel, unit_rows
from cgscore.typing import Array, Index

CENTRE_ROWS = 4096  # of which the centre is the mean


class Rows(Protocol):
    """Inputs of which some rows at a time are at hand: `UnitRows` or `StreamedRows`."""

    @property
    def kernel(self) -> Kernel:
        """What is computed for these rows."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | Index) -> UnitRows: ...


@dataclass(frozen=True)
class StreamedRows:
    """Inputs in their own number type, in memory or in a file that is mapped into it.

    Attributes
    ----------
    X : (n, p) array
        As they were given.
    centre : (p,) array
        The mean of some of the scaled rows.
    kernel : Kernel
        What is computed for these rows.
    """

    X: NDArray[Any]
    centre: Array
    kernel: Kernel = field(default=RELU)

    def __reduce__(self) -> tuple[Any, ...]:
        source = MappedArray.of(self.X)
        return _restored, (self.X if source is None else source, self.centre, self.kernel.name)

    def sent_bytes(self) -> int:
        """Bytes that go to another process: files are opened there."""
        return 0 if MappedArray.of(self.X) is not None else int(self.X.nbytes)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, p = self.X.shape
        return n, p

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | Index) -> UnitRows:
        """Some rows, scaled; errors name them by their position among all."""
        positions = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else rows
        part = self.X[rows]
        scaled = unit_rows(part, centre=self.centre, kernel=self.kernel, positions=positions)
        release_pages(part if isinstance(rows, slice) else self.X)  # a copy has no pages
        return scaled


@dataclass(frozen=True)
class MappedArray:
    """Where in a file the numbers of a mapped array are, so that others can map it too.

    Attributes
    ----------
    path : str
        The file, which workers of a cluster must see under the same name.
    stamp : tuple of int
        Its size and the time at which it was changed.
    start, shape, dtype
        Of the array.
    """

    path: str
    stamp: tuple[int, int]
    start: int
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, X: NDArray[Any]) -> MappedArray | None:
        """The place of an array; None if it is not a part of a file that is only read."""
        owner: Any = X
        while isinstance(owner, np.ndarray) and not isinstance(owner.base, mmap.mmap):
            owner = owner.base
        name = getattr(owner, "filename", None)
        if name is None or not X.flags.c_contiguous or not memoryview(owner.base).readonly:
            return None
        try:
            status = Path(name).stat()
        except OSError:  # it is no longer there by name, as temporary files are
            return None
        start = owner.offset + X.ctypes.data - owner.ctypes.data
        return cls(str(name), (status.st_size, status.st_mtime_ns), start, X.shape, X.dtype.str)

    def opened(self) -> NDArray[Any]:
        """The array, mapped here.

        Raises
        ------
        DataError
            The file cannot be read here, or is another one.
        """
        try:
            status = Path(self.path).stat()
            if (status.st_size, status.st_mtime_ns) != self.stamp:
                raise DataError(f"{self.path} has changed, or is another file on a worker.")
            return np.memmap(self.path, np.dtype(self.dtype), "r", self.start, self.shape)
        except OSError as error:
            raise DataError(
                f"A worker cannot read {self.path} ({error.strerror}). Data that are too large to "
                "be sent must be in a folder that all workers see under the same name."
            ) from error


def release_pages(part: NDArray[Any]) -> None:
    """Give back the memory of a part of a mapped file, which is read again when it is needed.

    Without this all of a file that was streamed would count as memory in use.
    """
    owner: Any = part
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, memoryview):
        owner = owner.obj
    if not isinstance(owner, mmap.mmap) or not hasattr(owner, "madvise") or not part.size:
        return
    if not memoryview(owner).readonly:  # what was written to a private copy would be lost
        return
    start = part.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE  # whole pages of this part only
    stop = (start + part.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if part.flags.c_contiguous and stop > first:
        owner.madvise(mmap.MADV_DONTNEED, first, stop - first)


def _restored(X: NDArray[Any] | MappedArray, centre: Array, kernel: str) -> StreamedRows:
    """Rows that were pickled; kernels go by name, mapped files are mapped again."""
    X = X.opened() if isinstance(X, MappedArray) else aligned(X)
    return StreamedRows(X, aligned(centre), find_kernel(kernel))


def streamed_rows(X: NDArray[Any], *, kernel: Kernel = RELU) -> StreamedRows:
    """The rows of X, with the mean of some that are evenly spaced as their centre."""
    raw = as_matrix(X)
    n = len(raw)
    some = np.unique(np.linspace(0, n - 1, min(n, CENTRE_ROWS)).astype(np.intp))
    centre = unit_rows(raw[some], positions=some).centre
    release_pages(raw)
    return StreamedRows(raw, centre, kernel)
