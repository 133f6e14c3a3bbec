"""Saved results as Parquet files: read with suspicion, and only if they follow their schema.

Sizes are compared before anything is read, names and types before values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import MemoryLimitError, ResultError
from cgscore.execution.machine import available_memory, show_bytes
from cgscore.issues.table import first_copies
from cgscore.kernel import Array
from cgscore.result.schema import (
    ARRAYS,
    NUMBERS,
    REQUIRED,
    Document,
    Violation,
    parse_json,
    read_document,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd

#: A result takes at most this much memory, and so many times the bytes of its file.
ALLOWED_BYTES, MAX_RATIO = 1 << 28, 200.0

#: What pandas may be told to make of a column; everything else follows from the column's type.
_PANDAS_TYPES = frozenset(
    [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    + ["Float32", "Float64", "boolean", "str", "string", "string[python]", "string[pyarrow]"]
    + ["object"]
)


@dataclass(frozen=True)
class SavedResult:
    """The parts of `Scores`, checked."""

    table: pd.DataFrame
    loo: Array
    d: Array
    alpha: Array
    classes: NDArray[Any]
    complexity: dict[Any, float]
    meta: dict[str, Any]


def read_result(path: Path, *, max_ratio: float = MAX_RATIO) -> SavedResult:
    """The parts of a saved result.

    Parameters
    ----------
    path : Path
        The file.
    max_ratio : float
        A file that unpacks to more than so many times its size, and to more than 256 MB, is
        refused before it is unpacked.

    Raises
    ------
    ResultError
        The file is missing, not a result, damaged, or from a newer version; it says what is wrong.
    MemoryLimitError
        There is not enough memory for it.
    """
    import pyarrow.parquet as pq

    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise ResultError(f"{path} {what}.")
    # what Arrow raises for files that lie about themselves is not one family of errors
    try:
        footer = pq.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
    except Exception as error:
        raise ResultError(_incomplete(path, error)) from error
    try:
        document = read_document(footer.metadata or {}, str(path))
        _check_columns(schema, document)
        room = ALLOWED_BYTES + max_ratio * path.stat().st_size
        _check_sizes(footer, schema, document, room)
        texts = [field.name for field in schema if _family(field.type) == "text"]
        try:
            with pq.ParquetFile(path, metadata=footer, read_dictionary=texts) as file:
                arrow = file.read(use_threads=False)
        except Exception as error:
            raise ResultError(_incomplete(path, error)) from error
        return _checked(_decoded(arrow, schema, texts, room), document)
    except Violation as error:
        raise ResultError(
            f"{path} is not a result as cgscore saves it: {error}. Score the data again."
        ) from error


def _incomplete(path: Path, error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} is not a complete Parquet file: {reason}"


def _family(kind: Any) -> str:
    """What sort of values an Arrow type has; empty for those that a result never holds."""
    from pyarrow import types

    if isinstance(kind, _extension_type()) or types.is_nested(kind):
        return ""
    for name, test in (
        ("bool", types.is_boolean),
        ("int", types.is_integer),
        ("float", types.is_floating),
        ("text", types.is_string),
        ("text", types.is_large_string),
        ("other", types.is_temporal),
        ("other", types.is_decimal),
        ("other", types.is_dictionary),
        ("other", types.is_binary),
        ("other", types.is_large_binary),
        ("null", types.is_null),
    ):
        if test(kind):
            return name
    return ""


def _extension_type() -> Any:
    import pyarrow as pa

    return pa.BaseExtensionType


def _check_columns(schema: Any, document: Document) -> None:
    """Names and types of all columns."""
    import pyarrow as pa

    names = list(schema.names)
    if len(set(names)) < len(names):
        raise Violation("two of its columns have the same name")
    for name in REQUIRED:
        if name not in names:
            raise Violation(f"the column {name} is missing")
    families = {field.name: _family(field.type) for field in schema if field.name != "loo"}
    labels = "float"
    if document.classes:
        labels = {bool: "bool", int: "int", float: "float", str: "text"}[type(document.classes[0])]
    wanted = dict.fromkeys((*NUMBERS, "d", "alpha"), "float")
    wanted |= {"given_label": labels, "predicted_label": labels}
    for name, family in families.items():
        expected = wanted.get(name, family)
        if not family or family != expected or (name == "id" and family == "null"):
            raise Violation(
                f"the column {shown(name)} is of type {schema.field(name).type}"
                + (f"; expected {expected}" if name in wanted else "")
            )
    kind, k = schema.field("loo").type, document.columns
    if not (
        pa.types.is_fixed_size_list(kind)
        and kind.list_size == k
        and pa.types.is_floating(kind.value_type)
    ):
        raise Violation(f"the column loo is of type {kind}; expected {k} numbers in each row")


def _check_sizes(footer: Any, schema: Any, document: Document, room: float) -> None:
    """Refuse sizes that do not agree, or that the file cannot hold, before anything is read."""
    n, k = footer.num_rows, document.columns
    if n != document.meta["n"]:
        raise Violation(f"it has {n:,} rows, and meta['n'] is {document.meta['n']:,}")
    unpacked, total = 0, 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        total += group.num_rows
        for i in range(group.num_columns):
            part = group.column(i)
            times = k if part.path_in_schema.split(".")[0] == "loo" else 1
            if group.num_rows < 0 or part.num_values != group.num_rows * times:
                raise Violation(
                    f"{part.path_in_schema} has {part.num_values:,} values in "
                    f"{group.num_rows:,} rows"
                )
            unpacked += max(0, part.total_uncompressed_size)
    if total != n:
        raise Violation(f"its parts have {total:,} rows, and {n:,} are announced")
    needed = max(unpacked, n * 8 * (len(schema.names) - 1 + k))
    _check_room(needed, room)


def _check_room(needed: int, room: float) -> None:
    if needed > room:
        raise Violation(
            f"it would unpack to {show_bytes(needed)}, which a file of its size is not trusted to "
            "hold (load(path, max_ratio=...) in Python raises the limit)"
        )
    if needed > available_memory():
        raise MemoryLimitError(
            f"The result takes {show_bytes(needed)} of memory; {show_bytes(available_memory())} "
            "is free. Use a machine with more memory."
        )


def _decoded(arrow: Any, schema: Any, texts: list[str], room: float) -> Any:
    """The table with texts in full; they were read as a dictionary, which can be counted first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        total = 0
        for name in texts:
            for part in arrow[name].chunks:
                lengths = pc.cast(pc.binary_length(part.dictionary), pa.int64())
                total += pc.sum(lengths.take(part.indices)).as_py() or 0
        _check_room(total, room)
        for name in texts:
            whole = arrow[name].cast(schema.field(name).type)
            arrow = arrow.set_column(arrow.schema.get_field_index(name), schema.field(name), whole)
    except pa.ArrowException as error:
        raise Violation(f"texts cannot be read ({error})") from error
    return arrow


def _checked(arrow: Any, document: Document) -> SavedResult:
    """The parts of a result whose columns have the right types: now their values."""
    n, k = arrow.num_rows, document.columns
    loo = arrow["loo"].combine_chunks()
    arrays = {"d": arrow["d"], "alpha": arrow["alpha"], "loo": loo, "loo ": loo.flatten()}
    for name, values in arrays.items():
        if values.null_count:
            raise Violation(f"the column {name.strip()} has rows without a value")
    predictions = loo.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if predictions.shape != (n * k,):
        raise Violation(f"loo has {len(predictions):,} numbers for {n:,} rows of {k:,}")
    if document.classes and np.isinf(predictions).any():
        raise Violation("loo has a prediction that is infinite")
    table = _frame(arrow.drop_columns(list(ARRAYS)))
    classes = _check_labels(table, document)
    _check_copies(table)
    return SavedResult(
        table=table,
        loo=predictions.reshape(n, k),
        d=arrow["d"].to_numpy().astype(np.float64),
        alpha=arrow["alpha"].to_numpy().astype(np.float64),
        classes=classes,
        complexity=dict(zip(classes.tolist() or ["target"], document.complexity, strict=True)),
        meta=document.meta,
    )


def _frame(arrow: Any) -> pd.DataFrame:
    """The table, with those types of pandas that the file names and a result can have."""
    described = parse_json((arrow.schema.metadata or {}).get(b"pandas", b"{}"))
    columns = described.get("columns") if isinstance(described, dict) else None
    kinds = {
        column["name"]: column["numpy_type"]
        for column in (columns if isinstance(columns, list) else [])
        if isinstance(column, dict)
        and isinstance(column.get("name"), str)
        and isinstance(column.get("numpy_type"), str)
    }
    named = [name for name in arrow.column_names if kinds.get(name) in _PANDAS_TYPES]
    plain = {
        "index_columns": [],
        "column_indexes": [],
        "columns": [
            {
                "name": name,
                "field_name": name,
                "pandas_type": "unicode",
                "numpy_type": kinds[name],
                "metadata": None,
            }
            for name in named
        ],
    }
    arrow = arrow.replace_schema_metadata({b"pandas": json.dumps(plain).encode()})
    try:
        table: pd.DataFrame = arrow.to_pandas()
    except Exception as error:  # pandas and Arrow raise what they like for types that do not fit
        raise Violation(f"the table cannot be read ({type(error).__name__}: {error})") from error
    if list(table.columns) != arrow.column_names or len(table) != arrow.num_rows:
        raise Violation("the table has other columns or rows than the file")
    return table


def _check_labels(table: pd.DataFrame, document: Document) -> NDArray[Any]:
    """The classes, in the type of the labels; every label is one of them, and each has a label."""
    if table["given_label"].isna().any():
        raise Violation("given_label has rows without a label")
    given = table["given_label"].to_numpy()
    if not document.classes:
        if not np.isfinite(given.astype(np.float64)).all():
            raise Violation("given_label has a number that is not finite")
        return np.array([])
    try:
        classes = np.array(document.classes, dtype=given.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise Violation(f"classes are not of the type of the labels ({error})") from error
    if classes.tolist() != document.classes:
        raise Violation("classes are not of the type of the labels")
    if len(np.unique(_among(given, classes, "given_label"))) < len(classes):
        raise Violation("there are classes without an example")
    predicted = table["predicted_label"]
    _among(predicted[predicted.notna()].to_numpy(), classes, "predicted_label")
    return classes


def _among(values: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Positions of labels among the classes."""
    place = np.searchsorted(classes, values)
    wrong = classes[np.minimum(place, len(classes) - 1)] != values
    if wrong.any():
        label = values[np.argmax(wrong)]
        raise Violation(f"{name} has {shown(label)}, which is not among the classes")
    return place


def _check_copies(table: pd.DataFrame) -> None:
    """Refuse a ``duplicate_of`` that names no example, or a copy."""
    try:
        first_copies(table)
    except (KeyError, TypeError) as error:
        raise Violation(f"duplicate_of names an example that is not there: {error}") from error
