"""The table of readers: which one a name or a folder belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore.data.readers.options import PUBLIC_OPTIONS
from cgscore.data.readers.registry import READERS, find_reader, known_reader, reader_by_suffix
from cgscore.errors import SourceError


def test_names_and_suffixes_are_unique() -> None:
    names = [reader.name for reader in READERS]
    suffixes = [suffix for reader in READERS for suffix in reader.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(suffixes)) == len(suffixes)


def test_readers_state_options_that_exist() -> None:
    for reader in READERS:
        assert set(reader.options) <= set(PUBLIC_OPTIONS), reader.name


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("a.npz", "npz"),
        ("a.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a.b.tsv.gz", "tsv"),
        ("a.pq", "parquet"),
        ("a.arrow", "feather"),
        ("a.jsonl", "JSON lines"),
        ("a.NDJSON.gz", "JSON lines"),
        ("a.json", "JSON"),
        ("a.xlsx", "XLSX"),
        ("a.arff", "ARFF"),
        ("a.gz", None),
        ("a", None),
    ],
)
def test_files_are_known_by_their_suffix(name: str, reader: str | None) -> None:
    known = reader_by_suffix(Path(name))
    assert (known.name if known else None) == reader


def test_folders_are_known_by_what_they_hold(tmp_path: Path) -> None:
    marks = {
        "train-images-idx3-ubyte.gz": "IDX folder",
        "batches.meta": "CIFAR batches",
        "state.json": "Hugging Face dataset",
        "cat.png": "folder of images",
    }
    for mark, name in marks.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / mark).touch()
        reader = known_reader(str(folder))
        assert reader is not None
        assert reader.name == name
    assert find_reader(tmp_path / "IDX folder" / "train-images-idx3-ubyte.gz").name == "IDX images"


def test_names_that_no_reader_knows(tmp_path: Path) -> None:
    assert known_reader(str(tmp_path / "nothing.csv")) is None
    (tmp_path / "a.xyz").touch()
    with pytest.raises(SourceError, match=r"a\.xyz: files of this kind cannot be read\. .*\.csv"):
        find_reader(tmp_path / "a.xyz")
