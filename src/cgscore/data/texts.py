"""Which columns of a table are texts for an encoder, and not categories.

A column is text if nine tenths of the rows have a value, more than half of these are different and
they have six words or more on average; two are enough where it is called ``text`` or is the only
column. Every character of Chinese, Japanese and Korean counts as a word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.column_names import no_column
from cgscore.data.columns import MAX_UNIQUE_SHARE
from cgscore.errors import DataError, SourceError

if TYPE_CHECKING:
    import pandas as pd

MIN_WORDS = 6  # of a text, on average
MIN_WORDS_IF_LIKELY = 2  # where the name, or the lack of other columns, says that it is text
MIN_FILLED_SHARE = 0.9  # of the rows that have a text
TEXT_COLUMN = "text"
_NUMBER_KINDS = "buifcmM"  # kinds of types: numbers and dates
_SAMPLE_SIZE = 2000  # values looked at
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+?(?![^\W\d_])")


def text_columns(frame: pd.DataFrame, named: str | None, source: str) -> list[Any]:
    """The columns that hold texts, or the one that the user named."""
    if named is not None:
        if frame.columns.has_duplicates:
            raise SourceError(f"{source} has two columns of the same name. Rename one.")
        if named not in frame:
            raise no_column(source, named, frame.columns)
        if not _strings(frame[named]):
            raise DataError(f"{source}: column {named!r} holds {frame[named].dtype}, not text.")
        return [named]
    if frame.columns.has_duplicates:
        return []
    alone = frame.shape[1] == 1
    return [
        name
        for name, dtype in frame.dtypes.items()  # most columns of a wide table are numbers
        if dtype.kind not in _NUMBER_KINDS and _is_text(frame[name], alone or name == TEXT_COLUMN)
    ]


def joined(frame: pd.DataFrame, names: list[Any]) -> tuple[str, ...]:
    """The texts of each row, one after the other; nothing where they are missing."""
    columns = [_objects(frame[name]).where(frame[name].notna(), "").tolist() for name in names]
    return tuple("\n".join(part for part in parts if part) for parts in zip(*columns, strict=True))


def _objects(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.astype(object)  # categories would refuse a text that is none of them


def _strings(column: pd.Series[Any]) -> bool:
    seen = column.dropna()
    return len(seen) > 0 and all(isinstance(value, str) for value in seen.tolist())


def _is_text(column: pd.Series[Any], likely: bool) -> bool:
    if not _strings(column):
        return False
    seen = column.dropna()
    if len(seen) < MIN_FILLED_SHARE * len(column) or seen.nunique() <= MAX_UNIQUE_SHARE * len(seen):
        return False
    words = [len(_WORD.findall(text)) for text in seen.iloc[:_SAMPLE_SIZE].tolist()]
    return bool(np.mean(words) >= (MIN_WORDS_IF_LIKELY if likely else MIN_WORDS))
