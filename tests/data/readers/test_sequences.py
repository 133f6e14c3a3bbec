"""Lists of texts and of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import cgscore
from cgscore.errors import DataError

TEXTS = [f"the {word} is number {i} of these words" for i in range(6) for word in ("cat", "dog")]
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 9, 3), dtype=np.uint8)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series], ids=lambda f: f.__name__)
def test_texts(make: Any) -> None:
    data = cgscore.read(make(TEXTS), labels=["a", "b"] * 6, encoder="tfidf")
    assert data.texts == tuple(TEXTS)
    inside = pd.DataFrame({"text": TEXTS, "label": ["a", "b"] * 6})
    np.testing.assert_array_equal(data.X, cgscore.read(inside, encoder="tfidf").X)


def test_images_of_one_small_size_are_pixels() -> None:
    pictures = [Image.fromarray(image) for image in PIXELS]
    for images in (pictures, list(PIXELS), tuple(pictures)):
        data = cgscore.read(images, labels=[0, 1] * 3)
        assert data.image
        assert not data.photographs
        np.testing.assert_array_equal(data.X, PIXELS)
        np.testing.assert_array_equal(np.asarray(data.picture(2)), PIXELS[2])


def test_images_of_other_modes() -> None:
    colour = Image.fromarray(PIXELS[0])
    modes = ["RGB", "RGBA", "P", "L", "1", "CMYK", "LA", "F"]
    data = cgscore.read([colour.convert(mode) for mode in modes])
    assert data.X.shape == (8, 8, 9, 3)
    grey = cgscore.read([colour.convert("L"), PIXELS[1][:, :, 0], PIXELS[2][:, :, :1]])
    np.testing.assert_array_equal(grey.X[1:], [PIXELS[1][:, :, 0], PIXELS[2][:, :, 0]])
    deep = [Image.fromarray(np.full((4, 5), value, np.uint16)) for value in (1, 60_000)]
    assert cgscore.read(deep).X[:, 0, 0].tolist() == [1, 60_000]


def test_images_of_different_sizes_are_photographs() -> None:
    data = cgscore.read([PIXELS[0], PIXELS[1][:5]], encoder="pixels", resize=4)
    assert data.photographs
    assert data.X.shape == (2, 4, 4, 3)


def test_other_items_are_named() -> None:
    with pytest.raises(DataError, match="hold None at position 1"):
        cgscore.read(["a text", None])
    with pytest.raises(DataError, match=r"uint8 of the shape \(9,\) at position 1"):
        cgscore.read([PIXELS[0], np.zeros(9, np.uint8)])
    with pytest.raises(DataError, match="hold 'a' at position 1"):
        cgscore.read([Image.fromarray(PIXELS[0]), "a"])
    assert cgscore.read([[1.0, 2.0], [3.0, 4.0]]).X.tolist() == [[1, 2], [3, 4]]
