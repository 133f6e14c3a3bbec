"""Rows that arrive in parts: in memory if they are few, else mapped from a file without a name."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.data.readers import spooled
from cgscore.data.readers.spooled import stacked
from cgscore.errors import DataError, SourceError, StorageError


def parquet(path: Path, X: Any, y: Any, *, fixed: bool) -> Path:
    """A column of lists in several row groups, and one of labels."""
    flat = pa.array(X.reshape(-1))
    if fixed:
        lists = pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    else:
        lists = pa.ListArray.from_arrays(np.arange(0, X.size + 1, X.shape[1]), flat)
    pq.write_table(pa.table({"embedding": lists, "label": y}), path, row_group_size=70)
    return path


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooled, "MIN_MAPPED_BYTES", 1000)


@pytest.mark.parametrize("fixed", [True, False])
def test_lists_of_a_parquet_file_are_mapped(mapped: None, tmp_path: Path, fixed: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 6)).astype(np.float32), np.arange(200) % 3
    data = cgscore.read(parquet(tmp_path / "x.parquet", X, y, fixed=fixed))
    assert isinstance(data.X, np.memmap)
    assert not data.X.flags.writeable
    np.testing.assert_array_equal(data.X, X)
    options: Any = {"method": "lowrank", "ridge": 0.1, "landmarks": 190}
    found, expected = cgscore.score(data, **options), cgscore.score(X, y, **options)
    np.testing.assert_array_equal(found.d, expected.d)


def test_few_rows_stay_in_memory(tmp_path: Path) -> None:
    X, y = np.arange(40.0).reshape(20, 2) ** 2, np.arange(20) % 2
    data = cgscore.read(parquet(tmp_path / "x.parquet", X, y, fixed=False))
    assert not isinstance(data.X, np.memmap)
    np.testing.assert_array_equal(data.X, X)


def test_lists_need_not_fit_in_memory(
    mapped: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = np.random.default_rng(0).standard_normal((5000, 40)), np.arange(5000) % 2
    path = parquet(tmp_path / "x.parquet", X, y, fixed=True)
    monkeypatch.setattr("cgscore.data.readers.bounded.available_memory", lambda: 200_000)
    np.testing.assert_array_equal(cgscore.read(path).X, X)
    monkeypatch.setattr("cgscore.data.readers.bounded.available_memory", lambda: 50_000)
    with pytest.raises(SourceError, match="of memory is free"):  # ids and labels have to
        cgscore.read(path)


def test_lists_of_several_lengths_are_refused_across_groups(tmp_path: Path) -> None:
    lists = [[1.0, 2.0]] * 70 + [[1.0, 2.0, 3.0]] * 70  # a length for each group of rows
    table = pa.table({"embedding": lists, "label": [0, 1] * 70})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=70)
    with pytest.raises(DataError, match="lists of different lengths"):
        cgscore.read(tmp_path / "x.parquet")


def test_a_full_disk_is_named(mapped: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *error: object) -> None: ...

        def write(self, content: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spooled, "TemporaryFile", lambda prefix: Full())
    with pytest.raises(StorageError, match=r"inputs: writing failed .*Free some space"):
        stacked(iter([np.zeros((100, 9))]), 100)
