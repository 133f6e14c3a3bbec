"""Saved results hold no absolute path, and find their data again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.result.places import RELATIVE, _memory, located, portable


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


def document(path: Path) -> Any:
    """What the file itself says."""
    return json.loads(pq.read_metadata(path).metadata[b"cgscore"])


def test_no_absolute_path_is_saved(tmp_path: Path) -> None:
    path = saved(tmp_path)
    meta = document(path)["meta"]
    assert meta["source"] == "../data/inputs.npz"
    assert meta["read_options"]["labels"] == "../data/labels.npy"
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


def test_a_file_of_features_is_moved_with_the_data(tmp_path: Path) -> None:
    path = saved(tmp_path)
    features = tmp_path / "data" / "features.npz"
    np.savez(features, X=np.random.default_rng(1).standard_normal((20, 4)))
    read = cgscore.read(
        tmp_path / "data" / "inputs.npz",
        labels=str(tmp_path / "data" / "labels.npy"),
        encoder=str(features),
    )
    cgscore.score(read).save(path)
    assert str(tmp_path) not in json.dumps(document(path))
    shutil.move(tmp_path / "data", tmp_path / "there" / "data")
    shutil.move(tmp_path / "results", tmp_path / "there" / "results")
    assert cgscore.load(tmp_path / "there" / "results" / path.name).data().shape == (20, 4)


def test_what_is_remembered_is_not_replaced_by_what_is_not_there(tmp_path: Path) -> None:
    path = saved(tmp_path)
    alone = shutil.copy(path, tmp_path / "scores.parquet")
    (tmp_path / "data").rename(tmp_path / "unmounted")
    (tmp_path / "deep").mkdir()
    cgscore.load(path).save(tmp_path / "deep" / "copy.parquet")
    cgscore.load(alone).save(tmp_path / "deep" / "copy.parquet")
    (tmp_path / "unmounted").rename(tmp_path / "data")
    assert cgscore.load(alone).data().shape == (20, 3)


@pytest.mark.parametrize("listed", [5, None, [["a"]], "source", {"source": 1}])
def test_odd_lists_of_names_do_not_break_loading(tmp_path: Path, listed: object) -> None:
    meta = {"source": "x", "read_options": {}, "fingerprint": "0" * 32, RELATIVE: listed}
    assert located(meta, tmp_path)["source"] == "x"


@pytest.mark.parametrize(
    "name", ["//server/share/x.npz", "\\\\server\\share\\x", "C:\\x", "/etc/passwd", "\\x"]
)
def test_absolute_names_in_a_file_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """On Windows a look at the name of a share sends it the user's credentials."""
    monkeypatch.setattr("os.path.exists", lambda path: pytest.fail(f"looked at {path}"))
    meta = {"source": name, "read_options": {}, "fingerprint": "0" * 32, RELATIVE: ["source"]}
    assert located(meta, tmp_path)["source"] == name


def test_names_of_another_system_and_of_models_are_shortened(tmp_path: Path) -> None:
    options = {"labels": "C:\\private\\l.csv", "encoder": "transformers:/private/model"}
    meta = {
        "source": "D:\\",
        "read_options": options,
        "fingerprint": "0" * 32,
        "notes": ["C:\\private\\l.csv: 3 labels", "and/private/model/or", "n/a"],
        "encoder": {"name": "transformers:/private/model"},
    }
    content = portable(meta, Path("/private/results"))
    assert content["source"] == "data"
    assert content["read_options"] == {"labels": "l.csv", "encoder": "transformers:../model"}
    assert content["notes"] == ["l.csv: 3 labels", "and/private/model/or", "n/a"]
    assert content["encoder"] == {"name": "transformers:model"}
    back = located(content, Path("/elsewhere/results"))
    assert back["read_options"]["encoder"] == "transformers:/elsewhere/model"
