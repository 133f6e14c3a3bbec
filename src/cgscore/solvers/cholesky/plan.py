"""Division of a symmetric matrix into tiles, and its cost in memory and on disk.

The lower half of H lies in row panels of b rows; panel i holds the columns up to its diagonal and
is stored by columns. So the tile between two edges, and any run of tiles, is contiguous: one
operand of BLAS, one piece of a file.

Sizes in numbers of the chosen type, for n rows in panels of at most b:

- in memory  ``n^2/2 + n b/2`` for the panels and ``n b`` for as many rows of the inverse;
- on disk    the panels; in memory then one panel and two runs of r = `TILES_PER_RUN` tiles to read
  ahead, ``n b + 2 r b^2``.

b follows from n, the type and an explicit ``memory_limit`` alone, so that the order of operations,
and with it every bit of a result, does not depend on how much memory happens to be free:

- ``b = TILE`` (one panel for ``n <= 2 TILE``) without a limit, or where the limit, less 8 n p bytes
  for the rows on the unit sphere, admits everything in memory;
- otherwise the largest b with ``n b + 2 REACH b^2 <= (limit - 8 n p) / size``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

#: Rows in a panel: wide enough for BLAS, and 3 n b / 2 numbers of storage above n^2 / 2.
MAX_TILE_ROWS = 1280
TILES_PER_RUN = 4  # tiles of a panel that one product takes at a time
MIN_TILE_ROWS = 32  # narrower panels would read the disk without end


@dataclass(frozen=True)
class Plan:
    """Panels between `edges`; `dtype` is ``"float64"`` or ``"float32"``."""

    n: int
    edges: tuple[int, ...]
    dtype: str

    @property
    def panels(self) -> int:
        """Number of row panels."""
        return len(self.edges) - 1

    @property
    def widest(self) -> int:
        """Rows of the largest panel."""
        return max(b - a for a, b in itertools.pairwise(self.edges))

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return np.dtype(self.dtype).itemsize

    @property
    def disk(self) -> int:
        """Bytes of all panels."""
        return self.size * sum((b - a) * b for a, b in itertools.pairwise(self.edges))

    @property
    def in_memory(self) -> int:
        """Bytes of memory when all panels are in it."""
        return self.disk + self.size * self.n * self.widest

    @property
    def streamed(self) -> int:
        """Bytes of memory when panels are on disk."""
        return self.size * (self.n * self.widest + 2 * TILES_PER_RUN * self.widest**2)

    @property
    def flops(self) -> float:
        """Arithmetic of factor and inverse together."""
        return 2 * self.n**3 / 3

    def height(self, i: int) -> int:
        """Rows of panel i."""
        return self.edges[i + 1] - self.edges[i]

    def runs(self, first: int, last: int) -> list[tuple[int, int]]:
        """Tiles ``first .. last`` (exclusive) in runs of at most `TILES_PER_RUN`."""
        return [(a, min(a + TILES_PER_RUN, last)) for a in range(first, last, TILES_PER_RUN)]


def plan(n: int, p: int = 0, dtype: str = "float64", limit: int | None = None) -> Plan:
    """The plan for n rows of p numbers, under an explicit limit in bytes if there is one."""
    usual = _cut(n, 1 if n <= 2 * MAX_TILE_ROWS else -(-n // MAX_TILE_ROWS), dtype)
    if limit is None or usual.in_memory + 8 * n * p <= limit:
        return usual
    room = max(0.0, (limit - 8 * n * p) / usual.size)
    widest = int((math.sqrt(n**2 + 8 * TILES_PER_RUN * room) - n) / (4 * TILES_PER_RUN))
    return _cut(n, -(-n // min(max(widest, MIN_TILE_ROWS, 1), MAX_TILE_ROWS, n)), dtype)


def _cut(n: int, count: int, dtype: str) -> Plan:
    return Plan(n, tuple(n * i // count for i in range(count + 1)), dtype)
