"""Datasets in the features of an encoder, from files to results."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.command import invoke

import cgscore
from cgscore.data import Dataset
from cgscore.errors import DataError, OptionError, ResultError, SourceError

OWN = """
import pathlib
import numpy as np

pathlib.Path("imported").touch()

def f(batch):
    return np.asarray(batch)[:, :2] + 1.0
"""


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Reddish and bluish images in two class folders."""
    rng = np.random.default_rng(0)
    for number in range(24):
        kind = ("red", "blue")[number % 2]
        pixels = rng.integers(0, 100, (20, 20, 3), dtype=np.uint8)
        pixels[:, :, 0 if kind == "red" else 2] += 120
        (tmp_path / "photos" / kind).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "photos" / kind / f"{number}.png")
    return tmp_path / "photos"


@pytest.mark.needs("torch")
def test_features_from_a_folder_to_a_report(photos: Path) -> None:
    folder = photos.parent
    (photos / "red" / "large.png").write_bytes((photos / "red" / "0.png").read_bytes())
    Image.new("RGB", (60, 40), (200, 30, 40)).save(photos / "red" / "large.png")
    done = invoke("features", "photos", "-o", "f.npz", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["encoder"] == "efficientnet-lite0"
    assert (told["n"], told["p"]) == (25, 1280)
    assert told["notes"] == ["images are large or differ in size: resized to 224 x 224 pixels"]
    data = cgscore.read(folder / "f.npz")
    assert sorted(set(data.y.tolist())) == ["blue", "red"]  # type: ignore[union-attr]
    assert "red/large.png" in data.ids
    # the same features by the flag, and from the file
    flag = cgscore.read(photos, encoder="efficientnet-lite0", scaling="centre")
    file = cgscore.read(photos, resize=20, encoder=str(folder / "f.npz"), scaling="centre")
    assert np.allclose(flag.X, file.X, atol=1e-5)
    assert flag.drawable
    assert flag.picture(0).size == (20, 20)
    done = invoke(
        "score", "photos", "--encoder", "efficientnet-lite0", "--ridge", "auto", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert (
        "photos   25 images by efficientnet-lite0 57934424, 1,280 numbers each, in 2 classes"
        in done.stdout
    )
    done = invoke("report", "scores.parquet", folder=folder)
    assert "left out" not in done.stderr
    assert "data:image/png;base64" in (folder / "report.html").read_text()


def test_without_an_encoder_sizes_must_agree(photos: Path) -> None:
    Image.new("RGB", (60, 40)).save(photos / "red" / "large.png")
    with pytest.raises(DataError, match=r"2 different sizes.* resize=\(20, 20\)"):
        cgscore.read(photos, encoder="pixels")
    for side, path in enumerate(sorted(photos.rglob("*.png")), 30):
        Image.new("RGB", (side, 12)).save(path)
    with pytest.raises(DataError, match=r"25 different sizes.* resize=\(64, 64\)"):
        cgscore.read(photos, encoder="pixels")


def test_features_made_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [*"abcdef"], "u": rng.standard_normal(6), "label": [0, 1] * 3})
    frame.to_csv(tmp_path / "t.csv", index=False)
    F, order = rng.standard_normal((6, 4)), [3, 1, 0, 5, 2, 4]
    file = tmp_path / "f.npz"

    def read() -> Any:
        return cgscore.read(tmp_path / "t.csv", encoder=str(file))

    np.savez(file, X=F[order], ids=np.array([*"abcdef"])[order])
    assert np.array_equal(read().X, F)  # by the names of rows
    first = read().fingerprint
    np.savez(file, X=F)
    assert np.array_equal(read().X, F)
    assert read().fingerprint == first
    np.savez(file, X=F + 1)
    assert read().fingerprint != first
    np.savez(file, X=F, ids=np.array([*"abcdeg"]))
    with pytest.raises(DataError, match="names no example 'f'"):
        read()
    np.savez(file, X=F[:5])
    with pytest.raises(DataError, match=r"features of 5 examples; .* has 6"):
        read()
    np.savez(file, Z=F)
    with pytest.raises(SourceError, match="no array 'X' with the features"):
        read()
    np.savez(file, X=np.array([{}] * 6))
    with pytest.raises(SourceError, match="pickled"):
        read()
    file.unlink()
    with pytest.raises(SourceError, match="does not exist"):
        read()


def test_more_ids_than_features(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", X=np.eye(3), ids=np.array([*"abcd"]))
    with pytest.raises(SourceError, match="3 different names"):
        cgscore.read(np.eye(3), labels=[0, 1, 0], encoder=tmp_path / "f.npz")


def test_bytes_of_16_bits_are_not_taken_for_those_of_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "as_they_are.py").write_text("def same(batch):\n    return batch\n")
    monkeypatch.syspath_prepend(tmp_path)
    deep = np.random.default_rng(0).integers(0, 2**16, (6, 4, 4), dtype=np.uint16)
    y = np.array([0, 1] * 3)
    one = Dataset(deep, y, np.arange(6), image=True)
    two = Dataset(deep, y, np.arange(6))
    first, second = (cgscore.read(data, encoder="as_they_are:same") for data in (one, two))
    assert np.array_equal(first.X, (deep >> 8).reshape(6, -1))
    assert np.array_equal(second.X, deep.reshape(6, -1))


def test_a_dataset_is_encoded_once() -> None:
    data = cgscore.read(np.arange(12.0).reshape(6, 2) ** 2, labels=[0, 1] * 3)
    once = cgscore.read(data, scaling="centre")
    assert cgscore.read(once) is once
    with pytest.raises(OptionError, match="encoded already"):
        cgscore.read(once, scaling="centre")
    with pytest.raises(OptionError, match="neither images nor texts"):
        cgscore.read(data, encoder="auto")
    assert replace(once).fingerprint == once.fingerprint


def test_a_result_file_loads_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder of one's own is loaded only where its user names it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "theirs.py").write_text(OWN)
    X = np.random.default_rng(0).standard_normal((40, 3))
    np.savez("data.npz", X=X, y=np.arange(40) % 2)
    cgscore.score(cgscore.read("data.npz", encoder="theirs:f"), ridge=0.1).save("s.parquet")
    (tmp_path / "imported").unlink()
    sys.modules.pop("theirs")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(tmp_path)])
    scores = cgscore.load("s.parquet")
    with pytest.raises(OptionError, match="name it yourself: encoder='theirs:f'"):
        scores.data()
    with pytest.raises(OptionError, match="name it yourself"):
        scores.data("data.npz")
    with pytest.raises(OptionError, match="was scored with the encoder 'theirs:f'"):
        scores.data(encoder="theirs:g")
    done = invoke("report", "s.parquet", folder=tmp_path)
    assert done.returncode == 0
    assert "--encoder theirs:f" in done.stderr
    assert invoke("issues", "s.parquet", "--why", folder=tmp_path).returncode == 0
    assert not (tmp_path / "imported").exists()
    done = invoke("report", "s.parquet", "--encoder", "theirs:f", folder=tmp_path)
    assert done.returncode == 0
    assert "left out" not in done.stderr
    assert (tmp_path / "imported").exists()
    why = invoke("issues", "s.parquet", "--why", "--json", "--encoder", "theirs:f", folder=tmp_path)
    assert json.loads(why.stdout)["note"] is None
    for more in (["--labels", "x.npy"], ["--scaling", "centre"], ["--text-column", "t"]):
        assert invoke("issues", "s.parquet", *more, folder=tmp_path).returncode == 2
    kept = ["--keep", "0.5", "--order", "window"]
    assert invoke("prune", "s.parquet", *kept, folder=tmp_path).returncode == 2
    done = invoke("prune", "s.parquet", *kept, "--encoder", "theirs:f", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = invoke("issues", "s.parquet", "--encoder", "other:f", folder=tmp_path)
    assert done.returncode == 2
    scores.meta["read_options"]["progress"] = "x"
    with pytest.raises(ResultError, match="an option that is not known"):
        scores.data("data.npz", encoder="theirs:f")


@pytest.mark.needs("torch")
def test_the_folder_of_the_data_hides_no_package(photos: Path) -> None:
    """A file that lies there and is called like a package is not run."""
    for name in ("efficientnet_lite_pytorch", "torch", "sklearn"):
        (photos.parent / f"{name}.py").write_text("open('ran', 'w')\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("cgscore"), "features", "photos"],
        cwd=photos.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not (photos.parent / "ran").exists()


def test_the_data_as_objects(tmp_path: Path) -> None:
    """A result finds its features again from the object that was scored."""
    frame = pd.DataFrame(
        {
            "text": [f"about {'cats' if i % 2 else 'dogs'} {i}" for i in range(30)],
            "label": [0, 1] * 15,
        }
    )
    data = cgscore.read(frame, encoder="tfidf", scaling="centre")
    cgscore.score(data, ridge=0.1).save(tmp_path / "s.parquet")
    found = cgscore.load(tmp_path / "s.parquet").data(frame)
    assert found.fingerprint == data.fingerprint
