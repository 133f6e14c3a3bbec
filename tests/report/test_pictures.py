"""Pictures inside the page."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from cgscore.data import Dataset
from cgscore.report.pictures import embedded_pictures, is_large, picture_address


def opened(address: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1", "CMYK"])
def test_photographs_become_small_jpegs(mode: str) -> None:
    shown = opened(picture_address(Image.new(mode, (600, 300)), 256))
    assert (shown.format, shown.mode, shown.size) == ("JPEG", "RGB", (256, 128))


def test_transparent_ground_is_white() -> None:
    shown = opened(picture_address(Image.new("RGBA", (300, 300), (0, 0, 0, 0)), 64))
    assert shown.getpixel((10, 10)) == (255, 255, 255)


def test_drawings_stay_as_they_are() -> None:
    pixels = np.arange(28 * 28, dtype=np.uint8).reshape(28, 28)
    shown = opened(picture_address(Image.fromarray(pixels), 96))
    assert shown.format == "PNG"
    assert (np.asarray(shown) == pixels).all()


def test_suspects_are_larger_than_others_and_all_are_within_their_bytes() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (9, 300, 300, 3)).astype(np.uint8)
    data = Dataset(noise, None, np.arange(9), image=True)
    assert is_large(data, 0)
    pictures, omitted = embedded_pictures(data, [4, 2], [2, 7, 8], 10**9)
    assert omitted == 0
    assert {at: opened(address).width for at, address in pictures.items()} == {
        "4": 256,
        "2": 256,
        "7": 96,
        "8": 96,
    }
    room = len(pictures["4"]) + 10
    assert embedded_pictures(data, [4, 2], [7], room) == ({"4": pictures["4"]}, 2)
