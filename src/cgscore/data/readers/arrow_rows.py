"""Rows of an Arrow table that need not be in memory, and what their columns are for.

Class names and the column of labels come from the ``huggingface`` metadata of the schema, if it has
them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.column_names import no_column
from cgscore.data.readers.arrow_texts import check_label_lengths
from cgscore.data.readers.options import ReadOptions
from cgscore.data.tables import LABEL_COLUMNS, no_label_column, several_labels
from cgscore.errors import SourceError
from cgscore.spelling import spelled


@dataclass(frozen=True)
class Rows:
    """Rows of a table that may be larger than what should be held at once.

    Attributes
    ----------
    name : str
        What messages call it.
    schema : pyarrow.Schema
        Columns and types.
    count : int
        Number of rows.
    batches : function
        Record batches with the given columns.
    local_files : bool
        Whether images without bytes are read from the files that they name. Not for tables from
        files: these may name any file.
    """

    name: str
    schema: Any
    count: int
    batches: Callable[[list[str]], Iterator[Any]]
    local_files: bool = False

    def features(self) -> dict[str, Any]:
        """The description of each column in the Hugging Face metadata; empty without them."""
        try:
            document = json.loads((self.schema.metadata or {})[b"huggingface"])
            features = document["info"]["features"]
        except (KeyError, ValueError, TypeError, RecursionError):
            return {}
        return features if isinstance(features, dict) else {}

    def leaves(self, columns: list[str]) -> list[str]:
        """Names of columns for a Parquet file: of images only the bytes are read."""
        return [
            f"{name}.bytes" if _has_bytes(self.schema.field(name).type) else name
            for name in columns
        ]

    def column(self, name: str) -> Any:
        """One whole column."""
        import pyarrow as pa

        parts = [batch.column(0) for batch in self.batches([name])]
        return pa.chunked_array(parts, self.schema.field(name).type)


def label_column(rows: Rows, options: ReadOptions) -> str | None:
    """The column with the labels; None if they come from elsewhere."""
    names = list(rows.schema.names)
    column = options.label_column
    if column is not None:
        if column not in names:
            raise no_column(rows.name, column, names)
        return _single(rows, str(column))
    if options.labels_elsewhere:
        return None
    usual = [name for name in LABEL_COLUMNS if name in names]
    classes = [
        name
        for name, feature in rows.features().items()
        if name in names and isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    ]
    if usual or len(classes) == 1:
        return _single(rows, (usual or classes)[0])
    raise no_label_column(rows.name, names, classes)


def _single(rows: Rows, name: str) -> str:
    """The column of labels, if each of its cells can hold one label only."""
    import pyarrow as pa

    kind = rows.schema.field(name).type
    if is_list(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind):
        raise several_labels(rows.name, name, f"is of the type {kind}")
    return name


def image_column(rows: Rows, options: ReadOptions) -> str | None:
    """The column with encoded images, if there is one."""
    column = options.image_column
    names = list(rows.schema.names)
    if column is not None:
        if column not in names:
            raise no_column(rows.name, column, names)
        kind = rows.schema.field(column).type
        if not (_has_bytes(kind) or _is_binary(kind)):
            raise SourceError(f"{rows.name}: column {column!r} of type {kind} holds no images.")
        return str(column)
    columns = [field.name for field in rows.schema if _has_bytes(field.type)]
    if len(columns) > 1:
        raise SourceError(
            f"{rows.name} has several columns of images: {', '.join(columns)}. "
            f"Say which one: {spelled(image_column=columns[0])}"
        )
    return columns[0] if columns else None


def class_names(rows: Rows, label: str | None) -> dict[Any, str] | None:
    """Names of the classes 0, 1, ... in the column of labels, where the metadata have them."""
    feature = rows.features().get(label or "", {})
    names = feature.get("names") if isinstance(feature, dict) else None
    return dict(enumerate(map(str, names))) if isinstance(names, list) else None


def column_values(column: Any) -> NDArray[Any]:
    """The values of a column or array of pyarrow."""
    import pyarrow as pa

    check_label_lengths(column, "the column of labels or names")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())


def is_list(kind: Any) -> bool:
    """Whether a type is one of lists."""
    import pyarrow as pa

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in kinds)


def is_number(kind: Any) -> bool:
    """Whether a type is one of numbers or booleans."""
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    return any(is_kind(kind) for is_kind in kinds)


def _has_bytes(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind)) and any(
        kind.field(i).name == "bytes" and _is_binary(kind.field(i).type)
        for i in range(kind.num_fields)
    )


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
