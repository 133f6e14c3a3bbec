"""Columns that name or count the rows, and so tell nothing about their labels.

One-hot, a column of names would make every row as far from every other; a counter would make
neighbours in the file look alike. Such columns are left out where others remain, and a note names
them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.column_names import list_names

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS = 10  # fewer values count or name nothing
MAX_CATEGORY_SHARE = 0.5  # of the values; texts that differ more often are no categories ...
MIN_NAMES = 50  # ... if there are more than so many
NAME_SHARE = 0.9  # of the values that differ from all others, in a column of names
COUNTING_SHARE = 0.8  # of the steps from row to row that are 1; some rows may have been removed
_UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
_ID_WORDS = {"id", "uid", "uuid", "guid", "idx", "index"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of Passenger_ID, passengerId, PASSENGER-ID


def counts_or_names(column: pd.Series[Any], *, number: bool) -> str | None:
    """Why a column says only which row it is, in words; None if it says more.

    Parameters
    ----------
    column : Series
        A column of numbers, or of texts that are no dates.
    number : bool
        Which of the two.
    """
    if len(column) < MIN_ROWS:
        return None
    return _number_reason(column) if number else _text_reason(column)


def _number_reason(column: pd.Series[Any]) -> str | None:
    if column.dtype.kind not in "ui" or column.hasnans:
        return None
    values = column.to_numpy()  # of Python's numbers, where the type is one of pandas
    if values[0] in (0, 1) and values[1] == values[0] + 1:
        steps = np.diff(values.astype(np.float64))
        if (steps > 0).all() and (steps == 1).mean() >= COUNTING_SHARE:
            return "a row counter"
    if (_is_id_name(column.name) or _is_unnamed(column.name)) and column.is_unique:
        return "a different number in every row"
    return None


def _text_reason(column: pd.Series[Any]) -> str | None:
    seen = column.dropna().astype(str)
    count = int(seen.nunique())
    if count >= MIN_ROWS and count >= NAME_SHARE * len(seen):
        return "a different text in nearly every row"
    if count > MIN_NAMES and count > MAX_CATEGORY_SHARE * len(seen):
        return f"{count:,} different texts in {len(seen):,} rows"
    return None


def _is_id_name(name: Any) -> bool:
    words = [word.lower() for word in _WORD.findall(str(name))]
    return bool(words) and bool({words[0], words[-1]} & _ID_WORDS)


def _is_unnamed(name: Any) -> bool:
    """Whether a column has no name, as the row numbers that R and pandas write."""
    return str(name).strip() in _UNNAMED


def left_out_note(reasons: list[tuple[Any, str]]) -> str:
    """One note that names columns, each with the reason why it is left out."""
    return "left out: " + list_names(
        f"{'a column without a name' if _is_unnamed(name) else name} ({reason})"
        for name, reason in reasons
    )
