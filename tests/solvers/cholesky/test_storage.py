from __future__ import annotations

import errno
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import MemoryLimitError, StorageError
from cgscore.execution import machine
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.solvers.cholesky import factor as exact
from cgscore.solvers.cholesky import placement, storage
from cgscore.solvers.cholesky.inplace import (
    cholesky,
    right_solve,
    subtract_product,
    subtract_square,
)
from cgscore.solvers.cholesky.placement import place
from cgscore.solvers.cholesky.plan import MAX_TILE_ROWS, MIN_TILE_ROWS, TILES_PER_RUN, Plan, plan
from cgscore.solvers.cholesky.storage import InMemory, OnDisk, PanelFiles
from cgscore.solvers.kernel_product import kernel_product

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


def test_a_limit_is_kept_and_decides_the_panels() -> None:
    for n, p, limit, dtype in itertools.product(
        (3, 900, 20_000, 100_000), (10, 3072), (10**6, 10**8, 10**9, 10**11), ("float64", "float32")
    ):
        layout = plan(n, p, dtype, limit)
        needed = min(layout.in_memory, layout.streamed) + 8 * n * p
        assert needed <= limit or layout.widest <= MIN_TILE_ROWS
        assert layout.edges[0] == 0
        assert layout.edges[-1] == n
        assert layout.widest <= (2 * MAX_TILE_ROWS if layout.panels == 1 else MAX_TILE_ROWS)
    for n, limit in ((20_000, 10**8), (100_000, 5 * 10**8)):  # as wide as the limit admits
        layout = plan(n, 10, "float64", limit)
        room = limit - 8 * n * 10
        assert 0.9 * room < layout.streamed <= room
    assert plan(20_000, 784, limit=10**10) == plan(20_000, 784)


def test_strips_cover_every_column_once() -> None:
    for layout in (plan(7), narrow(), plan(2 * MAX_TILE_ROWS + 1)):
        columns = [c for _, start, stop in layout.strips() for c in range(start, stop)]
        assert columns == list(range(layout.n))
        assert max(stop - start for _, start, stop in layout.strips()) <= -(-layout.widest // 2)


def test_where_panels_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = plan(7700, 10)
    assert isinstance(place(layout, 10, None, None), InMemory)
    assert isinstance(place(layout, 10, 10**9, None), InMemory)
    monkeypatch.setattr(machine, "available_memory", lambda: layout.in_memory)
    assert isinstance(place(layout, 10, None, None), OnDisk)
    assert isinstance(place(layout, 10, 10**12, None), OnDisk)  # a limit above what there is
    monkeypatch.setattr(machine, "available_memory", lambda: layout.streamed - 1)
    with pytest.raises(MemoryLimitError, match=r"needs 305 MB of memory, or 145 MB and 271 MB"):
        place(layout, 10, None, None)


def test_a_full_disk_is_refused_with_the_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = plan(20_000, 10, limit=10**9)
    usage = type("Usage", (), {"free": 10**9})
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
    with pytest.raises(MemoryLimitError, match=r"20,000 examples needs 1.7\d GB of disk; 1 GB is"):
        place(layout, 10, 10**9, None)


def test_temporary_folders_in_memory_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert placement.scratch_folder() == tmp_path
    part = type("Part", (), {"mountpoint": str(tmp_path.resolve()), "fstype": "tmpfs"})
    monkeypatch.setattr("psutil.disk_partitions", lambda all: [part])
    assert placement.scratch_folder() != tmp_path


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


def blocks() -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        whole = np.asfortranarray(rng.standard_normal((12, 40)).astype(dtype))
        yield whole, 1e-12 if dtype == np.float64 else 1e-4


def test_routines_work_on_blocks_in_place() -> None:
    for whole, tolerance in blocks():
        before = whole.astype(np.float64)
        A, B, C = whole[:5, :7], whole[5:9, 7:14], whole[3:8, 20:24]
        subtract_product(A, B, C)
        expected = before.copy()
        expected[3:8, 20:24] -= before[:5, :7] @ before[5:9, 7:14].T
        np.testing.assert_allclose(whole, expected, atol=tolerance)
        subtract_product(A[:, :4], whole[:4, 30:32], whole[7:12, 33:35], transposed=False)
        expected[7:12, 33:35] -= before[:5, :4] @ before[:4, 30:32]
        np.testing.assert_allclose(whole, expected, atol=tolerance)
        L = np.asfortranarray(np.tril(before[:6, :6]) + 4 * np.eye(6)).astype(whole.dtype)
        for transposed in (True, False):
            right = whole[2:5, 8:14].copy(order="F")
            right_solve(L, right, transposed=transposed)
            back = right @ (L.T if transposed else L)
            np.testing.assert_allclose(back, whole[2:5, 8:14], atol=10 * tolerance)
        S = np.asfortranarray(np.eye(5) * 90).astype(whole.dtype)
        subtract_square(A, S)
        square = np.eye(5) * 90 - before[:5, :7] @ before[:5, :7].T
        np.testing.assert_allclose(np.tril(S), np.tril(square), atol=100 * tolerance)
        assert cholesky(S) == 0
        np.testing.assert_allclose(np.tril(S) @ np.tril(S).T, square, atol=100 * tolerance)
        S[3, 3] = -1
        assert cholesky(S) > 0


def test_blocks_that_do_not_fit_are_a_fault() -> None:
    whole = np.zeros((6, 6), order="F")
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        subtract_product(whole[:2, :3], whole[:2, :2], whole[:2, :2])
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        subtract_product(whole[::2, :3], whole[:3, :3], whole[:3, :3])
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        right_solve(whole[:3, :3].astype(np.float32), whole[:3, :3])


def test_product_with_the_kernel() -> None:
    X = rows(1500)
    V = np.random.default_rng(2).standard_normal((1500, 3))
    found = kernel_product(unit_rows(X), 0.3, V)
    np.testing.assert_allclose(found, cgscore.gram(X) @ V + 0.3 * V, atol=1e-11)
