"""Encoded images to one array of pixels, on all cores.

All images of a dataset have one size and one kind: ``grey`` (n, h, w) of bytes, ``deep`` grey of 16
bits (n, h, w), or ``colour`` (n, h, w, 3) of bytes. Grey among colour becomes colour, 16 bits among
8 are scaled down, an alpha channel is dropped, palettes are looked up. Pixels stay as they are
until the kernel needs floats.

Images are decoded in worker processes, in order and chunk by chunk, into the array that is
returned; beside it only a few chunks exist, of `_CHUNK_BYTES` each. Small datasets are decoded in
this process. Headers are read first: the memory for all images is checked before more than one is
decoded, and a large one of another size than the first is not decoded at all. Photographs in JPEG
of more than `_REDUCED` pixels are reduced while they are decoded if `resize` is given.
"""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.bounded import first_line, refuse_expansion, refuse_size
from cgscore.data.readers.options import Size
from cgscore.errors import DataError, SourceError
from cgscore.execution.machine import cores
from cgscore.execution.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

Kind = Literal["grey", "deep", "colour"]
Encoded = bytes | Path

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
MAX_PIXELS = 61_000_000  # pixels decoded of one image; a header may claim any number

_REDUCED = 16_000_000  # pixels from which on a photograph is reduced while it is decoded
_SHOWN = (1024, 1024)  # pixels kept of such a photograph for thumbnails
_CHUNK = 256  # images per task
_CHUNK_BYTES = 1 << 25  # pixels of a task once decoded
_WORTH_A_LOOK = 4_000_000  # pixels up to which an image of another size is decoded, too
_WORTH_WORKERS = 2000  # images from which starting worker processes pays
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I")
_GREY = ("1", "L", "LA", "La")


@dataclass(frozen=True)
class Decoded:
    """Pixels of the images that could be read, and what became of the others.

    Attributes
    ----------
    pixels : (m, h, w) or (m, h, w, 3) array
        The images that could be read, in order.
    kept : (m,) array
        Their positions among all images.
    bad : dict
        Position -> what was wrong, for the images left out.
    resized : bool
        Whether they had different sizes and were brought to one.
    """

    pixels: NDArray[Any]
    kept: NDArray[np.intp]
    bad: dict[int, str]
    resized: bool = False


def decode_all(
    chunks: Callable[[], Iterable[list[Encoded]]],
    names: Callable[[int], str],
    count: int,
    *,
    resize: Size | None,
    skip_bad: bool,
    progress: Progress,
    mixed: int | None = None,
    most: int | None = None,
) -> Decoded:
    """Every image of a dataset as one array.

    Parameters
    ----------
    chunks : function
        Gives the encoded images in order, in lists of any length; called again if the first
        pass finds that grey images are followed by colour ones.
    names : function
        The name of the image at a position, for messages.
    count : int
        Number of images.
    resize : (width, height), optional
        Size to bring every image to.
    skip_bad : bool
        Leave unreadable images out instead of raising.
    mixed, most : int, optional
        Pixels a side to which images are brought if they have different sizes, or if one is larger
        than `most`.
    """
    kind: Kind | None = None
    resized = False
    for _ in range(4):  # at most grey after deep, then colour after grey; and other sizes
        try:
            limit = None if mixed is None or resize else (most or MAX_PIXELS)
            found = _decode_as(chunks(), names, count, kind, resize, skip_bad, limit, progress)
            return replace(found, resized=resized)
        except _OtherKind as other:  # noqa: PERF203
            kind = other.kind
        except _MixedSizes as sizes:
            if mixed is None:
                raise DataError(str(sizes)) from None
            resize, resized = (mixed, mixed), True
    raise RuntimeError("the kinds of images do not settle; this is a fault in cgscore")


class _MixedSizes(Exception):
    """Images have different sizes."""


class _OtherSize(NamedTuple):
    """What is known of an image of another size than the first, which is not decoded."""

    width: int
    height: int


Result = tuple[NDArray[Any], Kind] | _OtherSize | str


class _OtherKind(Exception):
    """An image is of a kind that the array so far cannot hold."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind = kind


def _decode_as(
    chunks: Iterable[list[Encoded]],
    names: Callable[[int], str],
    count: int,
    kind: Kind | None,
    resize: Size | None,
    skip_bad: bool,
    limit: int | None,
    progress: Progress,
) -> Decoded:
    pixels: NDArray[Any] | None = None
    sizes: Counter[Size] = Counter()
    odd: dict[Size, int] = {}  # a position for each size that occurs
    bad: dict[int, str] = {}
    done = kept = 0
    positions = np.empty(count, dtype=np.intp)
    with progress.phase("reading", count) as advance:
        chunks, size = (chunks, resize) if resize else _first_size(chunks, names, count, limit)
        for results in _work(_cut(chunks, size), count, resize, size):
            for found in results:
                position, done = done, done + 1
                if isinstance(found, str):
                    bad[position] = found
                    continue
                this = _size(found)
                sizes[this] += 1
                odd.setdefault(this, position)
                size = size or this
                if limit is not None and (this != size or max(this) > limit):
                    raise _MixedSizes
                if isinstance(found, _OtherSize):
                    continue  # reported with all others below
                image, image_kind = found
                kind = _common(kind, image_kind, first=pixels is None)
                if pixels is None:
                    pixels = _room(names(position), count, size, kind)
                pixels[kept] = _as_kind(image, image_kind, kind)
                positions[kept] = position
                kept += 1
            advance(len(results))
    if bad and not skip_bad:
        raise SourceError(
            f"{_listed(bad, names, 5)}. {len(bad):,} of {count:,} images cannot be read. "
            "Leave such images out and go on: --skip-bad (Python: skip_bad=True)"
        )
    if len(sizes) > 1:
        raise _MixedSizes(_mixed(sizes, odd, names))
    if pixels is None or kept == 0:
        raise DataError(f"None of the {count:,} images could be read." if count else "No images.")
    if kept < count:
        pixels = pixels[:kept].copy()
    return Decoded(pixels, positions[:kept], bad)


def _size(found: tuple[NDArray[Any], Kind] | _OtherSize) -> Size:
    if isinstance(found, _OtherSize):
        return found.width, found.height
    height, width = found[0].shape[:2]
    return width, height


def _common(kind: Kind | None, found: Kind, *, first: bool) -> Kind:
    """The kind that holds both; if the array must change for it, start again."""
    if kind is None or kind == found:
        return found
    wider: Kind = "colour" if "colour" in (kind, found) else "grey"
    if wider != kind and not first:
        raise _OtherKind(wider)
    return wider


def _room(name: str, count: int, size: Size, kind: Kind) -> NDArray[Any]:
    shape = (count, size[1], size[0], *((3,) if kind == "colour" else ()))
    dtype = np.dtype(np.uint16 if kind == "deep" else np.uint8)
    refuse_size(f"A dataset of {count:,} images like {name}", int(np.prod(shape)) * dtype.itemsize)
    return np.empty(shape, dtype)


def _as_kind(image: NDArray[Any], found: Kind, kind: Kind) -> NDArray[Any]:
    if found == kind:
        return image
    if found == "deep":
        image = (image >> 8).astype(np.uint8)
    return image if kind == "grey" else np.repeat(image[:, :, None], 3, axis=2)


def _first_size(
    chunks: Iterable[list[Encoded]], names: Callable[[int], str], count: int, limit: int | None
) -> tuple[Iterable[list[Encoded]], Size | None]:
    """The same chunks, and the size of the first image that can be decoded.

    Raises
    ------
    SourceError
        All images together would not fit in memory, or expand more than real images do.
    """
    rest, taken, position = iter(chunks), [], 0
    for chunk in rest:
        taken.append(chunk)
        for content in chunk:
            found = _decode_or_say(content, None, None)
            if not isinstance(found, str | _OtherSize):
                pixels = found[0]
                if limit is None or max(pixels.shape[:2]) <= limit:  # they keep their size
                    packed = sum(map(_stored, chunk)) * count // len(chunk)
                    name = f"A dataset of {count:,} images like {names(position)}"
                    refuse_expansion(name, packed, pixels.nbytes * count)
                return chain(taken, rest), (pixels.shape[1], pixels.shape[0])
            position += 1
    return taken, None


def _stored(content: Encoded) -> int:
    """Bytes of an encoded image."""
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _cut(chunks: Iterable[list[Encoded]], size: Size | None) -> Iterator[list[Encoded]]:
    """Lists of any length in pieces that hold `_CHUNK_BYTES` once decoded, or one image."""
    width, height = size or (1, 1)
    length = max(1, min(_CHUNK, _CHUNK_BYTES // (3 * width * height)))
    for chunk in chunks:
        for start in range(0, len(chunk), length):
            yield chunk[start : start + length]


def _work(
    chunks: Iterator[list[Encoded]], count: int, resize: Size | None, expected: Size | None
) -> Iterator[list[Result]]:
    """Decoded chunks in order, from worker processes if there are many images."""
    if count < _WORTH_WORKERS or cores() == 1:
        for chunk in chunks:
            yield decode_chunk(chunk, resize, expected)
        return
    from joblib import Parallel, delayed

    # loky's workers do not import the user's main module, so scripts need no guard
    workers = Parallel(n_jobs=cores(), return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    yield from (
        _unpacked(*one)
        for one in workers(delayed(_packed)(chunk, resize, expected) for chunk in chunks)
    )


def _packed(chunk: list[Encoded], resize: Size | None, expected: Size | None) -> tuple[Any, Any]:
    """`decode_chunk` with equal images stacked, which is quicker to send between processes."""
    found = decode_chunk(chunk, resize, expected)
    images = [one for one in found if not isinstance(one, str | _OtherSize)]
    if len(images) == len(found) and len({(one[0].shape, one[1]) for one in images}) == 1:
        return np.stack([one[0] for one in images]), images[0][1]
    return None, found


def _unpacked(stack: Any, rest: Any) -> list[Result]:
    return rest if stack is None else [(image, rest) for image in stack]


def decode_chunk(
    chunk: list[Encoded], resize: Size | None, expected: Size | None = None
) -> list[Result]:
    """Pixels and kind of each image, or what is wrong with it."""
    return [_decode_or_say(one, resize, expected) for one in chunk]


def _decode_or_say(content: Encoded, resize: Size | None, expected: Size | None) -> Result:
    try:
        return decode(content, resize, expected)
    except SourceError as error:
        return str(error)


def decode(
    content: Encoded, resize: Size | None = None, expected: Size | None = None
) -> tuple[NDArray[Any], Kind] | _OtherSize:
    """Pixels and kind of one image; without `resize`, only if its size is the expected one."""
    with _opened(content, resize) as image:
        other = resize is None and expected not in (None, image.size)
        if other and image.size[0] * image.size[1] > _WORTH_A_LOOK:
            return _OtherSize(*image.size)
        _load(image)
        if other:
            return _OtherSize(*image.size)
        kind: Kind = "deep" if image.mode in _DEEP else "grey" if image.mode in _GREY else "colour"
        return np.asarray(_converted(image, kind, resize)), kind


def picture(content: Encoded) -> Image:
    """One image as Pillow's object, for thumbnails."""
    with _opened(content, _SHOWN) as image:
        _load(image)
        if image.mode in _DEEP:
            from PIL import Image as pil

            return pil.fromarray((np.asarray(image.convert("I")) >> 8).astype(np.uint8))
        return image.convert("L" if image.mode in _GREY else "RGB")


def _converted(image: Image, kind: Kind, resize: Size | None) -> Image | NDArray[Any]:
    if kind == "deep":
        if resize and image.size != resize:
            image = image.convert("F").resize(resize)
        deep: NDArray[Any] = np.clip(np.asarray(image), 0, 65535).astype(np.uint16)
        return deep
    wanted = "L" if kind == "grey" else "RGB"
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode != wanted:
        image = image.convert(wanted)
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


class _opened:
    """A context with an image of hostile bytes, not decoded; failures are a `SourceError`.

    A large JPEG will be reduced while it is decoded, to twice the size of `target` or more.
    """

    def __init__(self, content: Encoded, target: Size | None) -> None:
        self._content, self._target = content, target
        self._image: Any = None

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
        width, height = self._image.size
        if self._target is not None and width * height > _REDUCED:
            self._image.draft(None, (2 * self._target[0], 2 * self._target[1]))
        if self._image.size[0] * self._image.size[1] > MAX_PIXELS:
            raise SourceError(
                f"claims {width:,} x {height:,} pixels; at most {MAX_PIXELS:,} are decoded (a JPEG "
                "may have more if it is resized to much less)"
            )

    def __exit__(self, *_: object) -> None:
        if self._image is not None:
            self._image.close()


def _mixed(sizes: Counter[Size], odd: dict[Size, int], names: Callable[[int], str]) -> str:
    parts = [
        f"{count:,} of {width} x {height} (such as {names(odd[width, height])})"
        for (width, height), count in sizes.most_common(4)
    ]
    more = f", and {len(sizes) - 4} more sizes" if len(sizes) > 4 else ""
    width, height = sizes.most_common(1)[0][0]
    return (
        f"The images have {len(sizes)} different sizes: {', '.join(parts)}{more}. Bring them to "
        f"one size: --resize {width}x{height} (Python: resize=({width}, {height}))"
    )


def told(decoded: Decoded, names: Callable[[int], str]) -> dict[str, Any]:
    """What was left out and what was resized, as fields of a `Dataset`."""
    bad, notes = decoded.bad, []
    if bad:
        notes.append(f"{len(bad):,} unreadable images left out: {_listed(bad, names, 20)}")
    if decoded.resized:
        height, width = decoded.pixels.shape[1:3]
        notes.append(f"large images, or of different sizes: brought to {width} x {height} pixels")
    return {
        "skipped": tuple(f"{names(i)} {problem}" for i, problem in bad.items()),
        "notes": tuple(notes),
    }


def _listed(bad: dict[int, str], names: Callable[[int], str], most: int) -> str:
    parts = [f"{names(i)} {problem}" for i, problem in list(bad.items())[:most]]
    more = f"; and {len(bad) - most:,} more" if len(bad) > most else ""
    return "; ".join(parts) + more
