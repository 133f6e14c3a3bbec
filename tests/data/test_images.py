from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cgscore
from cgscore.data import images
from cgscore.errors import DataError, LabelError, OptionError, SourceError

RNG = np.random.default_rng(1)
GREY = RNG.integers(0, 256, (8, 12, 10), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (8, 12, 10, 3), dtype=np.uint8)
DEEP = RNG.integers(0, 65536, (8, 12, 10), dtype=np.uint16)


def folder(root: Path, pictures: list[Image.Image], suffix: str = ".png", **save: Any) -> Path:
    for i, one in enumerate(pictures):
        path = root / "ab"[i % 2] / f"{i}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        one.save(path, **save)
    return root


def by_number(data: cgscore.Dataset) -> Any:
    """Pixels in the order of the numbers in the file names."""
    return data.X[np.argsort([int(Path(name).stem) for name in data.ids])]


def all_of(pixels: Any) -> list[Image.Image]:
    return [Image.fromarray(one) for one in pixels]


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif", ".tiff", ".webp", ".PNG"])
def test_lossless_formats(tmp_path: Path, suffix: str) -> None:
    save = {"lossless": True, "exact": True} if suffix == ".webp" else {}
    data = cgscore.read(folder(tmp_path, all_of(COLOUR), suffix, **save))
    np.testing.assert_array_equal(by_number(data), COLOUR)


def test_jpeg(tmp_path: Path) -> None:
    smooth = np.broadcast_to(np.linspace(0, 255, 10).astype(np.uint8)[:, None], (8, 12, 10, 3))
    data = cgscore.read(folder(tmp_path, all_of(smooth.copy()), ".jpg", quality=95))
    assert np.abs(by_number(data).astype(int) - smooth).max() < 12


def test_grey_stays_grey_and_16_bits_stay_16(tmp_path: Path) -> None:
    data = cgscore.read(folder(tmp_path / "g", all_of(GREY)))
    np.testing.assert_array_equal(by_number(data), GREY)
    deep = cgscore.read(folder(tmp_path / "d", all_of(DEEP)))
    np.testing.assert_array_equal(by_number(deep), DEEP)
    assert deep.X.dtype == np.uint16
    thumb = np.asarray(deep.picture(0))
    np.testing.assert_array_equal(thumb, deep.X[0] >> 8)


def test_alpha_palette_and_bilevel(tmp_path: Path) -> None:
    alpha = [one.convert("RGBA") for one in all_of(COLOUR)]
    np.testing.assert_array_equal(by_number(cgscore.read(folder(tmp_path / "a", alpha))), COLOUR)
    few = (COLOUR // 128) * 255
    palette = [one.convert("P", palette=Image.Palette.ADAPTIVE) for one in all_of(few)]
    expected = np.stack([np.asarray(one.convert("RGB")) for one in palette])
    np.testing.assert_array_equal(
        by_number(cgscore.read(folder(tmp_path / "p", palette))), expected
    )
    bits = [one.convert("1") for one in all_of(GREY)]
    data = cgscore.read(folder(tmp_path / "b", bits))
    assert set(np.unique(data.X)) == {0, 255}


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
        cgscore.read(root)
    data = cgscore.read(root, resize="10x12")
    assert data.X.shape == (8, 12, 10, 3)
    keep = [i for i in range(8) if i != 3]
    np.testing.assert_array_equal(by_number(data)[keep], COLOUR[keep])
    assert cgscore.read(root, resize=6).X.shape == (8, 6, 6, 3)
    assert cgscore.read(root, resize=(4, 7)).X.shape == (8, 7, 4, 3)
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
    with pytest.raises(
        SourceError,
        match=r"a/2\.png is not an image .*b/3\.png cannot .* 2 of 8 images .*--skip-bad",
    ):
        cgscore.read(root)
    data = cgscore.read(root, skip_bad=True)
    assert len(data) == 6
    assert data.notes[0].startswith("2 unreadable images left out: a/2.png is not an image")
    assert "b/3.png cannot be decoded" in data.notes[0]
    for i, name in enumerate(data.ids):
        np.testing.assert_array_equal(np.asarray(data.picture(i)), COLOUR[int(Path(name).stem)])
    scores = cgscore.score(data)
    assert scores.meta["notes"] == list(data.notes)
    assert [one.split()[0] for one in scores.meta["skipped"]] == ["a/2.png", "b/3.png"]
    for path in root.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(DataError, match="None of the 8 images"):
        cgscore.read(root, skip_bad=True)


def test_class_folders_are_expected(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no images"):
        cgscore.read(tmp_path)
    for i, one in enumerate(all_of(COLOUR)):
        one.save(tmp_path / f"{i}.png")
    with pytest.raises(LabelError, match=r"0\.png is in no class folder, like 7 other"):
        cgscore.read(tmp_path)
    assert cgscore.read(tmp_path, labels=list("abababab")).ids[3] == "3.png"
    with pytest.raises(SourceError, match="no split 'test'"):
        cgscore.read(tmp_path, split="test")


def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    root = folder(tmp_path / "root", all_of(COLOUR))
    secret = tmp_path / "secret.png"
    Image.fromarray(COLOUR[0]).save(secret)
    inside = root / "a" / "9.png"
    inside.symlink_to(root / "b" / "1.png")
    assert len(cgscore.read(root)) == 9
    for target in (secret, tmp_path / "nothing.png", root / "a" / "10.png"):
        link = root / "a" / "10.png"
        link.symlink_to(target)
        with pytest.raises(SourceError, match=r"10\.png is a link that leads out"):
            cgscore.read(root)
        link.unlink()
    (root / "c").symlink_to(tmp_path)
    with pytest.raises(SourceError, match="c is a link that leads out"):
        cgscore.read(root)


def test_names_may_hold_anything(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    odd = ["new\nline.png", "\x1b[31m.png", "<script>.png", "ü‮.png"]
    for name in odd:
        Image.fromarray(COLOUR[0]).save(root / "a" / name)
    os.rename(root / "a" / "0.png", os.fsencode(root / "a") + b"/\xff.png")
    data = cgscore.read(root)
    assert {f"a/{name}" for name in odd} | {"a/\\xff.png"} <= set(data.ids)
    cgscore.score(data, ridge=0.1).save(tmp_path / "s.parquet")
    assert set(cgscore.load(tmp_path / "s.parquet").table["id"]) == set(data.ids)


def test_huge_claims_are_refused_before_decoding(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    for side, message in ((30_000, "more pixels than"), (8_000, "8,000 x 8,000 pixels")):
        Image.new("1", (side, side)).save(root / "a" / "bomb.png")
        with pytest.raises(SourceError, match=rf"bomb\.png claims {message}"):
            cgscore.read(root)
    assert len(cgscore.read(root, skip_bad=True)) == 8
