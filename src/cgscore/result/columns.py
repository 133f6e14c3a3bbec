"""Checks of the columns of a saved result: names and types first, then sizes, then values.

The file may be damaged or made to do harm. Each check relies only on those before it, and nothing
is unpacked before its size is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.duplicates import first_copies
from cgscore.issues.judged import CLASSES, MARGIN
from cgscore.result.schema import (
    NUMBERS,
    ORIGINS,
    REQUIRED,
    VERDICT,
    Document,
    Violation,
    parse_json,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd

#: Types of pandas that a file may name for a column; all others follow from the column's type.
_PANDAS_TYPES = frozenset(
    [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    + ["Float32", "Float64", "boolean", "str", "string", "string[python]", "string[pyarrow]"]
    + ["object"]
)


def type_family(kind: Any) -> str:
    """The family of an Arrow type; empty for types that a result never holds."""
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
        ("bytes", types.is_binary),
        ("bytes", types.is_large_binary),
        ("null", types.is_null),
    ):
        if test(kind):
            return name
    return ""


def _extension_type() -> Any:
    import pyarrow as pa

    return pa.BaseExtensionType


def check_columns(schema: Any, document: Document) -> None:
    """Refuse columns whose names or types are not those of a result."""
    import pyarrow as pa

    names = list(schema.names)
    if len(set(names)) < len(names):
        raise Violation("two of its columns have the same name")
    for name in (*REQUIRED, *document.vectors, *document.lists):
        if name not in names:
            raise Violation(f"the column {name} is missing")
    families = {
        field.name: type_family(field.type) for field in schema if field.name not in document.lists
    }
    label_family = "float"
    if document.classes:
        label_family = {bool: "bool", int: "int", float: "float", str: "text"}[
            type(document.classes[0])
        ]
    expected_families = dict.fromkeys((*NUMBERS, *document.vectors), "float")
    expected_families |= {"given_label": label_family, "predicted_label": label_family}
    expected_families |= {"consensus_confidence": "float", "annotators": "int"}
    for name in ORIGINS:
        if families.get(name, "text") not in ("bool", "int", "text", "null"):
            raise Violation(
                f"the column {name} is of type {schema.field(name).type}; expected text"
            )
    for name, family in families.items():
        expected = expected_families.get(name, family)
        if not family or family != expected or (name == "id" and family == "null"):
            raise Violation(
                f"the column {shown(name)} is of type {schema.field(name).type}"
                + (f"; expected {expected}" if name in expected_families else "")
            )
    k = document.columns
    for name in document.lists:
        kind = schema.field(name).type
        if not (
            pa.types.is_fixed_size_list(kind)
            and kind.list_size == k
            and pa.types.is_floating(kind.value_type)
        ):
            raise Violation(
                f"the column {name} is of type {kind}; expected {k} numbers in each row"
            )


def unpacked_bytes(footer: Any, schema: Any, document: Document) -> int:
    """Bytes that the columns take in memory, after checking that all sizes agree."""
    n, k = footer.num_rows, document.columns
    if n != document.meta["n"]:
        raise Violation(f"it has {n:,} rows, and meta['n'] is {document.meta['n']:,}")
    unpacked, rows = 0, 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        rows += group.num_rows
        for i in range(group.num_columns):
            part = group.column(i)
            per_row = k if part.path_in_schema.split(".")[0] in document.lists else 1
            if group.num_rows < 0 or part.num_values != group.num_rows * per_row:
                raise Violation(
                    f"{part.path_in_schema} has {part.num_values:,} values in "
                    f"{group.num_rows:,} rows"
                )
            unpacked += max(0, part.total_uncompressed_size)
    if rows != n:
        raise Violation(f"its parts have {rows:,} rows, and its header says {n:,}")
    lists = len(document.lists)
    return int(max(unpacked, n * 8 * (len(schema.names) - lists + lists * k)))


def check_complete(arrow: Any, names: Sequence[str]) -> None:
    """Refuse rows without a value in one of these columns, such as d or alpha."""
    for name in names:
        if arrow[name].null_count:
            raise Violation(f"the column {name} has rows without a value")


def predictions(arrow: Any, document: Document, name: str) -> NDArray[np.float64]:
    """Leave-one-out predictions, (n, k), which must be complete."""
    n, k = arrow.num_rows, document.columns
    loo = arrow[name].combine_chunks()
    numbers = loo.flatten()
    if loo.null_count or numbers.null_count:
        raise Violation(f"the column {name} has rows without a value")
    values: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    if values.shape != (n * k,):
        raise Violation(f"{name} has {len(values):,} numbers for {n:,} rows of {k:,}")
    if document.classes and np.isinf(values).any():
        raise Violation(f"{name} has a prediction that is infinite")
    return values.reshape(n, k)


def as_frame(arrow: Any) -> pd.DataFrame:
    """The table in pandas, with the types that the file names where a result can have them."""
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


def check_labels(table: pd.DataFrame, document: Document) -> NDArray[Any]:
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
    if len(np.unique(_positions(given, classes, "given_label"))) < len(classes):
        raise Violation("there are classes without an example")
    predicted = table["predicted_label"]
    _positions(predicted[predicted.notna()].to_numpy(), classes, "predicted_label")
    return classes


def _positions(values: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Position of each label among the classes; every label must be one of them."""
    positions = np.searchsorted(classes, values)
    wrong = classes[np.minimum(positions, len(classes) - 1)] != values
    if wrong.any():
        label = values[np.argmax(wrong)]
        raise Violation(f"{name} has {shown(label)}, which is not among the classes")
    return positions


def check_verdicts(vectors: Mapping[str, NDArray[Any]], k: int) -> None:
    """Refuse verdicts that are no probabilities, or name no class."""
    for name, values in vectors.items():
        if name in CLASSES:
            fits = (values == np.floor(values)) & (values >= 0) & (values < k)
        elif name == MARGIN:
            fits = np.isfinite(values)
        else:
            fits = (values >= 0) & (values <= 1)
        if not fits.all():
            raise Violation(f"the column {VERDICT}{name} has {values[np.argmin(fits)]}")


def check_copies(table: pd.DataFrame) -> None:
    """Refuse a ``duplicate_of`` that names no example, or a copy."""
    try:
        first_copies(table)
    except (KeyError, TypeError) as error:
        raise Violation(f"duplicate_of names an example that is not there: {error}") from error
