"""Encoded images to one array of pixels, on all cores.

All images of a dataset have one size and one kind: ``grey`` (n, h, w) of bytes, ``deep`` grey of 16
bits (n, h, w), or ``colour`` (n, h, w, 3) of bytes. Grey among colour becomes colour, 16 bits among
8 are scaled down. Pixels stay as they are until the kernel needs floats.

Images are decoded in worker processes, in order and chunk by chunk, into the array that is
returned; beside it only a few chunks exist, of `_CHUNK_BYTES` each. Small datasets are decoded in
this process. Pixels of `MIN_MAPPED_BYTES` and more go to a temporary file that is mapped; the room
for all images is checked before more than one is decoded. `image_decoder` decodes each of them.

Images are photographs if one of them has a side of more than `MAX_DRAWING_SIDE` pixels, or if their
sizes differ: their pixels, one by one, say little about what they show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.image_decoder import MAX_PIXELS, Encoded, Kind, OtherSize, Picture, decode
from cgscore.data.readers.bounded import refuse_expansion
from cgscore.data.readers.options import ReadOptions, Size
from cgscore.data.readers.spooled import RowWriter
from cgscore.errors import DataError, SourceError
from cgscore.execution.machine import cores
from cgscore.spelling import spelled

MAX_DRAWING_SIDE = 64  # pixels; larger images are photographs
_CHUNK_IMAGES = 256  # per task
_CHUNK_BYTES = 1 << 25  # of the pixels of a task
_MIN_IMAGES_FOR_WORKERS = 2000  # starting worker processes does not pay for fewer


@dataclass(frozen=True)
class Decoded:
    """Pixels of the images that could be read, and what became of the others.

    Attributes
    ----------
    pixels : (m, h, w) or (m, h, w, 3) array
        The images that could be read, in order.
    positions : (m,) array
        Their positions among all images.
    problems : dict
        Position -> what is wrong, for the images left out.
    resized : bool
        Whether they were resized because of `ReadContext.image_side`.
    photographs : bool
        Whether they are large, or of different sizes, in the source.
    """

    pixels: NDArray[Any]
    positions: NDArray[np.intp]
    problems: dict[int, str]
    resized: bool = False
    photographs: bool = False


def decode_all(
    chunks: Callable[[], Iterable[list[Encoded]]],
    names: Callable[[int], str],
    count: int,
    options: ReadOptions,
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
    options : ReadOptions
        ``resize``, ``skip_bad``, and in the context the sizes that the encoder expects.

    Raises
    ------
    SourceError
        An image cannot be read, and ``skip_bad`` is not set.
    DataError
        The images have different sizes, and nothing says which one to resize them to; or they
        are photographs, and `ReadContext.no_photographs` says why these are refused.
    """
    side, resize = options.context.image_side, options.size
    kind: Kind | None = None
    resized = False
    for _ in range(4):  # at most grey after deep, then colour after grey; and other sizes
        try:
            max_side = None
            if side is not None and resize is None:
                max_side = options.context.max_image_side or MAX_PIXELS
            decoded = _decode_as(chunks(), names, count, kind, resize, max_side, options)
            return replace(decoded, resized=resized)
        except _OtherKind as other:  # noqa: PERF203
            kind = other.kind
        except _MixedSizes as sizes:
            if side is None:
                raise DataError(str(sizes)) from None
            resize, resized = (side, side), True
    raise RuntimeError("the kinds of images do not settle; please report this")


class _MixedSizes(Exception):
    """Images have different sizes."""


Result = Picture | OtherSize | str


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
    max_side: int | None,
    options: ReadOptions,
) -> Decoded:
    """All images as one array of a kind; `max_side` is the largest if other sizes are resized."""
    writer: RowWriter | None = None
    sizes: Counter[Size] = Counter()
    examples: dict[Size, int] = {}  # the first position of each size
    problems: dict[int, str] = {}
    originals: dict[Size, int] = {}  # the first position of each size in the source, at most two
    photographs = False
    seen = filled = 0
    positions = np.empty(count, dtype=np.intp)
    with ExitStack() as stack:
        advance = stack.enter_context(options.context.progress.phase("reading", count))
        chunks, size = (chunks, resize) if resize else _first_size(chunks, names, count, max_side)
        for results in _decode_chunks(_cut(chunks, size), count, resize, size):
            for result in results:
                position, seen = seen, seen + 1
                if isinstance(result, str):
                    problems[position] = result
                    continue
                image_size = _size(result)
                if not photographs:
                    originals.setdefault(_original_size(result), position)
                    photographs = _are_photographs(originals)
                    if photographs and options.context.no_photographs is not None:
                        found = _describe_photographs(originals, names)
                        raise DataError(f"{found} {options.context.no_photographs}")
                sizes[image_size] += 1
                examples.setdefault(image_size, position)
                size = size or image_size
                if max_side is not None and (image_size != size or max(image_size) > max_side):
                    raise _MixedSizes
                if isinstance(result, OtherSize):
                    continue  # reported with all others below
                image, image_kind, _ = result
                kind = _common_kind(kind, image_kind, first=writer is None)
                if writer is None:
                    writer = stack.enter_context(_writer(count, size, kind))
                writer.append(_as_kind(image, image_kind, kind)[None])
                positions[filled] = position
                filled += 1
            advance(len(results))
        if problems and not options.skip_bad:
            raise SourceError(
                f"{_list_problems(problems, names, 5)}. {len(problems):,} of {count:,} images "
                f"cannot be read. To leave such images out: {spelled(skip_bad=True)}"
            )
        if len(sizes) > 1:
            raise _MixedSizes(_describe_sizes(sizes, examples, names))
        if writer is None:
            raise DataError(
                f"None of the {count:,} images could be read." if count else "No images."
            )
        pixels = writer.array()
    return Decoded(pixels, positions[:filled], problems, photographs=photographs)


def _are_photographs(sizes: Iterable[Size]) -> bool:
    sizes = set(sizes)
    return len(sizes) > 1 or any(max(size) > MAX_DRAWING_SIDE for size in sizes)


def _original_size(result: Picture | OtherSize) -> Size:
    return (result.width, result.height) if isinstance(result, OtherSize) else result.size


def _describe_photographs(originals: dict[Size, int], names: Callable[[int], str]) -> str:
    """What makes photographs of images: two sizes, or a large one."""
    found = " and ".join(
        f"{names(position)} has {width} x {height} pixels"
        for (width, height), position in originals.items()
    )
    return f"The images have different sizes: {found}." if len(originals) > 1 else f"{found}."


def _size(result: Picture | OtherSize) -> Size:
    if isinstance(result, OtherSize):
        return result.width, result.height
    height, width = result[0].shape[:2]
    return width, height


def _common_kind(kind: Kind | None, other: Kind, *, first: bool) -> Kind:
    """The kind that holds images of both; `_OtherKind` if the array must change for it."""
    if kind is None or kind == other:
        return other
    wider: Kind = "colour" if "colour" in (kind, other) else "grey"
    if wider != kind and not first:
        raise _OtherKind(wider)
    return wider


def _writer(count: int, size: Size, kind: Kind) -> RowWriter:
    """Where the pixels of all images go."""
    shape = (size[1], size[0], *((3,) if kind == "colour" else ()))
    return RowWriter(count, shape, np.uint16 if kind == "deep" else np.uint8)


def _as_kind(image: NDArray[Any], image_kind: Kind, kind: Kind) -> NDArray[Any]:
    if image_kind == kind:
        return image
    if image_kind == "deep":
        image = (image >> 8).astype(np.uint8)
    return image if kind == "grey" else np.repeat(image[:, :, None], 3, axis=2)


def _first_size(
    chunks: Iterable[list[Encoded]], names: Callable[[int], str], count: int, max_side: int | None
) -> tuple[Iterable[list[Encoded]], Size | None]:
    """The same chunks, and the size of the first image that can be decoded.

    Raises
    ------
    SourceError
        All images together would not fit in memory, or expand more than real images do.
    """
    rest, first_chunks, position = iter(chunks), [], 0
    for chunk in rest:
        first_chunks.append(chunk)
        for content in chunk:
            result = _decode_or_explain(content, None, None)
            if not isinstance(result, str | OtherSize):
                pixels = result[0]
                if max_side is None or max(pixels.shape[:2]) <= max_side:  # they keep their size
                    packed = sum(map(_encoded_bytes, chunk)) * count // len(chunk)
                    name = f"A dataset of {count:,} images like {names(position)}"
                    refuse_expansion(name, packed, pixels.nbytes * count)
                return chain(first_chunks, rest), (pixels.shape[1], pixels.shape[0])
            position += 1
    return first_chunks, None


def _encoded_bytes(content: Encoded) -> int:
    """Bytes of an encoded image; none of a file that is missing."""
    if isinstance(content, bytes):
        return len(content)
    try:
        return content.stat().st_size
    except OSError:
        return 0


def _cut(chunks: Iterable[list[Encoded]], size: Size | None) -> Iterator[list[Encoded]]:
    """Lists of any length in pieces that hold `_CHUNK_BYTES` once decoded, or one image."""
    width, height = size or (1, 1)
    length = max(1, min(_CHUNK_IMAGES, _CHUNK_BYTES // (3 * width * height)))
    for chunk in chunks:
        for start in range(0, len(chunk), length):
            yield chunk[start : start + length]


def _decode_chunks(
    chunks: Iterator[list[Encoded]], count: int, resize: Size | None, expected: Size | None
) -> Iterator[list[Result]]:
    """Decoded chunks in order, from worker processes if there are many images."""
    if count < _MIN_IMAGES_FOR_WORKERS or cores() == 1:
        for chunk in chunks:
            yield decode_chunk(chunk, resize, expected)
        return
    from joblib import Parallel, delayed

    # loky's workers do not import the user's main module, so scripts need no guard
    workers = Parallel(n_jobs=cores(), return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    yield from (
        _unstack(*stacked)
        for stacked in workers(
            delayed(_decode_stacked)(chunk, resize, expected) for chunk in chunks
        )
    )


def _decode_stacked(
    chunk: list[Encoded], resize: Size | None, expected: Size | None
) -> tuple[Any, Any]:
    """`decode_chunk` with images of one shape stacked, quicker to send between processes."""
    results = decode_chunk(chunk, resize, expected)
    images = [result for result in results if not isinstance(result, str | OtherSize)]
    kinds = {(image.pixels.shape, image.kind) for image in images}
    if len(images) == len(results) and len(kinds) == 1:
        stack = np.stack([image.pixels for image in images])
        return stack, (images[0].kind, [image.size for image in images])
    return None, results


def _unstack(stack: Any, rest: Any) -> list[Result]:
    if stack is None:
        return rest  # type: ignore[no-any-return]
    kind, sizes = rest
    return [Picture(image, kind, size) for image, size in zip(stack, sizes, strict=True)]


def decode_chunk(
    chunk: list[Encoded], resize: Size | None, expected: Size | None = None
) -> list[Result]:
    """Each image decoded, or what is wrong with it."""
    return [_decode_or_explain(content, resize, expected) for content in chunk]


def _decode_or_explain(content: Encoded, resize: Size | None, expected: Size | None) -> Result:
    try:
        return decode(content, resize, expected)
    except SourceError as error:
        return str(error)


def _describe_sizes(
    sizes: Counter[Size], examples: dict[Size, int], names: Callable[[int], str]
) -> str:
    parts = [
        f"{count:,} of {width} x {height} (such as {names(examples[width, height])})"
        for (width, height), count in sizes.most_common(4)
    ]
    more = f", and {len(sizes) - 4} more sizes" if len(sizes) > 4 else ""
    (width, height), count = sizes.most_common(1)[0]
    if 2 * count <= sizes.total():
        width = height = MAX_DRAWING_SIDE
    return (
        f"The images have {len(sizes)} different sizes: {', '.join(parts)}{more}. Resize them to "
        f"one size: {spelled(resize=(width, height))}"
    )


def notes_and_skipped(decoded: Decoded, names: Callable[[int], str]) -> dict[str, Any]:
    """What was left out, what was resized, and of which kind they are, as fields of a `Dataset`."""
    problems, notes = decoded.problems, []
    if problems:
        left_out = _list_problems(problems, names, 20)
        notes.append(f"{len(problems):,} unreadable images left out: {left_out}")
    if decoded.resized:
        height, width = decoded.pixels.shape[1:3]
        notes.append(f"images are large or differ in size: resized to {width} x {height} pixels")
    return {
        "skipped": tuple(f"{names(i)} {problem}" for i, problem in problems.items()),
        "notes": tuple(notes),
        "photographs": decoded.photographs,
    }


def _list_problems(problems: dict[int, str], names: Callable[[int], str], shown: int) -> str:
    parts = [f"{names(i)} {problem}" for i, problem in list(problems.items())[:shown]]
    more = f"; and {len(problems) - shown:,} more" if len(problems) > shown else ""
    return "; ".join(parts) + more
