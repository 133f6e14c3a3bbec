"""Arrays that are mapped into memory instead of loaded."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data.readers import mapped
from cgscore.errors import SourceError

X = np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)
Y = np.arange(300) % 3


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of this test count as large."""
    monkeypatch.setattr(mapped, "MIN_MAPPED_BYTES", 5000)


def is_mapped(array: Any) -> bool:
    """Whether the memory of an array is that of a file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def test_large_arrays_are_mapped(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    np.save(tmp_path / "a.npy", X)
    loaded = cgscore.read(X, labels=Y)
    for dataset in (
        cgscore.read(tmp_path / "a.npz"),
        cgscore.read(tmp_path / "a.npy", labels=Y),
    ):
        assert is_mapped(dataset.X)
        assert dataset.X.dtype == np.float32
        np.testing.assert_array_equal(dataset.X, X)
        assert dataset.fingerprint == loaded.fingerprint


def test_others_are_loaded(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "compressed.npz", X=X, y=Y)
    np.savez(tmp_path / "small.npz", X=X[:20], y=Y[:20])
    np.savez(tmp_path / "columns.npz", X=np.asfortranarray(X), y=Y)
    np.save(tmp_path / "columns.npy", np.asfortranarray(X))
    for name in ("compressed.npz", "small.npz", "columns.npz"):
        dataset = cgscore.read(tmp_path / name)
        assert not is_mapped(dataset.X)
        np.testing.assert_array_equal(dataset.X, X[: len(dataset)])
    assert not is_mapped(cgscore.read(tmp_path / "columns.npy", labels=Y).X)


def test_damage_is_noticed(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[4000] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(SourceError, match=r"wrong checksum of X\.npy"):
        cgscore.read(tmp_path / "a.npz")
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    with pytest.raises(SourceError, match="is truncated"):
        cgscore.read(tmp_path / "a.npy", labels=Y)


def test_mapped_inputs_are_scored_as_loaded_ones(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    options: dict[str, Any] = {"method": "lowrank", "ridge": 0.1}
    mapped_scores = cgscore.score(tmp_path / "a.npz", **options)
    np.testing.assert_array_equal(mapped_scores.loo, cgscore.score(X, Y, **options).loo)
