"""Pieces of H small enough for a processor's cache, which threads form one at a time."""

from __future__ import annotations

import itertools

PIECE = 640  # side of a piece


def cuts(start: int, stop: int, longest: int | None = None) -> list[slice]:
    """Ranges of nearly equal length, at most `longest`, by default `PIECE`."""
    count = -(-(stop - start) // (longest or PIECE))
    edges = [start + (stop - start) * i // count for i in range(count + 1)] if count else []
    return [slice(low, high) for low, high in itertools.pairwise(edges)]


def lower_pairs(n: int) -> list[tuple[slice, slice]]:
    """Pairs of ranges that cover the lower half of an n x n matrix, squares on its diagonal."""
    ranges = cuts(0, n)
    return [(ranges[i], ranges[j]) for i in range(len(ranges)) for j in range(i + 1)]
