"""Lists, tuples and columns in memory whose items are texts or images, one for each example.

Images are objects of Pillow or arrays of bytes, of any sizes; they are treated as images of a file
are, so photographs get an encoder. Texts get one in any case.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.data.image_decoder import Encoded, picture
from cgscore.data.images import decode_all, notes_and_skipped
from cgscore.data.readers.options import ReadOptions
from cgscore.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

_CHUNK_IMAGES = 256  # written at a time
_TIFF_MODES = ("1", "L", "RGB", "RGBA", "I;16")  # of Pillow, that lose nothing in a TIFF file


def is_texts(source: Any) -> bool:
    """Whether an object is a sequence of texts; the first item tells."""
    return _is_sequence(source) and isinstance(_first(source), str)


def from_texts(source: Any, options: ReadOptions) -> Dataset:
    """The texts of a sequence, for an encoder."""
    import pandas as pd

    texts = list(source)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"The texts hold {text!r:.50} at position {i} (counted from 0). Expected a text; "
                "leave it out, or write '' for none."
            )
    return Dataset(
        np.empty((len(texts), 0)),
        None,
        np.arange(len(texts)),
        source="texts",
        frame=pd.DataFrame({"text": texts}),
        texts=tuple(map(str, texts)),
    )


def is_images(source: Any) -> bool:
    """Whether an object is a sequence of images; the first item tells."""
    return _is_sequence(source) and _is_image(_first(source))


def from_images(source: Any, options: ReadOptions) -> Dataset:
    """The images of a sequence as pixels, all of one size."""
    images: Sequence[Any] = list(source)

    def chunks() -> Iterator[list[Encoded]]:
        for start in range(0, len(images), _CHUNK_IMAGES):
            stop = min(start + _CHUNK_IMAGES, len(images))
            yield [_encoded(images[i], i) for i in range(start, stop)]

    def draw(i: int) -> Image:
        position = int(decoded.positions[i])
        return picture(_encoded(images[position], position))

    decoded = decode_all(chunks, lambda i: f"the image at position {i}", len(images), options)
    return Dataset(
        decoded.pixels,
        None,
        decoded.positions,
        source="images",
        image=True,
        pictures=draw,
        rows=decoded.positions if decoded.problems else None,
        **notes_and_skipped(decoded, lambda i: f"position {i}"),
    )


def _is_sequence(source: Any) -> bool:
    if isinstance(source, np.ndarray):
        return source.ndim == 1 and source.dtype.kind in "OUT" and len(source) > 0
    series = type(source).__name__ == "Series"  # of pandas or polars
    return (isinstance(source, list | tuple) or series) and len(source) > 0


def _first(source: Any) -> Any:
    return next(iter(source))


def _is_image(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.dtype == np.uint8 and _has_image_shape(item)
    return any(kind.__module__ == "PIL.Image" for kind in type(item).__mro__)


def _has_image_shape(pixels: Any) -> bool:
    return pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))


def _encoded(item: Any, position: int) -> bytes:
    """An image as an uncompressed TIFF file, which the decoder of all images reads."""
    from PIL import Image as pil

    if not _is_image(item):
        found = f"{item.dtype} of the shape {item.shape}" if hasattr(item, "shape") else ""
        raise DataError(
            f"The images hold {found or repr(item)[:50]} at position {position} (counted from 0). "
            "Expected an image of Pillow, or bytes of the shape (height, width) or (height, width, "
            "3)."
        )
    if isinstance(item, np.ndarray):
        item = pil.fromarray(item[:, :, 0] if item.shape[2:] == (1,) else item)
    if item.mode not in _TIFF_MODES:
        item = item.convert("L" if item.mode in ("LA", "La") else "RGB")
    file = io.BytesIO()
    item.save(file, "TIFF", compression="raw")
    return file.getvalue()
