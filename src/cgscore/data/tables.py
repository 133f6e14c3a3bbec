"""Tables: which column holds labels, names and inputs; `columns.py` turns inputs into numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.columns import encode, list_names
from cgscore.data.dataset import Dataset
from cgscore.data.readers.options import ReadOptions
from cgscore.data.texts import joined, text_columns
from cgscore.errors import DataError, LabelError, SourceError

if TYPE_CHECKING:
    import pandas as pd

LABEL_COLUMNS = ("label", "target")
ID_COLUMN = "id"
_INDEX = "__index_level_0__"  # what pandas calls an index without a name in Parquet


def is_frame(source: Any) -> bool:
    """Whether the object is a pandas data frame."""
    return type(source).__name__ == "DataFrame" and type(source).__module__.startswith("pandas")


def is_polars(source: Any) -> bool:
    """Whether the object is a data frame of polars, or a lazy one."""
    named = type(source).__name__ in ("DataFrame", "LazyFrame")
    return named and type(source).__module__.startswith("polars")


def table_of_polars(source: Any) -> Any:
    """A data frame of polars as a table of pyarrow."""
    whole = source.collect() if hasattr(source, "collect") else source
    try:
        return whole.to_arrow()
    except Exception as error:  # polars' own, and pyarrow's, for types that Arrow does not know
        raise DataError(
            f"The data frame of polars holds columns Arrow does not: {error}"
        ) from error


def from_frame(
    frame: pd.DataFrame,
    options: ReadOptions,
    source: str = "data frame",
    *,
    labels_inside: bool = False,
) -> Dataset:
    """A data frame's columns as labels, names and inputs.

    A frame that contains its label column is a table. One without, whose labels come separately,
    is taken as numbers just as an array is. With `labels_inside` the frame is a table in any case,
    and must contain the labels unless `options` has them.
    """
    label = _label_column(frame, options, source, labels_inside)
    if len(frame) == 0:
        raise DataError(f"{source} has no rows. Expected at least two examples.")
    preprocess = options.preprocess
    table = preprocess == "table" or (preprocess == "auto" and (label is not None or labels_inside))
    notes: list[str] = []
    y = None
    if label is not None:
        y = _labels(frame[label], label, source)
        frame = frame.drop(columns=[label])
    elif table:  # labels come from elsewhere; a column of them would give the answer away
        labels = [name for name in LABEL_COLUMNS if name in frame]
        frame = frame.drop(columns=labels)
        notes += [f"column {name!r} is left out: the labels come from elsewhere" for name in labels]
    frame, ids, note = _split_ids(frame, options.id_column, label, source, guess=table)
    named = options.text_column
    if named is not None and named == label:
        raise SourceError(f"{source}: column {named!r} holds the labels; it cannot be the text.")
    texts = text_columns(frame, named, source) if table or named is not None else []
    if texts:
        return _text_dataset(frame, texts, y, ids, source, (*notes, *note))
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


def _text_dataset(
    frame: pd.DataFrame,
    names: list[Any],
    y: NDArray[Any] | None,
    ids: NDArray[Any],
    source: str,
    notes: tuple[str, ...],
) -> Dataset:
    """A dataset of texts, without inputs: an encoder computes them."""
    others = [name for name in frame if name not in names]
    texts = joined(frame, names)
    empty = sum(not text for text in texts)
    text_notes = [f"inputs are the texts in {list_names(names)}"]
    if others:
        text_notes[0] += f"; other columns left out: {list_names(others)}"
    if empty:
        text_notes.append(f"{empty:,} texts are empty")
    return Dataset(
        np.empty((len(frame), 0)),
        y,
        ids,
        source=source,
        notes=(*notes, *text_notes),
        frame=frame[[*names, *others]],
        texts=texts,
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


def _label_column(
    frame: pd.DataFrame, options: ReadOptions, source: str, labels_inside: bool
) -> Any:
    name = options.label_column
    if name is not None:
        if name in frame:
            return name
        raise SourceError(
            f"{source} has no column {name!r}. {columns_in_words(list(frame.columns))}"
        )
    if options.labels is not None:
        return None
    for candidate in LABEL_COLUMNS:
        if candidate in frame:
            return candidate
    if not labels_inside:
        return None
    raise SourceError(
        f"{source} has no column 'label' or 'target'. {columns_in_words(list(frame.columns))} "
        f"Say which one: --label-column {frame.columns[-1]}"
    )


def columns_in_words(names: Iterable[Any]) -> str:
    """The names of columns, for error messages."""
    return f"Its columns are {list_names(names)}."


def _labels(column: pd.Series[Any], name: Any, source: str) -> NDArray[Any]:
    missing = column.isna().to_numpy() | (column.to_numpy() == "")
    if missing.any():
        row = int(np.argmax(missing))
        raise LabelError(
            f"{source}: column {name!r} has no label in {int(missing.sum()):,} rows, the first is "
            f"row {row} (counted from 0). Label these rows or leave them out."
        )
    return column.to_numpy()
