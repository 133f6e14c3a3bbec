"""Rows that are scaled when they are asked for."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from cgscore.duplicates import find_groups
from cgscore.errors import DataError
from cgscore.kernel import KERNELS, gram_block, unit_rows
from cgscore.rows import CENTRE_ROWS, release_pages, streamed_rows


def test_streamed_rows_have_the_kernel_of_rows_in_memory() -> None:
    X = np.random.default_rng(0).standard_normal((50, 4, 3)).astype(np.float32)
    rows, whole = streamed_rows(X, kernel=KERNELS["relu-ntk-3"]), unit_rows(X)
    assert rows.shape == (50, 12) == whole.shape
    assert len(rows) == 50
    some = rows[np.array([3, 40, 7])]
    assert some.kernel.name == "relu-ntk-3"
    np.testing.assert_allclose(
        some.centred + some.centre, (whole.centred + whole.centre)[[3, 40, 7]]
    )
    expected = gram_block(streamed_rows(X)[5:20], streamed_rows(X)[:])
    np.testing.assert_allclose(expected, gram_block(whole[5:20], whole), atol=1e-14)
    assert np.shares_memory(rows.X, X)


def test_the_centre_is_that_of_evenly_spaced_rows() -> None:
    X = np.random.default_rng(1).standard_normal((3 * CENTRE_ROWS, 2))
    rows = streamed_rows(X)
    assert np.linalg.norm(rows.centre - unit_rows(X).centre) < 0.1
    assert len(rows[3 * CENTRE_ROWS - 5 :]) == 5


def test_errors_name_rows_by_their_position_among_all() -> None:
    X = np.ones((5000, 3))
    X[4500, 1] = np.nan
    X[4700] = 0
    rows = streamed_rows(X[:4500])
    rows = type(rows)(X, rows.centre)
    with pytest.raises(DataError, match="row 4500, column 1"):
        rows[4096:4600]
    with pytest.raises(DataError, match=r"zero in every column: 4700 \(counted"):
        rows[np.array([2, 4700])]


def test_groups_of_streamed_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgscore.duplicates.CHUNK_ROWS", 7)
    X = np.random.default_rng(2).standard_normal((40, 3))
    X[30], X[9], X[39] = 2 * X[4], X[4], X[11]
    for rows in (unit_rows(X), streamed_rows(X)):
        groups = find_groups(rows)
        assert groups.copies.tolist() == [9, 30, 39]
        assert groups.first[[9, 30, 39]].tolist() == [4, 4, 11]


def test_streamed_rows_survive_pickling() -> None:
    rows = streamed_rows(np.random.default_rng(3).standard_normal((9, 3)))
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again[2:5].centred, rows[2:5].centred)
    assert again.kernel is rows.kernel


def test_pages_of_files_that_are_only_read_are_released(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.arange(40_000.0).reshape(-1, 10))
    for mode in ("r", "c"):
        X = np.load(tmp_path / "X.npy", mmap_mode=mode)
        if mode == "c":
            X[1000:3000] += 1.0  # in memory only
        expected = np.array(X)
        release_pages(np.asarray(X)[500:3500])
        release_pages(X[3:4])
        release_pages(X[:0])
        np.testing.assert_array_equal(X, expected)
    release_pages(np.ones((3, 3)))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_scattered_rows_of_a_file_do_not_stay_in_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ones((8192, 1024)))  # 64 MB, two pages a row
    before = _mapped_kilobytes()
    rows = streamed_rows(np.load(tmp_path / "X.npy", mmap_mode="r"))
    for start in range(64):
        rows[np.arange(start, 8192, 64)]
    assert _mapped_kilobytes() - before < 16_000


def _mapped_kilobytes() -> int:
    """Memory of files that are mapped into this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile"))
