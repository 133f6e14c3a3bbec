r"""Blocks of similar rows.

A sample of the rows is halved again and again at the median of its main direction; so each of the
halves has a direction and a median, and any row finds its leaf by one inner product a level. The
rows of a leaf are a block, or several if they are more than `MAX_BLOCK_ROWS`.

Cost: one more pass over the rows, with ``2 n p`` flops a level, and `sample_bytes` of memory. The
size of the sample depends on n and p only, and so do the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cgscore.execution.blas import one_blas_thread
from cgscore.execution.executor import Executor, in_order
from cgscore.execution.random_streams import stream
from cgscore.kernel import aligned
from cgscore.rows import Rows
from cgscore.solvers.iterative.block_bounds import main_direction
from cgscore.solvers.tiles import cuts
from cgscore.typing import Array, Index

MAX_BLOCK_ROWS = 2048
MAX_SEGMENTS = 64  # parts into which the blocks are divided, however many workers there are
CHUNK_ROWS = 1024  # rows whose leaves are looked for at once
SAMPLE_SIZE = 16_384  # rows from which directions are learnt, at most,
SAMPLE_BYTES = 8 * SAMPLE_SIZE * 4096  # as many as are in so many bytes,
MIN_SAMPLE_SIZE = 1024  # but no fewer: they take less than the block of a task
DIRECTION_ROWS = 2000  # of which `main_direction` takes one direction, at most; it has two copies
MIN_LEAF_ROWS = 16  # of them in a leaf


@dataclass(frozen=True)
class Blocks:
    """All rows, block by block.

    Attributes
    ----------
    order : (n,) array
        Positions of the rows of the first block, of the second, and so on; ascending in each.
    ends : tuple of int
        Where in `order` each block ends.
    """

    order: Index
    ends: tuple[int, ...]

    def segments(self) -> list[slice]:
        """Blocks that are one task, as slices of their numbers; they do not depend on workers."""
        count = len(self.ends)
        return cuts(0, count, -(-count // MAX_SEGMENTS))

    def positions(self, segment: slice) -> Iterator[Index]:
        """Positions of the rows of each block of a segment."""
        for number in range(segment.start, segment.stop):
            yield self.order[self._start(number) : self.ends[number]]

    def rows(self, segment: slice) -> slice:
        """Where in `order` a segment is."""
        return slice(self._start(segment.start), self.ends[segment.stop - 1])

    def _start(self, number: int) -> int:
        return self.ends[number - 1] if number else 0


@dataclass(frozen=True)
class Splits:
    """Directions and medians of the parts of the rows.

    Attributes
    ----------
    rows : Rows
        All rows.
    directions : (2**levels - 1, p) array
        Of the whole, its halves, their halves, and so on.
    medians : (2**levels - 1,) array
        Of the inner products of the sample with them.
    """

    rows: Rows
    directions: Array
    medians: Array

    def __post_init__(self) -> None:
        for name in ("directions", "medians"):
            object.__setattr__(self, name, aligned(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:  # through the above, which pickle alone would skip
        return Splits, tuple(getattr(self, field.name) for field in fields(self))


def similar_blocks(
    rows: Rows, *, seed: int, executor: Executor, largest: int | None = None
) -> Blocks:
    """Blocks of similar rows, of at most `largest` each, by default `MAX_BLOCK_ROWS`."""
    (n, p), largest = rows.shape, largest or MAX_BLOCK_ROWS
    size = sample_size(n, p)
    levels = _levels(n, largest, size)
    if levels == 0:
        leaves = np.zeros(n, np.intp)
    else:
        sample = np.sort(stream(seed, "blocks").choice(n, size, replace=False))
        chunks = -(-n // CHUNK_ROWS)
        parts = [
            slice(part.start * CHUNK_ROWS, min(n, part.stop * CHUNK_ROWS))
            for part in cuts(0, chunks, -(-chunks // MAX_SEGMENTS))
        ]
        splits = _grown(rows, sample, levels)
        leaves = np.concatenate(list(in_order(executor.map(_leaves, splits, parts))))
    sizes = np.bincount(leaves)
    pieces = [
        len(piece)
        for leaf in sizes[sizes > 0].tolist()
        for piece in np.array_split(np.arange(leaf), -(-leaf // max(largest, MIN_LEAF_ROWS)))
    ]
    return Blocks(np.argsort(leaves, kind="stable"), tuple(np.cumsum(pieces).tolist()))


def usual_rows(n: int) -> int:
    """Rows of a usual block of n rows: a leaf of the tree, if that is not cut in pieces."""
    return min(MAX_BLOCK_ROWS, -(-n >> _levels(n, MAX_BLOCK_ROWS, min(n, SAMPLE_SIZE))))


def sample_size(n: int, p: int) -> int:
    """Rows from which directions are learnt."""
    return min(n, SAMPLE_SIZE, max(MIN_SAMPLE_SIZE, SAMPLE_BYTES // (8 * p)))


def sample_bytes(n: int, p: int) -> int:
    """Memory in which directions are learnt, before there are any tasks.

    The sample; a copy of a half of it, or two of the rows that give one direction; and the
    directions, twice.
    """
    size = sample_size(n, p)
    levels = _levels(n, MAX_BLOCK_ROWS, size)
    if levels == 0:
        return 0
    copies = max(size // 2, 2 * min(size, DIRECTION_ROWS))
    return 8 * p * (size + copies + (2 << levels))


def _levels(n: int, largest: int, size: int) -> int:
    """How often rows are halved: until leaves are small enough, or have few rows of the sample."""
    deepest = math.log2(max(1.0, size / MIN_LEAF_ROWS))
    return min(math.ceil(math.log2(max(1.0, n / largest))), int(deepest))


def _grown(rows: Rows, sample: Index, levels: int) -> Splits:
    """Splits of a sample, by one BLAS thread: the bits do not depend on how many there are."""
    X = np.empty((len(sample), rows.shape[1]))
    for chunk in cuts(0, len(sample), CHUNK_ROWS):  # all at once there would be a second copy
        X[chunk] = rows[sample[chunk]].centred
    directions, medians = [], []
    parts = [np.arange(len(X))]
    with one_blas_thread():
        for _ in range(levels):
            halves = []
            for part in parts:
                directions.append(main_direction(X, part, None))
                places = (X if len(part) == len(X) else X[part]) @ directions[-1]
                medians.append(np.median(places))
                order = part[np.argsort(places, kind="stable")]
                halves += [order[: len(part) // 2], order[len(part) // 2 :]]
            parts = halves
    return Splits(rows, np.array(directions), np.array(medians))


def _leaves(splits: Splits, segment: slice) -> Index:
    """The leaf of each row of a segment."""
    leaves = []
    for chunk in cuts(segment.start, segment.stop, CHUNK_ROWS):
        X = splits.rows[chunk].centred
        node = np.zeros(len(X), np.intp)
        while node.min() < len(splits.directions):  # all leaves are at the same level
            place = np.einsum("ij,ij->i", X, splits.directions[node])
            node = 2 * node + 1 + (place > splits.medians[node])
        leaves.append(node)
    return np.concatenate(leaves)
