"""Tables: which column holds labels, names and inputs; `columns.py` turns inputs into numbers.

Texts are the only inputs of a table with few other columns, and an encoder makes numbers of them.
Beside `MIN_COLUMNS_BESIDE` columns or more, they are inputs like the others: TF-IDF vectors that
weigh as much as all other columns together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.column_names import columns_in_words, list_names, no_column, similar_name
from cgscore.data.columns import encode
from cgscore.data.dataset import Dataset
from cgscore.data.origins import check_origins, take_origins
from cgscore.data.readers.options import ReadOptions
from cgscore.data.texts import joined, text_columns
from cgscore.errors import DataError, LabelError, SourceError
from cgscore.spelling import spelled

if TYPE_CHECKING:
    import pandas as pd

LABEL_COLUMNS = ("label", "target")
LIKELY_LABEL_COLUMNS = ("class", "y", "category", "outcome", "species", "survived", "labels")
ID_COLUMN = "id"
MIN_COLUMNS_BESIDE = 4  # other columns that make texts one input among others
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

    Inputs become the same numbers wherever the labels are: in a column or apart from the frame.
    With `labels_inside` the frame must contain the labels unless `options` has them.
    """
    if len(frame) == 0:
        raise DataError(f"{source} has no rows. Expected at least two examples.")
    if options.has_origins:
        check_origins(list(frame.columns), options, source)
        label = None
        if not options.labels_elsewhere:
            inside = labels_inside or len(options.annotators) == 1
            label = _label_column(frame, options, source, inside)
        origins, frame, options = take_origins(frame, options, label, source)
        dataset = from_frame(frame, options, source, labels_inside=labels_inside)
        return origins.attached(dataset)
    label = _label_column(frame, options, source, labels_inside)
    frame, notes = without_dropped(frame, options, label, source)
    table = options.preprocess != "none"
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
    beside = frame.shape[1] - len(texts) >= MIN_COLUMNS_BESIDE
    if texts and beside and named is None and not options.context.texts:
        joint = _joint_dataset(frame, texts, y, ids, source, (*notes, *note))
        if joint is not None:
            return joint
    if texts:
        asked = named is not None or options.context.texts
        return _text_dataset(frame, texts, y, ids, source, (*notes, *note), asked=asked)
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


def without_dropped(
    frame: pd.DataFrame, options: ReadOptions, label: Any, source: str
) -> tuple[pd.DataFrame, list[str]]:
    """The frame without the columns that the user leaves out, and a note about them."""
    check_dropped(frame.columns, options, label, source)
    if not options.dropped:
        return frame, []
    return frame.drop(columns=list(options.dropped)), [dropped_note(options)]


def dropped_note(options: ReadOptions) -> str:
    """The note about columns that the user leaves out."""
    return f"left out as asked: {list_names(options.dropped)}"


def check_dropped(names: Iterable[Any], options: ReadOptions, label: Any, source: object) -> None:
    """Raise an error for columns to drop that do not exist, or that another option needs."""
    names = list(names)
    needed = {"labels": label, "names of rows": options.id_column, "texts": options.text_column}
    for name in options.dropped:
        if name not in names:
            raise no_column(source, name, names)
        for what, other in needed.items():
            if name == other:
                raise SourceError(f"{source}: column {name!r} holds the {what}; keep it.")


def _joint_dataset(
    frame: pd.DataFrame,
    names: list[Any],
    y: NDArray[Any] | None,
    ids: NDArray[Any],
    source: str,
    notes: tuple[str, ...],
) -> Dataset | None:
    """A dataset of texts beside other columns; None if one of the two says nothing."""
    from cgscore.data.encoders.text import Tfidf

    texts = joined(frame, names)
    X, preprocessing, more = encode(frame.drop(columns=names), source, preprocess=True)
    if X.shape[1] <= MIN_COLUMNS_BESIDE:  # with the constant: most columns were left out
        return None
    try:
        words = Tfidf()(texts)
    except DataError:  # too few words in common
        return None
    weight = np.sqrt((X**2).sum() / (words**2).sum())
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes())
    digest.update(repr(texts).encode("utf-8", "surrogatepass"))
    joint_note = (
        f"texts in {list_names(names)} are compared by their words (TF-IDF) and weigh as much as "
        f"the other columns; to make them the only inputs: {spelled(text_column=names[0])}"
    )
    return Dataset(
        np.hstack([X, weight * words]),
        y,
        ids,
        source=source,
        preprocessing=f"{preprocessing}, {words.shape[1]} numbers of texts by tfidf",
        notes=(*notes, joint_note, *more),
        frame=frame,
        made_from=digest.hexdigest(),
    )


def _text_dataset(
    frame: pd.DataFrame,
    names: list[Any],
    y: NDArray[Any] | None,
    ids: NDArray[Any],
    source: str,
    notes: tuple[str, ...],
    *,
    asked: bool,
) -> Dataset:
    """A dataset of texts, without inputs: an encoder computes them.

    `asked` says whether the user wants texts, or they were found.
    """
    others = [name for name in frame if name not in names]
    texts = joined(frame, names)
    empty = sum(not text for text in texts)
    text_notes = [f"inputs are the texts in {list_names(names)}"]
    if others:
        text_notes[0] += f"; other columns left out: {list_names(others)}"
        if not asked:
            text_notes[0] += f"; to use these instead: {spelled(drop=names[0])}"
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
        raise no_column(source, name, frame.columns)
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
        raise no_column(source, name, frame.columns)
    if options.labels is not None:
        return None
    for candidate in LABEL_COLUMNS:
        if candidate in frame:
            return candidate
    if not labels_inside:
        return None
    raise no_label_column(source, list(frame.columns))


def no_label_column(
    source: object, names: Sequence[Any], classes: Sequence[Any] = ()
) -> SourceError:
    """The error for a table in which no column is called like labels.

    `classes` are the columns that the source itself says are classes.
    """
    close = [similar_name(name, names) for name in LABEL_COLUMNS]
    usual = [name for name in names if str(name).strip().casefold() in LIKELY_LABEL_COLUMNS]
    likely = [*classes[::-1], *(name for name in close if name is not None), *usual, names[-1]]
    return SourceError(
        f"{source} has no column 'label' or 'target'. {columns_in_words(names)} "
        f"Say which one: {spelled(label_column=likely[0])}"
    )


def several_labels(source: object, name: Any, found: str) -> LabelError:
    """The error for a column that holds more than one label in a cell."""
    return LabelError(
        f"{source}: column {name!r} {found}. One label per example is expected; choose one of "
        f"several, or name another column: {spelled(label_column='NAME')}"
    )


def _labels(column: pd.Series[Any], name: Any, source: str) -> NDArray[Any]:
    if column.dtype.kind == "O":
        kinds = (list, tuple, set, frozenset, dict, np.ndarray)
        several = np.array([isinstance(cell, kinds) for cell in column], dtype=bool)
        if several.any():
            row = int(np.argmax(several))
            cell = str(column.iloc[row])[:100]
            raise several_labels(source, name, f"holds {cell} in row {row} (counted from 0)")
    missing = column.isna().to_numpy() | (column.to_numpy() == "")
    if missing.any():
        row = int(np.argmax(missing))
        raise LabelError(
            f"{source}: column {name!r} has no label in {int(missing.sum()):,} rows, the first is "
            f"row {row} (counted from 0). Label these rows or leave them out."
        )
    return column.to_numpy()
