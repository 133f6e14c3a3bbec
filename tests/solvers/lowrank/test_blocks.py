"""Blocks of similar rows."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from cgscore.execution.executor import Local
from cgscore.rows import streamed_rows
from cgscore.solvers.lowrank import blocks
from cgscore.solvers.lowrank.blocks import Blocks, similar_blocks
from cgscore.typing import Array, Index

CENTRES = 8


def clusters(n: int) -> tuple[Array, Index]:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, CENTRES, n)
    return 3 * rng.standard_normal((CENTRES, 20))[kind] + rng.standard_normal((n, 20)), kind


def positions(found: Blocks) -> list[list[int]]:
    return [block.tolist() for block in found.positions(slice(0, len(found.ends)))]


@pytest.mark.parametrize("n", [1, 50, 64, 65, 1000])
def test_every_row_is_in_one_block(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    monkeypatch.setattr(blocks, "SAMPLE_SIZE", 300)
    found = similar_blocks(streamed_rows(clusters(n)[0]), seed=0, executor=Local())
    parts = positions(found)
    assert sorted(row for part in parts for row in part) == list(range(n))
    assert all(part == sorted(part) and 0 < len(part) <= 64 for part in parts)
    assert [row for s in found.segments() for block in found.positions(s) for row in block] == (
        found.order.tolist()
    )
    assert [found.rows(s) for s in found.segments()][-1].stop == n


def test_rows_of_a_block_are_similar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    X, kind = clusters(1500)
    parts = positions(similar_blocks(streamed_rows(X), seed=0, executor=Local()))
    alike = [np.bincount(kind[part]).max() / len(part) for part in parts]
    assert np.mean(alike) > 0.8  # an eighth at random


def test_blocks_do_not_depend_on_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    monkeypatch.setattr(blocks, "CHUNK_ROWS", 70)
    rows = streamed_rows(clusters(1500)[0])
    expected = similar_blocks(rows, seed=0, executor=Local(None, 1))
    for found in (
        similar_blocks(rows, seed=0, executor=Local(None, 3)),
        similar_blocks(pickle.loads(pickle.dumps(rows)), seed=0, executor=Local(None, 2)),
    ):
        np.testing.assert_array_equal(found.order, expected.order)
        assert found.ends == expected.ends
    other = similar_blocks(rows, seed=1, executor=Local())
    assert sorted(other.order) == list(range(1500))


def test_rows_that_repeat_stay_below_the_largest_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    parts = positions(similar_blocks(streamed_rows(np.ones((500, 3))), seed=0, executor=Local()))
    assert max(map(len, parts)) <= 64
    assert sum(map(len, parts)) == 500


def test_a_sample_is_bounded_by_its_bytes() -> None:
    for p in (1, 100, 4096):
        assert blocks.sample_size(10**6, p) == 16_384
        assert blocks.sample_size(5000, p) == 5000
    assert blocks.sample_size(10**6, 5000) == 13_421
    assert 8 * 40_000 * blocks.sample_size(10**6, 40_000) <= blocks.SAMPLE_BYTES
    assert blocks.sample_size(10**6, 150_528) == blocks.MIN_SAMPLE_SIZE
    assert blocks.sample_bytes(10**6, 150_528) < 5 * 10**9
    assert blocks.sample_bytes(blocks.MAX_BLOCK_ROWS, 150_528) == 0  # a single block


@pytest.mark.parametrize(("size", "floor"), [(16_384, 1024), (1000, 16), (2048, 16)])
def test_memory_in_which_directions_are_learnt_is_what_is_said(
    size: int, floor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With arrays of the caller's type beside it, chunk by chunk."""
    n, p = 20_000, 60
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    monkeypatch.setattr(blocks, "SAMPLE_BYTES", 8 * p * size)
    monkeypatch.setattr(blocks, "MIN_SAMPLE_SIZE", floor)
    monkeypatch.setattr(blocks, "CHUNK_ROWS", 100)
    rows = streamed_rows(np.random.default_rng(0).standard_normal((n, p)))
    stated = blocks.sample_bytes(n, p)
    sample = np.arange(blocks.sample_size(n, p))
    assert len(sample) == size
    levels = blocks._levels(n, 64, size)
    tracemalloc.start()
    try:
        blocks._grown(rows, sample, levels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 * stated < peak < 1.1 * stated


def test_rows_of_a_sample_have_the_same_bits_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = streamed_rows(clusters(1500)[0])
    sample = np.arange(0, 1500, 2)
    found = blocks._grown(rows, sample, 5)
    monkeypatch.setattr(blocks, "CHUNK_ROWS", 7)
    again = blocks._grown(rows, sample, 5)
    np.testing.assert_array_equal(again.directions, found.directions)
    np.testing.assert_array_equal(again.medians, found.medians)
