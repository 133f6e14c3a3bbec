"""One encoded image to pixels, without trust in its bytes.

An image is of one of three kinds: ``grey`` (h, w) of bytes, ``deep`` grey of 16 bits (h, w), or
``colour`` (h, w, 3) of bytes. An alpha channel is dropped, palettes are looked up. Headers are read
first: an image that claims too many pixels is refused, and a large one of another size than the
expected one is not decoded. Photographs in JPEG of more than `_MAX_UNREDUCED_PIXELS` are reduced
while they are decoded if a size is given. Of an animation the first frame is read.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.bounded import first_line
from cgscore.data.readers.options import Size
from cgscore.errors import SourceError

if TYPE_CHECKING:
    from PIL.Image import Image

Kind = Literal["grey", "deep", "colour"]
Encoded = bytes | Path

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif")
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")
MAX_PIXELS = 61_000_000  # pixels decoded of one image; a header may claim any number

_MAX_UNREDUCED_PIXELS = 16_000_000  # a larger photograph is reduced while it is decoded
_PREVIEW_SIZE = (1024, 1024)  # pixels kept of such a photograph for thumbnails
_MAX_CHECKED_PIXELS = 4_000_000  # larger images of another size are reported without decoding them
_DEEP_MODES = ("I;16", "I;16B", "I;16L", "I;16N", "I")
_GREY_MODES = ("1", "L", "LA", "La")


class Picture(NamedTuple):
    """A decoded image: its pixels, its kind, and its width and height in the file."""

    pixels: NDArray[Any]
    kind: Kind
    size: Size


class OtherSize(NamedTuple):
    """The size of an image that is not decoded, because it is not the expected one."""

    width: int
    height: int


def decode(
    content: Encoded, resize: Size | None = None, expected: Size | None = None
) -> Picture | OtherSize:
    """One image decoded; without `resize`, only if its size is the expected one."""
    opened = _open(content, resize)
    with opened as image:
        other = resize is None and expected not in (None, image.size)
        if other and image.size[0] * image.size[1] > _MAX_CHECKED_PIXELS:
            return OtherSize(*image.size)
        _load(image)
        if other:
            return OtherSize(*image.size)
        kind: Kind = (
            "deep"
            if image.mode in _DEEP_MODES
            else "grey"
            if image.mode in _GREY_MODES
            else "colour"
        )
        return Picture(np.asarray(_converted(image, kind, resize)), kind, opened.size)


def picture(content: Encoded) -> Image:
    """One image as Pillow's object, for thumbnails."""
    with _open(content, _PREVIEW_SIZE) as image:
        _load(image)
        if image.mode in _DEEP_MODES:
            from PIL import Image as pil

            return pil.fromarray((np.asarray(image.convert("I")) >> 8).astype(np.uint8))
        return image.convert("L" if image.mode in _GREY_MODES else "RGB")


def _converted(image: Image, kind: Kind, resize: Size | None) -> Image | NDArray[Any]:
    if kind == "deep":
        if resize and image.size != resize:
            image = image.convert("F").resize(resize)
        deep: NDArray[Any] = np.clip(np.asarray(image), 0, 65535).astype(np.uint16)
        return deep
    mode = "L" if kind == "grey" else "RGB"
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode != mode:
        image = image.convert(mode)
    return image.resize(resize) if resize and image.size != resize else image


def _load(image: Image) -> None:
    """Decode an image that is open; a damaged one is a `SourceError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
    except MemoryError as error:
        raise SourceError("is too large to decode") from error
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise SourceError(f"cannot be decoded ({first_line(error)})") from error


class _open:
    """A context with an image of hostile bytes, not decoded; failures are a `SourceError`.

    A large JPEG will be reduced while it is decoded, to twice the size of `target` or more.
    """

    def __init__(self, content: Encoded, target: Size | None) -> None:
        self._content, self._target = content, target
        self._image: Any = None
        self.size: Size = (0, 0)  # in the file

    def __enter__(self) -> Image:
        import PIL
        from PIL import Image as pil

        source = self._content if isinstance(self._content, Path) else io.BytesIO(self._content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # odd metadata; size is checked below
                self._image = pil.open(source, formats=FORMATS)
                self._check_size()
        except PIL.UnidentifiedImageError as error:
            self.__exit__()
            raise SourceError(f"is not an image ({'/'.join(FORMATS)})") from error
        except pil.DecompressionBombError as error:
            self.__exit__()
            raise SourceError("claims more pixels than a real image has") from error
        except SourceError:
            self.__exit__()
            raise
        except MemoryError as error:
            self.__exit__()
            raise SourceError("is too large to decode") from error
        except Exception as error:  # decoders of damaged files raise nearly anything
            self.__exit__()
            raise SourceError(f"cannot be decoded ({first_line(error)})") from error
        return self._image  # type: ignore[no-any-return]

    def _check_size(self) -> None:
        width, height = self.size = self._image.size
        if self._target is not None and width * height > _MAX_UNREDUCED_PIXELS:
            self._image.draft(None, (2 * self._target[0], 2 * self._target[1]))
        if self._image.size[0] * self._image.size[1] > MAX_PIXELS:
            raise SourceError(
                f"claims {width:,} x {height:,} pixels; at most {MAX_PIXELS:,} are decoded (a JPEG "
                "may have more if it is resized to much less)"
            )

    def __exit__(self, *_: object) -> None:
        if self._image is not None:
            self._image.close()
