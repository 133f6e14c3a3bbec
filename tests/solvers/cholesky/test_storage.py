"""Panels in memory and on disk."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import StorageError
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.solvers.cholesky import factor as exact
from cgscore.solvers.cholesky import storage
from cgscore.solvers.cholesky.plan import TILES_PER_RUN, Plan, plan
from cgscore.solvers.cholesky.storage import InMemory, OnDisk, PanelFiles

N, P = 700, 9


def rows(n: int = N) -> Any:
    return np.random.default_rng(n).standard_normal((n, P))


def narrow(dtype: str = "float64") -> Plan:
    """A plan of many panels, as an explicit limit makes them."""
    layout = plan(N, P, dtype, limit=8 * N * P + 400_000)
    assert layout.panels > 2 * TILES_PER_RUN
    return layout


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_memory_and_disk_give_the_same_bits(tmp_path: Path, dtype: str) -> None:
    layout = narrow(dtype)
    X = unit_rows(rows())
    B = np.random.default_rng(1).standard_normal((N, 3))
    results: list[list[Any]] = []
    for store in (
        InMemory(layout),
        OnDisk(layout, PanelFiles(layout, tmp_path, keep=False)),
        InMemory(layout, PanelFiles(layout, tmp_path, keep=True)),
    ):
        factor = exact.factorise(X, 0.0, store, Silent())
        d = factor.inverse_diagonal(Silent())
        found: list[Any] = [d, factor.solve(B), factor.half_solve(B), factor.pivots, [factor.norm]]
        found += [factor.weakest().beta]
        results.append(found)
    for first, other in itertools.pairwise(results):
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    true = np.diag(np.linalg.inv(cgscore.gram(rows())))
    assert np.abs(results[0][0] / true - 1).max() < {"float64": 1e-10, "float32": 1e-3}[dtype]


def test_temporary_files_have_no_name(tmp_path: Path) -> None:
    layout = narrow()
    store = OnDisk(layout, PanelFiles(layout, tmp_path, keep=False))
    exact.factorise(unit_rows(rows()), 0.0, store, Silent())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", [InMemory, OnDisk])
def test_a_failing_disk_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any
) -> None:
    layout = narrow()
    real, count = storage._write_fully, itertools.count()

    def fail(file: Any, data: memoryview) -> None:
        if next(count) > 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, data)

    monkeypatch.setattr(storage, "_write_fully", fail)
    store = where(layout, PanelFiles(layout, tmp_path, keep=True))
    with pytest.raises(StorageError, match=r"panel-\d+.*No space left.*Free some space"):
        exact.factorise(unit_rows(rows()), 0.0, store, Silent())


def test_more_panels_than_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_MAX_OPEN_FILES", 3)
    layout = narrow()
    files = PanelFiles(layout, tmp_path, keep=True)
    factor = exact.factorise(unit_rows(rows()), 0.0, OnDisk(layout, files), Silent())
    d = factor.inverse_diagonal(Silent())
    assert len(files._files) <= 3
    assert np.abs(d / np.diag(np.linalg.inv(cgscore.gram(rows()))) - 1).max() < 1e-10


def test_a_completion_that_fails_is_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = narrow()
    files = PanelFiles(layout, tmp_path, keep=True)

    def fail(folder: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(storage, "sync_folder", fail)
    store = InMemory(layout, files)
    with pytest.raises(StorageError, match=r"Input/output error.*Give another folder"):
        exact.factorise(unit_rows(rows()), 0.0, store, Silent())
    assert len(store._panels) < layout.panels


def test_a_tile_that_changes_on_disk_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    layout = narrow()
    store = OnDisk(layout, PanelFiles(layout, tmp_path, keep=True))
    factor = exact.factorise(unit_rows(rows()), 0.0, store, Silent())
    path = tmp_path / "panel-00003.tiles"
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"panel-00003.* is damaged or not of this work: tile 0"):
        factor.solve(np.ones((N, 1)))
