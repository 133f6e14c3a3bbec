"""Random partitions against naive computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data import read
from cgscore.errors import MemoryLimitError, OptionError
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers.sampled import partition
from tests.solvers.sampled.naive import naive

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def blocks_of(X: Any, y: Any, count: int, runs: int) -> Any:
    slots = shared_problem(Inputs(read(X, labels=y), ridge=0.0).labelled(), 1)[0].slots
    return slots, partition.blocks(len(X), X.shape[1], count, runs)


def test_every_block_has_every_class(uneven: Any) -> None:
    X, y = uneven
    slots, blocks = blocks_of(X, y, 5, 3)
    at_home = np.zeros((3, 100), int)
    for block in blocks:
        home, guests = partition.dealt(slots, block, 1)
        assert not set(home) & set(guests)
        assert len(home) == 20
        at_home[block.run, home] += 1
        there = [int((y[np.concatenate([home, guests])] == c).sum()) for c in "abcd"]
        assert there[0] == 12
        assert there[1] == 5
        assert min(there) >= partition.MIN_ROWS_PER_CLASS
        assert set(y[guests]) <= {"d"}  # others have members enough
    assert (at_home == 1).all()
    first, second = (partition.dealt(slots, blocks[i], 1)[0] for i in (0, 5))
    assert not np.array_equal(first, second)


def test_partition_against_a_plain_loop(uneven: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = uneven
    monkeypatch.setattr(partition, "BLOCK_ROWS", 34)
    monkeypatch.setattr(partition, "ROWS_PER_CLASS", 1)
    s = cgscore.score(X, y, method="partition", runs=2, seed=1)
    assert s.meta["blocks"] == 3
    slots, blocks = blocks_of(X, y, 3, 2)
    cg, loo = np.zeros((2, 100)), np.zeros((2, 100, 4))
    for block in blocks:
        home, guests = partition.dealt(slots, block, 1)
        rows = np.union1d(home, guests)
        keep = np.isin(rows, home)
        for c, name in enumerate("abcd"):
            target = np.where(y[rows] == name, 1.0, -1.0)
            alpha, d, gap = naive(X[rows], target)
            loo[block.run, home, c] = (target - alpha / d)[keep]
            own = keep & (target > 0)
            cg[block.run, rows[own]] = gap[own]
    np.testing.assert_allclose(s.table["cg"], cg.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(s.loo, loo.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        s.table["cg_std_error"], cg.std(axis=0, ddof=1) / np.sqrt(2), rtol=1e-7
    )
    assert s.table["predicted_label"].notna().all()


def test_partition_of_a_regression(uneven: Any) -> None:
    X, _ = uneven
    y = X[:, 0] - X[:, 1]
    exact = cgscore.score(X, y, method="exact", task="regression")
    whole = cgscore.score(X, y, method="partition", task="regression")
    np.testing.assert_allclose(whole.table["cg"], exact.table["cg"], rtol=1e-8)
    with pytest.raises(OptionError, match="no meaning for task='regression'"):
        cgscore.score(X, y, method="subsample", task="regression")


def test_a_memory_limit_makes_smaller_blocks() -> None:
    few = partition.block_count(50_000, 100, 10)
    assert few == 5
    many = partition.block_count(50_000, 100, 10, limit=100_000_000)
    assert many > 2 * few
    assert partition.block_count(1_281_167, 2048, 1000) == 129
    with pytest.raises(MemoryLimitError, match="is the limit"):
        partition.block_count(50_000, 100, 10, limit=40_000_000)
