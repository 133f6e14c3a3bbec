"""Saved results hold no absolute path, and find their data again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.result.places import _memory


def saved(folder: Path) -> Path:
    """A result of data named by absolute paths, in another folder than these."""
    rng = np.random.default_rng(0)
    data = folder / "data"
    data.mkdir()
    np.savez(data / "inputs.npz", X=rng.standard_normal((20, 3)))
    np.save(data / "labels.npy", np.arange(20) % 2)
    (folder / "results").mkdir()
    scores = cgscore.score(cgscore.read(data / "inputs.npz", labels=str(data / "labels.npy")))
    path = folder / "results" / "scores.parquet"
    scores.save(path)
    assert cgscore.load(path).meta["source"] == str(data / "inputs.npz")
    return path


def test_no_absolute_path_is_saved(tmp_path: Path) -> None:
    path = saved(tmp_path)
    document = json.loads(pq.read_metadata(path).metadata[b"cgscore"])
    assert document["meta"]["source"] == "../data/inputs.npz"
    assert document["meta"]["read_options"]["labels"] == "../data/labels.npy"
    assert str(tmp_path) not in path.read_bytes().decode("latin-1")


def test_results_are_moved_together_with_their_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    path = saved(tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    monkeypatch.chdir(tmp_path)
    moved = tmp_path / "there" / path.relative_to(tmp_path / "here")
    scores = cgscore.load(moved)
    assert scores.data().shape == (20, 3)
    scores.save(tmp_path / "again.parquet")  # from elsewhere, another way
    assert cgscore.load("again.parquet").data().shape == (20, 3)


def test_relative_names_stay_as_they_were_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    cgscore.score(cgscore.read("data/inputs.npz", labels="data/labels.npy")).save(path)
    assert cgscore.load(path).meta["source"] == "data/inputs.npz"
    assert cgscore.load(path).data().shape == (20, 3)


def test_a_result_that_is_moved_alone_finds_its_data_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    moved = shutil.move(path, tmp_path / "elsewhere" / "deep" / "scores.parquet")
    assert cgscore.load(moved).data().shape == (20, 3)
    monkeypatch.setenv("CGSCORE_CACHE", "off")
    with pytest.raises(OptionError, match="is not there"):
        cgscore.load(moved).data()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"source": 3}', b"\xff"])
def test_a_damaged_memory_is_none(tmp_path: Path, content: bytes) -> None:
    path = saved(tmp_path)
    file = _memory(cgscore.load(path).meta["fingerprint"])
    assert file is not None
    file.write_bytes(content)
    shutil.move(path, tmp_path / "scores.parquet")
    with pytest.raises(OptionError, match="is not there"):
        cgscore.load(tmp_path / "scores.parquet").data()
