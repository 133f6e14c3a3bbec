from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.data.image_folders import COLOUR, DEEP, GREY, RNG, all_of, by_number, folder

import cgscore
from cgscore.data import images
from cgscore.errors import DataError, OptionError, SourceError


@pytest.mark.parametrize("order", ["grey first", "colour first"])
def test_grey_among_colour_becomes_colour(tmp_path: Path, order: str) -> None:
    pictures = all_of(COLOUR)
    where = 0 if order == "grey first" else 5
    pictures[where] = Image.fromarray(GREY[where])
    data = cgscore.read(folder(tmp_path, pictures))
    assert data.X.shape == (8, 12, 10, 3)
    for c in range(3):
        np.testing.assert_array_equal(by_number(data)[where, ..., c], GREY[where])


def test_16_bits_among_8_are_scaled(tmp_path: Path) -> None:
    pictures = all_of(DEEP)[:4] + all_of(GREY)[4:]
    data = cgscore.read(folder(tmp_path, pictures))
    np.testing.assert_array_equal(by_number(data)[:4], DEEP[:4] >> 8)
    np.testing.assert_array_equal(by_number(data)[4:], GREY[4:])


def test_many_images_are_decoded_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "_MIN_IMAGES_FOR_WORKERS", 10)
    monkeypatch.setattr(images, "_CHUNK_IMAGES", 7)
    monkeypatch.setattr(images, "cores", lambda: 2)
    pixels = RNG.integers(0, 256, (60, 12, 10, 3), dtype=np.uint8)
    root = folder(tmp_path, all_of(pixels))
    np.testing.assert_array_equal(by_number(cgscore.read(root)), pixels)
    (root / "a" / "20.png").write_bytes(b"not an image")
    data = cgscore.read(root, skip_bad=True)
    assert len(data) == 59
    assert "a/20.png" not in data.ids


def test_mixed_sizes_are_counted_and_resized(tmp_path: Path) -> None:
    pictures = all_of(COLOUR)
    pictures[3] = Image.new("RGB", (20, 9))
    root = folder(tmp_path, pictures)
    with pytest.raises(DataError, match=r"7 of 10 x 12 \(such as .*\), 1 of 20 x 9 \(such as .*3"):
        cgscore.read(root, encoder="pixels")
    data = cgscore.read(root, resize="10x12", encoder="pixels")
    assert data.X.shape == (8, 12, 10, 3)
    keep = [i for i in range(8) if i != 3]
    np.testing.assert_array_equal(by_number(data)[keep], COLOUR[keep])
    assert cgscore.read(root, resize=6, encoder="pixels").X.shape == (8, 6, 6, 3)
    assert cgscore.read(root, resize=(4, 7), encoder="pixels").X.shape == (8, 7, 4, 3)
    deep = folder(tmp_path / "deep", all_of(DEEP))
    assert cgscore.read(deep, resize=6).X.dtype == np.uint16


@pytest.mark.parametrize("resize", ["big", "0", "3x", "1x2x3", -1, (1, 2, 3), 1.5])
def test_other_sizes_are_refused(tmp_path: Path, resize: Any) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    with pytest.raises(OptionError, match="resize must be a size"):
        cgscore.read(root, resize=resize)


def test_unreadable_files_are_named_or_skipped(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    (root / "a" / "2.png").write_bytes(b"hello")
    whole = (root / "b" / "3.png").read_bytes()
    (root / "b" / "3.png").write_bytes(whole[: len(whole) // 2])
    (root / "b" / "notes.txt").write_text("not looked at")
    foreign = "files other than images left out: 1 (b/notes.txt)"
    with pytest.raises(
        SourceError,
        match=r"a/2\.png is not an image .*b/3\.png cannot .* 2 of 8 images .*skip_bad=True",
    ):
        cgscore.read(root)
    data = cgscore.read(root, skip_bad=True)
    assert len(data) == 6
    assert data.notes[0] == foreign
    assert data.notes[1].startswith("2 unreadable images left out: a/2.png is not an image")
    assert "b/3.png cannot be decoded" in data.notes[1]
    for i, name in enumerate(data.ids):
        np.testing.assert_array_equal(np.asarray(data.picture(i)), COLOUR[int(Path(name).stem)])
    scores = cgscore.score(data)
    assert scores.meta["notes"] == list(data.notes)
    assert [one.split()[0] for one in scores.meta["skipped"]] == ["a/2.png", "b/3.png"]
    for path in root.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(DataError, match="None of the 8 images"):
        cgscore.read(root, skip_bad=True)
