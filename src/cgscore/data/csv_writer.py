"""CSV files that spreadsheets can open: no text in them is taken for a formula.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return
(OWASP, "CSV Injection"), and ids and labels come from strangers. The guard puts a single quote
before such texts. A text that has quotes before one of these characters gets one more, so that
taking one away (`without_guard`) gives every text back. A text that is a number, such as the label
``-1``, is left alone: as a formula it is itself.
"""

from __future__ import annotations

import csv
import os
import re
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from cgscore.errors import ResultError
from cgscore.execution.files import replace_file

if TYPE_CHECKING:
    import pandas as pd

QUOTE = "'"
_RISKY = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(
    frame: pd.DataFrame, target: str | os.PathLike[str] | IO[Any], *, guard: bool = True
) -> None:
    """Write a table as CSV in UTF-8, with a header, without its index, with all digits.

    Parameters
    ----------
    frame : DataFrame
        The table; it is not changed.
    target : path or file
        Where to: a path, which is replaced whole, or an open file of bytes or text.
    guard : bool
        Put a single quote before texts and column names that a spreadsheet would take for a
        formula. Numbers are never touched.

    Raises
    ------
    ResultError
        The file cannot be written, or a text is not Unicode.
    """
    table = with_guard(frame) if guard else frame
    # csv leaves a lone carriage return unquoted, and readers take it for the end of a row
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if _has_return(table) else csv.QUOTE_MINIMAL

    def write(file: Any) -> None:
        try:
            table.to_csv(file, index=False, quoting=quoting)
        except UnicodeEncodeError as error:
            raise ResultError(
                f"The table has a text that is not Unicode and cannot be written as CSV ({error})."
            ) from error

    if isinstance(target, str | os.PathLike):
        replace_file(Path(target), write)
    else:
        write(target)


def with_guard(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a single quote before every text that would be taken for a formula."""
    return _mapped(frame, guarded)


def without_guard(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as it was before `with_guard`: for CSV files that are read again."""
    return _mapped(frame, unguarded)


def guarded(value: Any) -> Any:
    """A cell or column name as it is written."""
    if not isinstance(value, str) or not _RISKY.match(value) or _NUMBER.fullmatch(value):
        return value
    return QUOTE + value


def unguarded(value: Any) -> Any:
    """A cell or column name as it was before `guarded`."""
    return value[1:] if isinstance(value, str) and _GUARDED.match(value) else value


def _mapped(frame: pd.DataFrame, change: Any) -> pd.DataFrame:
    import pandas as pd

    table: pd.DataFrame = frame.copy(deep=False)
    table.columns = pd.RangeIndex(frame.shape[1])  # names may repeat
    for i, dtype in enumerate(frame.dtypes):
        if _may_hold_text(dtype):
            cells = [change(value) for value in frame.iloc[:, i].astype(object)]
            table[i] = pd.Series(cells, index=frame.index, dtype=object)
    table.columns = pd.Index([change(name) for name in frame.columns], dtype=object)
    return table


def _may_hold_text(dtype: Any) -> bool:
    """Whether values of a type may be texts: objects, pandas' texts and categories."""
    return getattr(dtype, "kind", "O") in "OSUT"


def _has_return(frame: pd.DataFrame) -> bool:
    columns = [frame.iloc[:, i] for i, dtype in enumerate(frame.dtypes) if _may_hold_text(dtype)]
    cells = chain(frame.columns, *(column.astype(object) for column in columns))
    return any(isinstance(value, str) and "\r" in value for value in cells)
