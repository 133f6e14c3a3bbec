"""One image at a time: formats, kinds, and claims that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.data.image_folders import COLOUR, DEEP, GREY, all_of, by_number, folder

import cgscore
from cgscore.errors import SourceError


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


def test_huge_claims_are_refused_before_decoding(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    for side, message in ((30_000, "more pixels than"), (8_000, "8,000 x 8,000 pixels")):
        Image.new("1", (side, side)).save(root / "a" / "bomb.png")
        with pytest.raises(SourceError, match=rf"bomb\.png claims {message}"):
            cgscore.read(root)
    assert len(cgscore.read(root, skip_bad=True)) == 8
