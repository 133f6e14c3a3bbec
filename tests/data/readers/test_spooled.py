"""Rows that arrive in parts: in memory if they are few, else mapped from a file without a name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import cgscore
from cgscore.data.readers import spooled
from cgscore.data.readers.spooled import stack_rows
from cgscore.errors import DataError, SourceError, StorageError


def parquet(path: Path, X: Any, y: Any, *, fixed: bool) -> Path:
    """A column of lists in several row groups, and one of labels."""
    flat = pa.array(X.reshape(-1))
    if fixed:
        lists = pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    else:
        lists = pa.ListArray.from_arrays(np.arange(0, X.size + 1, X.shape[1]), flat)
    table = pa.table({"embedding": lists, "label": y})
    pq.write_table(table, path, row_group_size=70, compression="zstd")
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


@pytest.mark.parametrize(
    "lists",
    [
        [[[1.0, 2.0, 3.0], [4.0, 5.0]], [[6.0], [7.0, 8.0]]],
        [[[1.0, 2.0], None, [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]],
    ],
)
def test_lists_in_lists_are_tables(tmp_path: Path, lists: Any) -> None:
    """Otherwise numbers would move to other rows."""
    pq.write_table(pa.table({"e": lists * 3, "label": [0, 1] * 3}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"different lengths|missing lists"):
        cgscore.read(tmp_path / "x.parquet")


def test_repeated_numbers_are_no_way_to_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes of repeated numbers would unpack to thousands of times as many."""
    for name in ("MIN_SUSPICIOUS_BYTES", "MAX_EXPANSION"):
        monkeypatch.setattr(f"cgscore.data.readers.bounded.{name}", 200)
    path = parquet(tmp_path / "x.parquet", np.ones((4000, 1000)), np.arange(4000) % 2, fixed=True)
    with pytest.raises(SourceError, match="200-fold expansion"):
        cgscore.read(path)


@pytest.mark.parametrize("claimed", [2, 150, 250])
def test_a_wrong_number_of_rows_is_refused(tmp_path: Path, mapped: None, claimed: int) -> None:
    parts = [np.zeros((100, 9)), np.zeros((100, 9))]
    (tmp_path / "file").write_bytes(bytes(14400))
    with pytest.raises(DataError, match=f"promises {claimed} rows"):
        stack_rows(iter(parts), claimed, str(tmp_path / "file"))


def test_metadata_that_contradict_themselves_are_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((1000, 8))
    path = parquet(tmp_path / "x.parquet", X, np.arange(1000) % 2, fixed=True)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    start = content.index(b"\xd0\x0f", len(content) - 8 - length)  # 1000, as a varint of Thrift
    path.write_bytes(content[:start] + b"\xe0\x12" + content[start + 2 :])
    assert pq.read_metadata(path).num_rows == 1200
    with pytest.raises(SourceError, match="contradicts itself on its number of rows"):
        cgscore.read(path)


def test_damage_is_not_taken_for_a_failed_write(tmp_path: Path, mapped: None) -> None:
    X = np.random.default_rng(0).standard_normal((1000, 8))
    path = parquet(tmp_path / "x.parquet", X, np.arange(1000) % 2, fixed=True)
    content = bytearray(path.read_bytes())
    content[20000:20400] = bytes(400)
    path.write_bytes(content)
    with pytest.raises((SourceError, DataError)) as error:
        cgscore.read(path).fingerprint  # noqa: B018
    assert "writing failed" not in str(error.value)


def test_tables_in_memory_stay_there(mapped: None) -> None:
    X = np.random.default_rng(0).standard_normal((200, 6))
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 6)
    data = cgscore.read(pa.table({"e": lists, "label": np.arange(200) % 2}))
    assert not isinstance(data.X, np.memmap)
    np.testing.assert_array_equal(data.X, X)


def test_a_full_disk_is_named(
    mapped: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(bytes(7200))
    full = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    monkeypatch.setattr(spooled, "scratch_file", lambda: full)
    with pytest.raises(StorageError, match=r"TMPDIR .*writing failed .*Free some space"):
        stack_rows(iter([np.zeros((100, 9))]), 100, str(tmp_path / "file"))
    usage = shutil._ntuple_diskusage(1000, 900, 100)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(StorageError, match=r"would hold 7\.2 kB; 0\.1 kB is free"):
        stack_rows(iter([np.zeros((100, 9))]), 100, str(tmp_path / "file"))


def test_images_and_their_features_are_mapped(
    mapped: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pixels go to a file as they are decoded, features as they are computed."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (60, 8, 8, 3), np.uint8)
    images[59] = images[0]  # equal images have equal features
    for number, image in enumerate(images):
        folder = tmp_path / "photos" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / f"{number:02}.png")
    order = np.r_[0:60:2, 1:60:2]
    pixels = cgscore.read(tmp_path / "photos", encoder="pixels")
    assert isinstance(pixels.X, np.memmap)
    np.testing.assert_array_equal(pixels.X.reshape(images.shape), images[order])
    (tmp_path / "shrinking.py").write_text(
        "import numpy as np\n"
        "def embed(batch):\n"
        "    return np.asarray(batch, np.float32).reshape(len(batch), -1)[:, :24] + 1\n"
        "embed.batch = 16\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    features = cgscore.read(tmp_path / "photos", encoder="shrinking:embed")
    assert isinstance(features.X, np.memmap)
    expected = images[order].reshape(60, -1)[:, :24].astype(np.float32) + 1
    np.testing.assert_array_equal(features.X, expected)
    options: Any = {"method": "lowrank", "ridge": 0.1, "landmarks": 20}
    np.testing.assert_array_equal(
        cgscore.score(features, **options).d, cgscore.score(expected, features.y, **options).d
    )


def test_images_that_cannot_be_read_leave_no_gap(mapped: None, tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 255, (8, 8, 3), np.uint8)
    for number in range(12):
        folder = tmp_path / "photos" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number:02}.png"
        Image.fromarray(image + np.uint8(number)).save(path)
        if number == 4:
            path.write_bytes(path.read_bytes()[:60])
    data = cgscore.read(tmp_path / "photos", encoder="pixels", skip_bad=True)
    assert isinstance(data.X, np.memmap)
    first = [int(name[2:4]) for name in data.ids.tolist()]
    np.testing.assert_array_equal(
        data.X.reshape(11, -1)[:, 0], image[0, 0, 0] + np.array(first, np.uint8)
    )
