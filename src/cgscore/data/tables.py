"""Tables: CSV files and data frames, and how their columns become numbers.

``preprocess="table"`` standardises numeric and boolean columns to mean 0 and deviation 1, encodes
text columns one-hot, and appends a column of ones. Without the last, scaling rows to unit norm
would discard the magnitude of rows with few columns.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.errors import DataError, LabelError, SourceError

if TYPE_CHECKING:
    import pandas as pd

LABEL_COLUMNS = ("label", "target")
ID_COLUMN = "id"
_TIMES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period")
MOST_CATEGORIES = 1000  # a text column with more values than this is not a category


def read_csv(path: Path, options: dict[str, Any]) -> Dataset:
    """A CSV or TSV file with a header line; the delimiter is read off the header."""
    import pyarrow as pa
    import pyarrow.csv

    header = _header(path)
    size = max(1 << 20, min(path.stat().st_size * 20, (1 << 31) - 1))
    try:
        table = pyarrow.csv.read_csv(
            path,
            # one block, so that the type of a column follows from all of its values
            read_options=pyarrow.csv.ReadOptions(block_size=size, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(delimiter=_delimiter(header)),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        reason = str(error).splitlines()[0].removeprefix("CSV parse error: ")
        raise SourceError(f"{path} is not a table in CSV format: {reason}") from error
    (name, times), *_ = Counter(table.column_names).most_common(1)
    if times > 1:
        raise SourceError(f"{path} has more than one column {name!r}. Rename one.")
    return from_frame(table.to_pandas(), {**options, "labels_inside": True}, str(path))


def _header(path: Path) -> str:
    import gzip
    import zlib

    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            header = file.readline(1 << 16).decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path} is not a complete gzip file ({error}).") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not text in UTF-8, so not a CSV file.") from error
    if not header.strip():
        raise SourceError(f"{path} is empty. Expected a header line and one line per example.")
    return header


def _delimiter(header: str) -> str:
    return max(",;\t|", key=lambda mark: (header.count(mark), mark == ","))


def is_frame(source: Any) -> bool:
    """Whether the object is a pandas data frame."""
    return type(source).__name__ == "DataFrame" and type(source).__module__.startswith("pandas")


def from_frame(frame: pd.DataFrame, options: dict[str, Any], source: str = "data frame") -> Dataset:
    """A data frame's columns as labels, names and inputs.

    A frame that contains its label column is a table. One without, whose labels come separately,
    is taken as numbers just as an array is.
    """
    label = _label_column(frame, options, source)
    if len(frame) == 0:
        raise DataError(f"{source} has no rows. Expected at least two examples.")
    preprocess = options["preprocess"]
    table = preprocess == "table" or (preprocess == "auto" and label is not None)
    notes: tuple[str, ...] = ()
    y = None
    if label is not None:
        y = _labels(frame[label], label, source)
        frame = frame.drop(columns=[label])
    ids: NDArray[Any] = np.arange(len(frame))
    name = options["id_column"]
    if name is not None and name not in frame:
        raise SourceError(f"{source} has no column {name!r}. {_columns(frame)}")
    if name is None and table and ID_COLUMN in frame:
        if frame[ID_COLUMN].is_unique:
            name = ID_COLUMN
            notes = (f"column {ID_COLUMN!r} names the rows and is not an input",)
        else:
            notes = (f"column {ID_COLUMN!r} repeats values, so it is an input like the others",)
    if name is not None:
        if not frame[name].is_unique or frame[name].isna().any():
            raise DataError(
                f"{source}: column {name!r} has repeated or missing values, so it cannot name rows."
            )
        ids = frame[name].to_numpy()
        frame = frame.drop(columns=[name])
    X, preprocessing, more = encode(frame, source, preprocess=table)
    return Dataset(X, y, ids, source=source, preprocessing=preprocessing, notes=notes + more)


def _label_column(frame: pd.DataFrame, options: dict[str, Any], source: str) -> Any:
    name = options["label_column"]
    if name is not None:
        if name in frame:
            return name
        raise SourceError(f"{source} has no column {name!r}. {_columns(frame)}")
    if options["labels"] is not None:
        return None
    for candidate in LABEL_COLUMNS:
        if candidate in frame:
            return candidate
    if not options.get("labels_inside"):
        return None
    raise SourceError(
        f"{source} has no column 'label' or 'target'. {_columns(frame)} "
        f"Say which one: --label-column {frame.columns[-1]}"
    )


def _columns(frame: pd.DataFrame) -> str:
    return f"Its columns are {_some(list(frame.columns))}."


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
    mixed = np.array([text[name].nunique() > 1 for name in text], dtype=bool)
    constant = [*frame.columns[numeric][~varies], *text.columns[~mixed]]
    parts = [np.ones((len(frame), 1))]
    if mixed.any():
        words = text.loc[:, mixed].astype(str)
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
    count = column.astype(str).nunique()
    if count > MOST_CATEGORIES:
        raise DataError(
            f"{source}: column {name!r} holds {count:,} different texts, too many for categories. "
            f"Remove it, or name the rows by it: --id-column {name}"
        )
