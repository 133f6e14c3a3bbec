"""How a source is read: the options of `cgscore.read`, checked once.

`cgscore.read` builds one `ReadOptions` from its keywords and hands it to the reader of the source.
What the library itself adds, such as the size of images that an encoder expects, is in
`ReadOptions.context`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.execution.progress import Progress, Silent
from cgscore.spelling import spelled

PREPROCESS = ("auto", "none", "table")

Size = tuple[int, int]  # width and height


@dataclass(frozen=True)
class ReadContext:
    """What readers need to know besides the user's options; set by the library.

    Attributes
    ----------
    image_side : int or None
        Width and height to which images of different sizes are resized. None: different sizes are
        an error.
    max_image_side : int or None
        Width or height from which on images are resized to `image_side` as well, even if they all
        have one size. None: no limit.
    texts : bool
        Whether the encoder takes texts: a table is then read for its texts, not for its images or
        lists.
    no_photographs : str or None
        Why photographs cannot be compared, and what to do; None: they are read.
    progress : Progress
        Hears how many images are decoded.
    """

    image_side: int | None = None
    max_image_side: int | None = None
    texts: bool = False
    no_photographs: str | None = None
    progress: Progress = field(default_factory=Silent)


@dataclass(frozen=True)
class ReadOptions:
    """The options of one call of `cgscore.read`, which documents them.

    Attributes
    ----------
    labels, label_column, image_column, id_column, split, resize, skip_bad, preprocess, \
text_column, max_columns, drop, source_column, group_column, annotator_columns
        Keywords of `cgscore.read`, with its defaults and in its order.
    context : ReadContext
        What the library adds.

    Raises
    ------
    OptionError
        A value that no source accepts.
    """

    labels: Any = None
    label_column: str | None = None
    image_column: str | None = None
    id_column: str | None = None
    split: str | None = None
    resize: str | int | Sequence[int] | None = None
    skip_bad: bool = False
    preprocess: str = "auto"
    text_column: str | None = None
    max_columns: int | None = None
    drop: str | Sequence[str] | None = None
    source_column: Any = None
    group_column: Any = None
    annotator_columns: str | Sequence[str] | None = None
    context: ReadContext = ReadContext()

    def __post_init__(self) -> None:
        if self.preprocess not in PREPROCESS:
            raise OptionError(
                f"preprocess must be 'auto', 'none' or 'table'; got {self.preprocess!r}."
            )
        if self.max_columns is not None and self.max_columns < 1:
            raise OptionError(f"max_columns must be 1 or larger; got {self.max_columns!r}.")
        parse_size(self.resize)
        for name in ("drop", "annotator_columns"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str | Sequence):
                raise OptionError(
                    f"{name} must be the name of a column or a list of names; got {value!r}."
                )
        if len(set(self.annotators)) < len(self.annotators):
            raise OptionError(f"annotator_columns names a column twice: {self.annotators!r}.")

    @property
    def dropped(self) -> tuple[Any, ...]:
        """Names of the columns that the user leaves out."""
        return _names(self.drop)

    @property
    def annotators(self) -> tuple[Any, ...]:
        """Names of the columns of annotators: one that names them, or one of labels for each."""
        return _names(self.annotator_columns)

    @property
    def has_origins(self) -> bool:
        """Whether columns name where labels come from (`cgscore.data.origins`)."""
        return bool(self.annotators) or not self.source_column is self.group_column is None

    @property
    def labels_elsewhere(self) -> bool:
        """Whether labels are in no single column of the source."""
        return self.labels is not None or len(self.annotators) > 1

    @property
    def size(self) -> Size | None:
        """Width and height to which all images are resized, if `resize` was given."""
        return parse_size(self.resize)

    def reject_unused(self, source: object, used: Sequence[str]) -> None:
        """Raise `OptionError` for an option that was given and that a source does not use.

        Labels kept apart are accepted everywhere, and so is ``preprocess="none"``.
        """
        for name in PUBLIC_OPTIONS:
            value = getattr(self, name)
            if name in ("labels", *used):
                continue
            given = value == "table" if name == "preprocess" else value not in (None, False)
            given = len(value or ()) > 0 if name in _LISTS else given
            if given:
                option = spelled(**{name: value})
                raise OptionError(f"{option} is not used for {source}. Leave it out.")

    def as_metadata(self) -> dict[str, Any]:
        """The options that were given and can be kept in a file, to read the source again.

        Labels given as an array are not among them; paths become text, and scalars of numpy, such
        as the names of columns that are numbers, become those of Python.
        """
        values = {name: _plain(getattr(self, name)) for name in PUBLIC_OPTIONS}
        if not isinstance(values["labels"], str):
            values["labels"] = None
        if isinstance(values["resize"], Sequence) and not isinstance(values["resize"], str):
            values["resize"] = list(map(_plain, values["resize"]))
        for name in _LISTS:
            values[name] = list(map(_plain, _names(values[name]))) or None
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }


_LISTS = ("drop", "annotator_columns")  # options with the names of several columns

#: Options of `cgscore.read` that readers see.
PUBLIC_OPTIONS = tuple(option.name for option in fields(ReadOptions) if option.name != "context")

#: Options that are kept with a result, so that its source can be read again.
SAVED_OPTIONS = (*PUBLIC_OPTIONS, "encoder", "scaling")


def _plain(value: Any) -> Any:
    """A value in a type of Python: paths and scalars of numpy as text and numbers."""
    if isinstance(value, Path):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def _names(value: str | Sequence[str] | None) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def parse_size(size: str | int | Sequence[int] | None) -> Size | None:
    """Width and height from ``32``, ``"32"``, ``"64x48"`` or a pair."""
    if size is None:
        return None
    parts = size.lower().split("x") if isinstance(size, str) else size
    try:
        numbers = [int(part) for part in ([parts] if isinstance(parts, int) else parts)]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (1, 2) or min(numbers, default=0) < 1:
        raise OptionError(f"resize must be a size such as 32 or 64x48; got {size!r}.")
    width, height = numbers * 2 if len(numbers) == 1 else numbers
    return width, height
