"""Tables: which column holds what, and how columns become numbers.

``preprocess="table"`` standardises numeric and boolean columns to mean 0 and deviation 1, encodes
text columns one-hot, and appends a column of ones. Without the last, scaling rows to unit norm
would discard the magnitude of rows with few columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.bounded import refuse_size
from cgscore.data.dataset import Dataset
from cgscore.errors import DataError, LabelError, SourceError

if TYPE_CHECKING:
    import pandas as pd

LABEL_COLUMNS = ("label", "target")
ID_COLUMN = "id"
_INDEX = "__index_level_0__"  # what pandas calls an index without a name in Parquet
_TIMES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period")
MOST_CATEGORIES = 1000  # a text column with more values than this is not a category


def is_frame(source: Any) -> bool:
    """Whether the object is a pandas data frame."""
    return type(source).__name__ == "DataFrame" and type(source).__module__.startswith("pandas")


def is_polars(source: Any) -> bool:
    """Whether the object is a data frame of polars, or the plan of one."""
    named = type(source).__name__ in ("DataFrame", "LazyFrame")
    return named and type(source).__module__.startswith("polars")


def from_polars(source: Any) -> Any:
    """The same as a table of pyarrow."""
    whole = source.collect() if hasattr(source, "collect") else source
    try:
        return whole.to_arrow()
    except Exception as error:  # polars' own, and pyarrow's, for types that Arrow does not know
        raise DataError(
            f"The data frame of polars holds columns Arrow does not: {error}"
        ) from error


def from_frame(frame: pd.DataFrame, options: dict[str, Any], source: str = "data frame") -> Dataset:
    """A data frame's columns as labels, names and inputs.

    A frame that contains its label column is a table. One without, whose labels come separately,
    is taken as numbers just as an array is.
    """
    label = _label_column(frame, options, source)
    if len(frame) == 0:
        raise DataError(f"{source} has no rows. Expected at least two examples.")
    preprocess = options["preprocess"]
    table = preprocess == "table" or (
        preprocess == "auto" and (label is not None or bool(options.get("labels_inside")))
    )
    notes: list[str] = []
    y = None
    if label is not None:
        y = _labels(frame[label], label, source)
        frame = frame.drop(columns=[label])
    elif table:  # labels come from elsewhere; a column of them would give the answer away
        found = [name for name in LABEL_COLUMNS if name in frame]
        frame = frame.drop(columns=found)
        notes += [f"column {name!r} is left out: the labels come from elsewhere" for name in found]
    frame, ids, note = _split_ids(frame, options["id_column"], label, source, guess=table)
    X, preprocessing, more = encode(frame, source, preprocess=table)
    return Dataset(
        X,
        y,
        ids,
        source=source,
        preprocessing=preprocessing,
        notes=(*notes, *note, *more),
        frame=frame,
    )


def _split_ids(
    frame: pd.DataFrame, name: Any, label: Any, source: str, *, guess: bool
) -> tuple[pd.DataFrame, NDArray[Any], tuple[str, ...]]:
    """The frame without the column that names its rows, the names, and what was guessed."""
    note: tuple[str, ...] = ()
    if name is None and guess:
        name, note = _guess_ids(frame)
    if name is None:
        return frame, np.arange(len(frame)), note
    if name not in frame:
        if name == label:
            raise SourceError(f"{source}: column {name!r} holds the labels; it cannot name rows.")
        raise SourceError(f"{source} has no column {name!r}. {columns_in_words(frame.columns)}")
    if not frame[name].is_unique or frame[name].isna().any():
        raise DataError(
            f"{source}: column {name!r} has repeated or missing values, so it cannot name rows."
        )
    return frame.drop(columns=[name]), frame[name].to_numpy(), note


def _guess_ids(frame: pd.DataFrame) -> tuple[Any, tuple[str, ...]]:
    first = frame.columns[0] if frame.shape[1] else None
    if first in ("", "Unnamed: 0") and (frame[first].to_numpy() == np.arange(len(frame))).all():
        return first, ("the unnamed first column counts the rows and is not an input",)
    if _INDEX in frame and frame[_INDEX].is_unique:
        return _INDEX, ("the index of the data frame that was saved names the rows",)
    if ID_COLUMN not in frame:
        return None, ()
    if frame[ID_COLUMN].is_unique and not frame[ID_COLUMN].isna().any():
        return ID_COLUMN, (f"column {ID_COLUMN!r} names the rows and is not an input",)
    return None, (f"column {ID_COLUMN!r} repeats values, so it is an input like the others",)


def _label_column(frame: pd.DataFrame, options: dict[str, Any], source: str) -> Any:
    name = options["label_column"]
    if name is not None:
        if name in frame:
            return name
        raise SourceError(
            f"{source} has no column {name!r}. {columns_in_words(list(frame.columns))}"
        )
    if options["labels"] is not None:
        return None
    for candidate in LABEL_COLUMNS:
        if candidate in frame:
            return candidate
    if not options.get("labels_inside"):
        return None
    raise SourceError(
        f"{source} has no column 'label' or 'target'. {columns_in_words(list(frame.columns))} "
        f"Say which one: --label-column {frame.columns[-1]}"
    )


def columns_in_words(names: Iterable[Any]) -> str:
    """The columns there are, for error messages."""
    return f"Its columns are {_some(list(names))}."


def _labels(column: pd.Series[Any], name: Any, source: str) -> NDArray[Any]:
    missing = column.isna().to_numpy() | (column.to_numpy() == "")
    if missing.any():
        row = int(np.argmax(missing))
        raise LabelError(
            f"{source}: column {name!r} has no label in {int(missing.sum()):,} rows, the first is "
            f"row {row} (counted from 0). Label these rows or leave them out."
        )
    return column.to_numpy()


def encode(
    frame: pd.DataFrame, source: str, *, preprocess: bool
) -> tuple[NDArray[Any], str, tuple[str, ...]]:
    """The columns of a frame as numbers, what was done to them, and what should be known.

    Raises
    ------
    DataError
        Missing values (row and column named), dates, or text that is not a category.
    """
    import pandas as pd

    if not frame.shape[1]:
        raise DataError(f"{source} has no columns besides the labels.")
    numeric = np.array([pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes])
    text = frame.loc[:, ~numeric]
    _refuse_missing(frame, source)
    for name in text:
        _refuse_unusable(text[name], name, source)
    if not preprocess:
        if text.shape[1]:
            raise DataError(
                f"{source}: column {text.columns[0]!r} holds text. Expected numbers; "
                'preprocess="table" encodes text columns.'
            )
        return _numbers(frame, source), "none", ()

    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = _numbers(frame.loc[:, numeric], source).astype(np.float64)
    varies = (numbers != numbers[:1]).any(axis=0)
    mixed = np.array([text[name].astype(str).nunique() > 1 for name in text], dtype=bool)
    constant = [*frame.columns[numeric][~varies], *text.columns[~mixed]]
    parts = [np.ones((len(frame), 1))]
    if mixed.any():
        words = text.loc[:, mixed].astype(str)
        refuse_size(f"{source}, encoded one-hot,", 8 * len(words) * int(words.nunique().sum()))
        parts.insert(0, OneHotEncoder(sparse_output=False).fit_transform(words))
    if varies.any():
        parts.insert(0, StandardScaler().fit_transform(numbers[:, varies]))
    said = (
        f"table: {int(varies.sum()):,} columns standardised, {int(mixed.sum()):,} encoded one-hot, "
        "constant added"
    )
    notes = (f"constant columns left out: {_some(constant)}",) if constant else ()
    return np.hstack(parts), said, notes


def _some(names: list[Any]) -> str:
    more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
    return ", ".join(map(str, names[:12])) + more


def _numbers(frame: pd.DataFrame, source: str) -> NDArray[Any]:
    """Numeric columns as one array; infinite values are refused by row and column."""
    values = frame.to_numpy()
    if values.dtype.kind not in "buif":
        values = frame.to_numpy(np.float64)
    if values.dtype.kind == "c":
        raise DataError(f"{source} holds complex numbers. Expected real ones.")
    if values.dtype.kind == "f":
        _refuse_cells(~np.isfinite(values), frame, source)
    return values


def _refuse_missing(frame: pd.DataFrame, source: str) -> None:
    _refuse_cells(frame.isna().to_numpy(), frame, source)


def _refuse_cells(wrong: NDArray[np.bool_], frame: pd.DataFrame, source: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"{source}: row {row} (counted from 0), column {frame.columns[column]!r} holds "
            f"{frame.iloc[row, column]}, and {int(wrong.sum()) - 1:,} more cells are like it. "
            "Fill or remove such values first."
        )


def _refuse_unusable(column: pd.Series[Any], name: Any, source: str) -> None:
    import pandas as pd

    if pd.api.types.infer_dtype(column) in _TIMES:
        raise DataError(
            f"{source}: column {name!r} holds dates or times. Turn it into numbers or remove it."
        )
    if any(isinstance(cell, list | tuple | dict | np.ndarray) for cell in column.head(100)):
        raise DataError(
            f"{source}: column {name!r} holds lists. Give them as an array, or the table as one of "
            "pyarrow with one column of lists."
        )
    words = column.astype(str)
    numbers = pd.to_numeric(words, errors="coerce").notna().to_numpy()
    if numbers.mean() > 0.5:  # a typing error would make categories of all numbers
        row = int(np.argmin(numbers))
        raise DataError(
            f"{source}: column {name!r} holds numbers, but row {row} (counted from 0) has "
            f"{column.iloc[row]!r}. Correct such values or remove the column."
        )
    count = words.nunique()
    if count > MOST_CATEGORIES:
        raise DataError(
            f"{source}: column {name!r} holds {count:,} different texts, too many for categories. "
            f"Remove it, or name the rows by it: --id-column {name}"
        )
