"""Lower bounds of d from blocks."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.execution.progress import ignore
from cgscore.kernel import unit_rows
from cgscore.solvers.iterative.block_bounds import (
    Bounds,
    parts,
    random_blocks,
    similar_blocks,
    similar_blocks_and_seams,
)
from cgscore.solvers.iterative.half_matrix import InMemoryKernel
from cgscore.solvers.iterative.landmarks import landmarks_of
from tests.solvers.iterative.rows import around_centres


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_blocks_bound_d_from_below(ridge: float) -> None:
    X, _ = around_centres(800, 40)
    X[700] = X[7] + 1e-3 * X[8]  # seen by similar blocks, mostly missed by random ones
    rows = unit_rows(X)
    whole = cgscore.gram(X) + ridge * np.eye(800)
    d = np.diag(np.linalg.inv(whole))
    H = InMemoryKernel(rows, lambda size: None)
    known = landmarks_of(H, rows, ridge, np.random.default_rng(0))
    bounds = Bounds(H, rows, known, None)
    chance = random_blocks(800, 4, np.random.default_rng(3))
    halves = similar_blocks(rows, 4)
    for blocks in (chance, halves):
        assert sorted(np.concatenate(blocks)) == list(range(800))
        assert [len(block) for block in blocks] == [200] * 4
        found = bounds.of("some", blocks, ignore)
        for block in blocks:  # each is the exact d of the block together with the landmarks
            part = np.union1d(block, known.J)
            true = np.diag(np.linalg.inv(whole[np.ix_(part, part)]))
            np.testing.assert_allclose(found[block], true[np.isin(part, block)], rtol=3e-3)
        assert (found <= d * 1.003).all()
    assert found[7] == pytest.approx(d[7], rel=0.05)
    near = np.argsort(-cgscore.gram(X) + np.eye(800), axis=1)[:, 0]
    block_of = np.empty(800, dtype=int)
    for number, block in enumerate(halves):
        block_of[block] = number
    assert (block_of == block_of[near]).mean() > 0.5  # neighbours end up together
    assert bounds.float64_blocks == 0
    assert [parts(n) for n in (50, 2000, 10_000, 20_000, 50_000)] == [1, 1, 4, 8, 8]


def test_a_block_with_a_close_pair_is_done_in_float64() -> None:
    X, _ = around_centres(100)
    X[60] = X[7] + 1e-7 * X[8]
    rows = unit_rows(X)
    H = InMemoryKernel(rows, lambda size: None)
    bounds = Bounds(H, rows, landmarks_of(H, rows, 0.0, np.random.default_rng(0)), None)
    found = bounds.of("all", [np.arange(100)], ignore)
    assert bounds.float64_blocks == 1
    np.testing.assert_allclose(found, np.diag(np.linalg.inv(cgscore.gram(X))), rtol=1e-3)


@pytest.mark.parametrize("sides", ["one side of the origin", "all around"])
def test_near_duplicates_meet_in_a_block_or_at_a_cut(sides: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 4))
    if sides == "one side of the origin":
        X = np.abs(X)
    pairs = X + 1e-4 * rng.standard_normal(X.shape)
    if sides == "all around":
        pairs[::2] *= -1  # the kernel takes opposite rows for near-duplicates
    blocks, seams = similar_blocks_and_seams(unit_rows(np.vstack([X, pairs])), 8)
    assert sorted(np.concatenate(blocks)) == list(range(1000))
    assert len(seams) == 7
    assert max(map(len, seams)) <= 1000 / 16  # they cost little
    together = np.zeros(500, bool)
    for part in [*blocks, *seams]:
        together |= np.isin(np.arange(500), part) & np.isin(np.arange(500, 1000), part)
    assert together.all()
