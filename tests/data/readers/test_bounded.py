"""Limits of size, expansion and columns."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import cgscore
from cgscore.data.readers import bounded
from cgscore.errors import OptionError, SourceError


def test_a_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MIN_SUSPICIOUS_BYTES", 10**6)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=np.zeros((10_000, 1000)), y=np.arange(10_000) % 2)
    assert path.stat().st_size < 10**6
    with pytest.raises(SourceError, match="more than a 200-fold expansion"):
        cgscore.read(path)


def test_very_regular_data_are_not_a_bomb(tmp_path: Path) -> None:
    X = np.zeros((1500, 5000))
    X[np.arange(1500), np.arange(1500) * 3] = 1.0
    np.savez_compressed(tmp_path / "x.npz", X=X, y=np.arange(1500) % 2)
    assert len(cgscore.read(tmp_path / "x.npz")) == 1500


def test_more_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "available_memory", lambda: 10**5)
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((10_000, 100)), y=np.arange(10_000) % 2)
    with pytest.raises(SourceError, match=r"holds 8 MB once read; 100 kB of memory is free"):
        cgscore.read(tmp_path / "x.npz")
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"a,label\n" + b"1,2\n" * 10**6)
    with pytest.raises(SourceError, match="of memory is free"):
        cgscore.read(tmp_path / "x.csv.gz")


def test_a_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MIN_SUSPICIOUS_BYTES", 10**6)
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"a,label\n" + b"1,2\n" * 10**7)
    with pytest.raises(SourceError, match="expansion"):
        cgscore.read(tmp_path / "x.csv.gz")


def test_the_limit_of_columns_can_be_raised(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0], "label": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    for path in sorted(tmp_path.iterdir()):
        assert len(cgscore.read(path, max_columns=3)) == 2
        with pytest.raises(SourceError, match=r"3 columns; at most 2 are read.*max_columns=3"):
            cgscore.read(path, max_columns=2)
    with pytest.raises(OptionError, match="max_columns must be 1 or larger; got 0"):
        cgscore.read(tmp_path / "t.csv", max_columns=0)
