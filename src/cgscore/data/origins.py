"""Where labels come from: columns that name the source, the group and the annotators of examples.

Such columns are no inputs: who labelled an example, or which batch it came with, must not predict
its label. They are taken out of a table before its columns become numbers, and kept beside it.

Labels of several annotators come in two forms. Wide: a column of labels for every annotator. Long:
one row for every label, with a column that names who gave it; rows of the same example are joined.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.annotations import Annotations, annotations_of
from cgscore.data.column_names import no_column
from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import refuse_size
from cgscore.data.readers.options import ReadOptions
from cgscore.errors import LabelError, OptionError, SourceError
from cgscore.spelling import spelled
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

_MIDNIGHT = re.compile(r"T00:00:00(\.0+)?$")  # of a day without a time
ROLES = ("source", "group")  # of columns that name where an example comes from
MISSING_NAME = "(missing)"  # of an annotator without a name
ELSEWHERE = "annotators"  # what labels are while a table is read whose annotators give them


@dataclass(frozen=True)
class Origins:
    """What was taken out of a table.

    Attributes
    ----------
    columns : mapping
        ``source`` and ``group`` of every example, as `Dataset.columns` has them.
    annotations : Annotations or None
        Labels of several annotators.
    rows : (n,) array or None
        The row of the table that each example is, where rows were joined.
    notes : tuple of str
        What was done.
    """

    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    annotations: Annotations | None = None
    rows: Index | None = None
    notes: tuple[str, ...] = ()

    def attached(self, dataset: Dataset) -> Dataset:
        """The dataset with these, and labelled by the majority of its annotators."""
        columns, annotations = self.columns, self.annotations
        if dataset.rows is not None:  # images that could not be read were left out
            columns = {role: values[dataset.rows] for role, values in columns.items()}
            annotations = None if annotations is None else annotations.rows(dataset.rows)
        dataset = replace(
            dataset,
            columns={**dataset.columns, **columns},
            rows=dataset.rows if self.rows is None else self.rows,
            notes=(*self.notes, *dataset.notes),
        )
        if annotations is None:
            return dataset
        return replace(dataset, annotations=annotations, y=annotations.majority())


def take_origins(
    frame: pd.DataFrame, options: ReadOptions, label: Any, source: str
) -> tuple[Origins, pd.DataFrame, ReadOptions]:
    """What names the origin of examples, the frame without it, and the options for the rest.

    Parameters
    ----------
    frame : DataFrame
        The table.
    options : ReadOptions
        How it is read.
    label : str or None
        Its column of labels, which is needed if the annotators are in one column.
    source : str
        What messages call the table.
    """
    taken = named_columns(options)
    kept = {label, options.id_column, options.text_column}
    plain = replace(options, source_column=None, group_column=None, annotator_columns=None)
    rest = frame.drop(columns=[name for name in taken.values() if name not in kept])
    if len(options.annotators) == 1:
        return _from_long(frame, rest, options, plain, label, source)
    columns = {role: origin_values(frame[name]) for role, name in taken.items()}
    if not options.annotators:
        return Origins(columns), rest, plain
    given = {name: frame[name] for name in options.annotators}
    rest = rest.drop(columns=[name for name in given if name in rest and name not in kept])
    origins = Origins(columns, annotations_of(given, source))
    return origins, rest, replace(plain, labels=ELSEWHERE)


def named_columns(options: ReadOptions) -> dict[str, Any]:
    """The names of the columns of source and group, by role."""
    names = {role: getattr(options, f"{role}_column") for role in ROLES}
    return {role: name for role, name in names.items() if name is not None}


def check_origins(names: list[Any], options: ReadOptions, source: object) -> None:
    """Raise an error for columns that do not exist, or that other options contradict."""
    for name in (*named_columns(options).values(), *options.annotators):
        if name not in names:
            raise no_column(source, name, names)
        if name in options.dropped:
            raise SourceError(f"{source}: column {name!r} is asked for and to be dropped; keep it.")
    if not options.annotators:
        return
    if options.labels is not None:
        raise OptionError(
            f"{spelled(annotator_columns=list(options.annotators))} gives labels, and so does "
            "another option. Leave one of them out."
        )
    if len(options.annotators) > 1 and options.label_column is not None:
        raise OptionError(
            f"{spelled(annotator_columns=list(options.annotators))} names a column of labels for "
            f"every annotator. Leave out {spelled(label_column=options.label_column)}, or, if one "
            "column names who gave the label of a row, name that column alone."
        )


def origin_values(column: Any) -> NDArray[Any]:
    """Names of sources or groups: whole numbers and booleans as they are, others as text.

    A missing value is None: those examples have a source in common, too.
    """
    import pandas as pd

    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.ndim == 1 and values.dtype.kind in "bui":
        return values.astype(values.dtype.newbyteorder("="))
    texts = np.empty(len(values), dtype=object)
    missing = pd.isna(np.asarray(values, dtype=object))
    for i, value in enumerate(values.tolist() if values.dtype.kind != "M" else values):
        texts[i] = None if missing[i] else _as_text(value)
    return texts


def given_values(value: Any, role: str, n: int, source: object) -> NDArray[Any]:
    """Source or group of every example, as an array that the caller gave."""
    values = origin_values(value)
    if values.shape != (n,):
        raise OptionError(
            f"{role}_column must name a column, or have one value for each of the {n:,} examples "
            f"of {source}; got the shape {values.shape}."
        )
    return values


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a whole number in a column with missing values
    if isinstance(value, np.datetime64):
        return _MIDNIGHT.sub("", str(value))
    return str(value)


def _from_long(
    frame: pd.DataFrame,
    rest: pd.DataFrame,
    options: ReadOptions,
    plain: ReadOptions,
    label: Any,
    source: str,
) -> tuple[Origins, pd.DataFrame, ReadOptions]:
    """The same for a table with one row per label: `rest` is the frame without the origins."""
    (annotator,) = options.annotators
    if options.source_column is not None:
        raise OptionError(
            f"{source} has one row per label, and {spelled(annotator_columns=[annotator])} says "
            f"where each comes from. Leave out {spelled(source_column=options.source_column)}."
        )
    rest = rest.drop(columns=[name for name in (annotator, label) if name in rest])
    example, first = _examples(rest, options, source)
    given = _by_annotator(frame, annotator, label, example, len(first), source)
    columns = {
        role: origin_values(frame[name])[first] for role, name in named_columns(options).items()
    }
    note = f"{len(frame):,} labels of {len(first):,} examples by {len(given):,} annotators"
    origins = Origins(columns, annotations_of(given, source), first, (note,))
    examples = rest.iloc[first].reset_index(drop=True)
    return origins, examples, replace(plain, labels=ELSEWHERE, label_column=None)


def _examples(rest: pd.DataFrame, options: ReadOptions, source: str) -> tuple[Index, Index]:
    """The example of every row, by id or else by identical inputs, and the first row of each."""
    name = options.id_column
    if name is None and "id" in rest:
        name = "id"
    if name is not None and name not in rest:
        raise no_column(source, name, rest.columns)
    keys = [name] if name is not None else [key for key in rest if key not in options.dropped]
    if not keys:
        raise SourceError(f"{source} has no columns beside labels and annotators.")
    try:
        example = rest.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    except TypeError as error:  # cells that are lists cannot be compared
        raise SourceError(
            f"{source}: rows of the same example cannot be found by their inputs ({error}). Name "
            f"the column that says which they are: {spelled(id_column='NAME')}"
        ) from error
    _, first = np.unique(example, return_index=True)
    return example.astype(np.intp), first


def _by_annotator(
    frame: pd.DataFrame, annotator: Any, label: Any, example: Index, n: int, source: str
) -> dict[str, NDArray[Any]]:
    """A column of labels of n examples for every annotator."""
    import pandas as pd

    who, names = pd.factorize(origin_values(frame[annotator]), use_na_sentinel=False)
    labels = np.asarray(frame[label].to_numpy(), dtype=object)
    refuse_size(source, 16 * n * len(names), "needs", "with a column for every annotator")
    cells = example.astype(np.int64) * len(names) + who
    _, first, of_cell = np.unique(cells, return_index=True, return_inverse=True)
    before = labels[first[of_cell.reshape(-1)]]
    differ = (labels != before) & ~(pd.isna(labels) & pd.isna(before))
    if differ.any():
        row = int(np.argmax(differ))
        raise LabelError(
            f"{source}: the annotator {names[who[row]]!r} labelled one example twice, as "
            f"{before[row]!r} and, in row {row} (counted from 0), as {labels[row]!r}. If these are "
            f"two examples with the same inputs, name them apart: {spelled(id_column='NAME')}"
        )
    columns = {}
    for number, name in enumerate(names):
        column = np.full(n, None, dtype=object)
        rows = np.flatnonzero(who == number)
        column[example[rows]] = labels[rows]
        columns[MISSING_NAME if pd.isna(name) else str(name)] = column
    return columns
