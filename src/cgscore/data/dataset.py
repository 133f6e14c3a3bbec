"""The one type every reader returns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.data.annotations import Annotations
from cgscore.errors import DataError
from cgscore.execution.cached_property import cached_property
from cgscore.kernel import as_matrix
from cgscore.labels import label_vector
from cgscore.rows import release_pages

if TYPE_CHECKING:
    import pandas as pd
    from PIL.Image import Image

_DIGEST_BYTES = 1 << 24  # hashed at a time

#: The warning of what is found in photographs without an encoder.
PIXELS_OF_PHOTOGRAPHS = (
    "The photographs are compared by their raw pixels, which say little about what they show: do "
    "not rely on these verdicts. To compare them by an image encoder, leave out encoder='pixels' "
    "(command line: --encoder pixels)."
)


@dataclass(frozen=True)
class Dataset:
    """Examples with their labels and names.

    Attributes
    ----------
    X : (n, ...) array
        One example per row, in its original number type.
    y : (n,) array or None
        Labels as they were given.
    ids : (n,) array
        A name for each example: from an id column, or its row number.
    class_names : mapping or None
        What the labels are called, where the source says so.
    source : str
        Where the data come from, for messages and metadata.
    options : mapping
        The options of `read` that led here, so that the source can be read again.
    preprocessing : str
        What was done to the inputs before they are scaled to unit norm.
    notes : tuple of str
        What was decided while reading: columns left out, columns taken as names.
    skipped : tuple of str
        Unreadable examples that were left out, each with the reason.
    image : bool
        Whether the rows of X are pictures: (n, h, w) or (n, h, w, 3).
    photographs : bool
        Whether the source holds photographs: images with a side of more than 64 pixels, or of
        different sizes (`cgscore.data.images`).
    pictures : function or None
        Draws the example at a position from its source, where X does not hold it.
    files : sequence of paths or None
        The file of each example, where each has one.
    frame : DataFrame or None
        The columns of a table before they became numbers, for people to look at.
    rows : (n,) array or None
        Row of the source of each example, if some rows were left out.
    texts : sequence of str or None
        The examples, where they are texts; X holds what an encoder made of them.
    made_from : str or None
        Digest of what X was made from, where an encoder made it: its numbers may differ in the
        last digits from machine to machine.
    listing : str or None
        Changes when files of the source are added, removed or written to; in a sample, that of
        all files. It is known before they are read.
    encoder : mapping or None
        ``name`` and ``version`` of that encoder.
    columns : mapping
        ``source`` and ``group`` of every example, where columns for them were named.
    annotations : Annotations or None
        Labels of several annotators; `y` then has what most of them say.
    """

    X: NDArray[Any]
    y: NDArray[Any] | None
    ids: NDArray[Any]
    class_names: Mapping[Any, str] | None = None
    source: str = "arrays"
    options: Mapping[str, Any] = field(default_factory=dict)
    preprocessing: str = "none"
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    image: bool = False
    photographs: bool = False
    pictures: Callable[[int], Image] | None = field(default=None, compare=False)
    files: Sequence[Path] | None = field(default=None, compare=False, repr=False)
    frame: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    rows: NDArray[np.intp] | None = field(default=None, compare=False, repr=False)
    texts: Sequence[str] | None = field(default=None, compare=False, repr=False)
    made_from: str | None = None
    listing: str | None = field(default=None, compare=False, repr=False)
    encoder: Mapping[str, str | None] | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict, compare=False, repr=False)
    annotations: Annotations | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        n, p = self.shape
        labelled = "without labels" if self.y is None else f"labelled {self.y.dtype}"
        return f"Dataset of {n:,} examples with {p:,} numbers each, {labelled}: {self.source}"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and of numbers per example."""
        return len(self.X), int(np.prod(self.X.shape[1:]))

    @cached_property
    def inputs_digest(self) -> str:
        """SHA-256 of the inputs: number type, shape and values; or of what they were made from."""
        if self.made_from is not None:
            return self.made_from
        digest = hashlib.sha256(f"{self.X.dtype.str}{self.X.shape}".encode())
        step = max(1, _DIGEST_BYTES // max(1, self.X[:1].nbytes))
        for start in range(0, len(self.X), step):
            part = self.X[start : start + step]
            digest.update(np.ascontiguousarray(part).data)
            release_pages(part)
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """A short text that changes when inputs, labels, annotations or names change."""
        digest = hashlib.sha256(self.inputs_digest.encode())
        for values in (self.y, self.ids):
            if values is not None and values.dtype.kind in "buif":
                values = values.astype(np.float64)  # 1, 1.0 and True are the same label
            digest.update(b"\0" if values is None else repr(values.tolist()).encode())
        if self.annotations is not None:
            digest.update(repr(self.annotations.names).encode("utf-8", "surrogatepass"))
            digest.update(np.ascontiguousarray(self.annotations.codes, np.int64).data)
        return digest.hexdigest()[:32]

    @property
    def label_name(self) -> str:
        """What messages call the labels: their column if it was named, and otherwise y."""
        column = self.options.get("label_column")
        return "y" if column is None else repr(column)

    @property
    def drawable(self) -> bool:
        """Whether examples can be drawn as pictures."""
        return self.image or self.pictures is not None

    def picture(self, position: int) -> Image:
        """One example as a Pillow image, from its source if possible."""
        if self.pictures is not None:
            return self.pictures(position)
        if not self.image:
            raise DataError(f"{self.source} holds no pictures.")
        from PIL import Image as pil

        pixels = self.X[position]
        return pil.fromarray(
            (pixels >> 8).astype(np.uint8) if pixels.dtype.itemsize > 1 else pixels
        )

    def thumbnail(self, position: int, side: int = 64) -> bytes:
        """One example as a small PNG file, not larger than `side` pixels either way."""
        import io

        small = self.picture(position)
        small.thumbnail((side, side))
        file = io.BytesIO()
        small.save(file, "PNG")
        return file.getvalue()

    def with_labels(self, y: ArrayLike | None) -> Dataset:
        """The same examples with other labels; annotations are dropped."""
        other = replace(self, y=None if y is None else label_vector(y), annotations=None)
        if "inputs_digest" in self.__dict__:
            other.__dict__["inputs_digest"] = self.inputs_digest
        return other


def in_memory(X: ArrayLike, y: ArrayLike | None, source: str = "arrays") -> Dataset:
    """A dataset of arrays as they are; rows are named by their numbers."""
    if isinstance(X, np.ma.MaskedArray):
        raise DataError("X is a masked array. Leave the masked rows out, or fill the values.")
    try:
        matrix = np.asarray(X)
    except (TypeError, ValueError, OverflowError):  # as_matrix says what is wrong
        matrix = as_matrix(X)
    if matrix.ndim < 2 or matrix.dtype.kind not in "buif":
        matrix = as_matrix(X)
    if len(matrix) == 0:
        raise DataError("X has no rows. Expected at least two examples.")
    blank = Dataset(matrix, None, np.arange(len(matrix)), source=source)
    return blank.with_labels(y)
