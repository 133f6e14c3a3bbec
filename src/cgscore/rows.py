"""Inputs on the unit sphere that are scaled when they are asked for, a few rows at a time."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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
        return _restored, (self.X, self.centre, self.kernel.name)

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
        release_pages(part)
        return scaled


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


def _restored(X: NDArray[Any], centre: Array, kernel: str) -> StreamedRows:
    """Rows that were pickled; kernels go by name."""
    return StreamedRows(aligned(X), aligned(centre), find_kernel(kernel))


def streamed_rows(X: NDArray[Any], *, kernel: Kernel = RELU) -> StreamedRows:
    """The rows of X, with the mean of some that are evenly spaced as their centre."""
    raw = as_matrix(X)
    n = len(raw)
    some = np.unique(np.linspace(0, n - 1, min(n, CENTRE_ROWS)).astype(np.intp))
    return StreamedRows(raw, unit_rows(raw[some], positions=some).centre, kernel)
