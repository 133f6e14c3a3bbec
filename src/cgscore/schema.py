"""What a saved result must hold: one schema for each format, checked once when it is loaded.

A result is a Parquet file. Its columns are those of `Scores.table`, then ``d``, ``alpha`` and
``loo``; its metadata hold one JSON document with format, ``meta``, classes and complexities. Files
are sent around and damaged, so nothing in them is believed: names, types, sizes and values are
compared with the schema, sizes before anything is read.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore import __version__
from cgscore.data.sources import OPTIONS, PREPROCESS
from cgscore.errors import MemoryLimitError, ResultError, StorageError
from cgscore.execution.machine import available_memory, show_bytes
from cgscore.features.encoding import SCALINGS
from cgscore.kernel import Array
from cgscore.labels import TASKS
from cgscore.troubles import first_copies

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1  # of saved files; readers refuse files with a higher number
KEY = b"cgscore"  # of the document in the file's metadata

MAX_DEPTH = 32  # of lists and objects in the document
MAX_INTEGER = 2**1000  # larger ones overflow where a number is shown or computed with
MAX_PATH, MAX_NAME = 4096, 255  # characters of a path, bytes of a name in it
#: A result takes at most this much memory, and so many times the bytes of its file.
ALLOWED_BYTES, MAX_RATIO = 1 << 28, 200.0

METHODS = ("exact", "iterative", "subsample", "partition")


class InvalidResultError(ResultError, StorageError):
    """A saved result does not follow its schema: it is damaged, or was changed or made up."""


@dataclass(frozen=True)
class Field:
    """One entry of ``meta``: what it must be, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    required: bool = True


def _number(value: Any) -> bool:
    """A finite number; true and false are none."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and math.isfinite(value)


def _real(value: Any) -> bool:
    """A number that may be infinite or missing."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(least: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63

    return fits


def _text(value: Any) -> bool:
    """A text that can be written anywhere."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _path(value: Any) -> bool:
    """A text that can name a file; names that are not Unicode come as lone surrogates."""
    if not isinstance(value, str) or not value or "\0" in value or len(value) > MAX_PATH:
        return False
    try:
        parts = os.fsencode(value).split(b"/")
    except UnicodeEncodeError:
        return False
    return max(map(len, parts)) <= MAX_NAME


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _column(value: Any) -> bool:
    """The name of a column: data frames have numbers, too."""
    return _text(value) or _whole(-(2**63))(value)


def _resize(value: Any) -> bool:
    side = _whole(1)
    pair = isinstance(value, list) and len(value) == 2 and all(map(side, value))
    return pair or side(value) or _text(value)


#: Options of `cgscore.read` that a file may name, and what their values must be.
READ_OPTIONS: Mapping[str, Callable[[Any], bool]] = {
    "labels": _path,
    "label_column": _column,
    "image_column": _column,
    "id_column": _column,
    "text_column": _column,
    "split": _text,
    "resize": _resize,
    "skip_bad": lambda value: isinstance(value, bool),
    "preprocess": lambda value: isinstance(value, str) and value in PREPROCESS,
    "encoder": _path,
    "scaling": lambda value: isinstance(value, str) and value in SCALINGS,
}


def _timings(value: Any) -> bool:
    return isinstance(value, dict) and "total" in value and all(map(_number, value.values()))


def _audit(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict):
        return False
    interval = value.get("rank_correlation_interval")
    pair = isinstance(interval, list) and len(interval) == 2 and all(map(_real, interval))
    return pair and _real(value.get("rank_correlation")) and _whole(0)(value.get("examples"))


def _choice(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(_text(value.get(name)) for name in ("method", "why"))


def _one_of(names: Iterable[str]) -> Callable[[Any], bool]:
    known = tuple(names)
    return lambda value: isinstance(value, str) and value in known


#: ``meta`` of format 1. Entries that are not named here are kept and never relied upon.
META_1: Mapping[str, Field] = {
    "version": Field("a text", _text),
    "method": Field(f"one of {', '.join(METHODS)}", _one_of(METHODS)),
    "task": Field(f"one of {', '.join(TASKS)}", _one_of(TASKS)),
    "ridge": Field("a number of 0 or more", lambda value: _number(value) and value >= 0),
    "n": Field("a whole number from 2", _whole(2)),
    "p": Field("a whole number from 1", _whole(1)),
    "classes": Field("a whole number", _whole(0)),
    "source": Field("the name of a source", _path),
    "read_options": Field("an object", lambda value: isinstance(value, dict)),
    "fingerprint": Field(
        "32 hexadecimal digits",
        lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None,
    ),
    "class_names": Field(
        "null or a list of texts",
        lambda value: value is None or (isinstance(value, list) and all(map(_text, value))),
    ),
    "notes": Field("a list of texts", _texts),
    "warnings": Field("a list of texts", _texts),
    "timings": Field("an object of numbers with a total", _timings),
    "audit": Field(
        "null, or an object with rank_correlation, its interval and the number of examples", _audit
    ),
    "preprocessing": Field("a text", lambda value: isinstance(value, str), required=False),
    "skipped": Field("a list of texts", _texts, required=False),
    "duplicates": Field("an object", lambda value: isinstance(value, dict), required=False),
    "choice": Field("null, or an object with method and why", _choice, required=False),
    "ridge_choice": Field(
        "null or an object", lambda value: value is None or isinstance(value, dict), required=False
    ),
    "seed": Field("a whole number", lambda value: type(value) is int, required=False),
}
META: Mapping[int, Mapping[str, Field]] = {1: META_1}

#: Columns of numbers, any of which may be missing or infinite (`cgscore.duplicates`).
NUMBERS = ("cg", "first_term", "partial", "third_term", "residual", "margin")
ARRAYS = ("d", "alpha", "loo")
REQUIRED = ("id", "given_label", *NUMBERS, "predicted_label", *ARRAYS)

#: What pandas may be told to make of a column; everything else follows from the column's type.
_PANDAS_TYPES = frozenset(
    [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    + ["Float32", "Float64", "boolean", "str", "string", "string[python]", "string[pyarrow]"]
    + ["object"]
)


@dataclass(frozen=True)
class Document:
    """The JSON document of a saved result, checked."""

    meta: dict[str, Any]
    classes: list[Any]
    complexity: list[float]

    @property
    def columns(self) -> int:
        """Columns of the leave-one-out predictions."""
        return max(1, len(self.classes))


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


def encode_document(
    meta: Mapping[str, Any], classes: list[Any], complexity: list[float]
) -> dict[bytes, bytes]:
    """The metadata of a file, to be written."""
    document = {"format": FORMAT, "meta": meta, "classes": classes, "complexity": complexity}
    return {KEY: json.dumps(document).encode()}


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
    InvalidResultError
        The file is missing, not a result, damaged, or from a newer version; it says what is wrong.
    MemoryLimitError
        There is not enough memory for it.
    """
    import pyarrow.parquet as pq

    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise InvalidResultError(f"{path} {what}.")
    # what Arrow raises for files that lie about themselves is not one family of errors
    try:
        footer = pq.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
    except Exception as error:
        raise InvalidResultError(_incomplete(path, error)) from error
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
            raise InvalidResultError(_incomplete(path, error)) from error
        return _checked(_decoded(arrow, schema, texts, room), document)
    except _Wrong as error:
        raise InvalidResultError(
            f"{path} is not a result as cgscore saves it: {error}. Score the data again."
        ) from error


class _Wrong(Exception):
    """What is wrong with a file, before the file is named."""


def _incomplete(path: Path, error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} is not a complete Parquet file: {reason}"


def read_document(metadata: Mapping[bytes, bytes], path: str) -> Document:
    """The checked document among the metadata of a Parquet file."""
    found = _parsed(metadata[KEY]) if KEY in metadata else None
    version = found.get("format") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(version, int) or not _whole(1)(version):
        raise InvalidResultError(f"{path} is a Parquet file, but not a result of cgscore.")
    meta = found.get("meta")
    if version not in META:
        writer = meta.get("version") if isinstance(meta, dict) else None
        by = f", written by cgscore {writer}" if _text(writer) else ""
        raise InvalidResultError(
            f"{path} has format {version}{by}. This is cgscore {__version__}, which reads up to "
            f"format {FORMAT}: update it."
        )
    if not isinstance(meta, dict):
        raise _Wrong("it has no meta")
    for name, field in META[version].items():
        if name not in meta:
            if field.required:
                raise _Wrong(f"meta[{name!r}] is missing; expected {field.expected}")
        elif not field.fits(meta[name]):
            raise _Wrong(f"meta[{name!r}] is {_shown(meta[name])}; expected {field.expected}")
    _check_options(meta["read_options"])
    classes = _classes(found.get("classes"), meta)
    complexity = found.get("complexity")
    if not isinstance(complexity, list) or not all(map(_real, complexity)):
        raise _Wrong("complexity is not a list of numbers")
    if len(complexity) != max(1, len(classes)):
        raise _Wrong(f"it has {len(complexity):,} complexities for {len(classes):,} classes")
    return Document(meta, classes, [float(value) for value in complexity])


def check_read_options(options: Mapping[str, Any]) -> None:
    """Refuse options that `cgscore.read` does not have, or values that it does not take."""
    try:
        _check_options(options)
    except _Wrong as error:
        raise InvalidResultError(f"The result was changed: {error}.") from error


def _check_options(options: Mapping[str, Any]) -> None:
    if not isinstance(options, Mapping):
        raise _Wrong("meta['read_options'] is not an object")
    for name, value in options.items():
        if name not in OPTIONS or name not in READ_OPTIONS:
            raise _Wrong(f"meta['read_options'] names an option that is not known: {_shown(name)}")
        if not READ_OPTIONS[name](value):
            raise _Wrong(f"meta['read_options'][{name!r}] cannot be {_shown(value)}")


def check_openable(name: str, what: str) -> None:
    """Refuse what a saved result names if it is neither a file nor a folder: opening may hang.

    A name that leads nowhere is left to whoever opens it, who says so better.
    """
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidResultError(
            f"The {what} that this result names, {name}, is neither a file nor a folder. It is "
            "not opened. Give the scored data: data=..."
        )


def exists(name: str) -> bool:
    """Whether a name leads to anything; names too long to be one do not."""
    try:
        os.stat(name)
    except (OSError, ValueError):
        return False
    return True


def _parsed(content: bytes) -> Any:
    """JSON that is not nested without end and has no number that overflows; None otherwise."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    level = [found]
    for _ in range(MAX_DEPTH):
        if any(type(value) is int and abs(value) > MAX_INTEGER for value in level):
            return None
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return found
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return ascii(text[:60])[1:-1] + ("..." if len(text) > 60 else "")


def _classes(classes: Any, meta: Mapping[str, Any]) -> list[Any]:
    """Labels of one type, ascending, as many as `meta` says; none for a regression."""
    if not isinstance(classes, list):
        raise _Wrong("classes is not a list")
    kinds = {type(label) for label in classes}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        raise _Wrong("classes are not all texts, all whole numbers, all numbers or all booleans")
    if kinds == {float} and not all(map(math.isfinite, classes)):
        raise _Wrong("classes hold a number that is not finite")
    if kinds == {int} and not all(-(2**63) <= label < 2**64 for label in classes):
        raise _Wrong("classes hold a number of more than 64 bits")
    if kinds == {str} and not all(map(_text, classes)):
        raise _Wrong("classes hold a text that is not Unicode")
    if any(not low < high for low, high in pairwise(classes)):
        raise _Wrong("classes are not sorted, or repeat")
    least = 2 if meta["task"] == "classification" else 0
    if len(classes) < least or (least == 0 and classes):
        raise _Wrong(f"it has {len(classes):,} classes for a {meta['task']}")
    if meta["classes"] != len(classes):
        raise _Wrong(f"meta['classes'] is {meta['classes']:,}, and there are {len(classes):,}")
    names = meta["class_names"]
    if names is not None and len(names) != len(classes):
        raise _Wrong(f"it has {len(names):,} class names for {len(classes):,} classes")
    return classes


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
        raise _Wrong("two of its columns have the same name")
    for name in REQUIRED:
        if name not in names:
            raise _Wrong(f"the column {name} is missing")
    families = {field.name: _family(field.type) for field in schema if field.name != "loo"}
    labels = "float"
    if document.classes:
        labels = {bool: "bool", int: "int", float: "float", str: "text"}[type(document.classes[0])]
    wanted = dict.fromkeys((*NUMBERS, "d", "alpha"), "float")
    wanted |= {"given_label": labels, "predicted_label": labels}
    for name, family in families.items():
        expected = wanted.get(name, family)
        if not family or family != expected or (name == "id" and family == "null"):
            raise _Wrong(
                f"the column {_shown(name)} is of type {schema.field(name).type}"
                + (f"; expected {expected}" if name in wanted else "")
            )
    kind, k = schema.field("loo").type, document.columns
    if not (
        pa.types.is_fixed_size_list(kind)
        and kind.list_size == k
        and pa.types.is_floating(kind.value_type)
    ):
        raise _Wrong(f"the column loo is of type {kind}; expected {k} numbers in each row")


def _check_sizes(footer: Any, schema: Any, document: Document, room: float) -> None:
    """Refuse sizes that do not agree, or that the file cannot hold, before anything is read."""
    n, k = footer.num_rows, document.columns
    if n != document.meta["n"]:
        raise _Wrong(f"it has {n:,} rows, and meta['n'] is {document.meta['n']:,}")
    unpacked, total = 0, 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        total += group.num_rows
        for i in range(group.num_columns):
            part = group.column(i)
            times = k if part.path_in_schema.split(".")[0] == "loo" else 1
            if group.num_rows < 0 or part.num_values != group.num_rows * times:
                raise _Wrong(
                    f"{part.path_in_schema} has {part.num_values:,} values in "
                    f"{group.num_rows:,} rows"
                )
            unpacked += max(0, part.total_uncompressed_size)
    if total != n:
        raise _Wrong(f"its parts have {total:,} rows, and {n:,} are announced")
    needed = max(unpacked, n * 8 * (len(schema.names) - 1 + k))
    _check_room(needed, room)


def _check_room(needed: int, room: float) -> None:
    if needed > room:
        raise _Wrong(
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
        raise _Wrong(f"texts cannot be read ({error})") from error
    return arrow


def _checked(arrow: Any, document: Document) -> SavedResult:
    """The parts of a result whose columns have the right types: now their values."""
    n, k = arrow.num_rows, document.columns
    loo = arrow["loo"].combine_chunks()
    arrays = {"d": arrow["d"], "alpha": arrow["alpha"], "loo": loo, "loo ": loo.flatten()}
    for name, values in arrays.items():
        if values.null_count:
            raise _Wrong(f"the column {name.strip()} has rows without a value")
    predictions = loo.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if predictions.shape != (n * k,):
        raise _Wrong(f"loo has {len(predictions):,} numbers for {n:,} rows of {k:,}")
    if document.classes and np.isinf(predictions).any():
        raise _Wrong("loo has a prediction that is infinite")
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
    described = _parsed((arrow.schema.metadata or {}).get(b"pandas", b"{}"))
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
        raise _Wrong(f"the table cannot be read ({type(error).__name__}: {error})") from error
    if list(table.columns) != arrow.column_names or len(table) != arrow.num_rows:
        raise _Wrong("the table has other columns or rows than the file")
    return table


def _check_labels(table: pd.DataFrame, document: Document) -> NDArray[Any]:
    """The classes, in the type of the labels; every label is one of them, and each has a label."""
    if table["given_label"].isna().any():
        raise _Wrong("given_label has rows without a label")
    given = table["given_label"].to_numpy()
    if not document.classes:
        if not np.isfinite(given.astype(np.float64)).all():
            raise _Wrong("given_label has a number that is not finite")
        return np.array([])
    try:
        classes = np.array(document.classes, dtype=given.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise _Wrong(f"classes are not of the type of the labels ({error})") from error
    if classes.tolist() != document.classes:
        raise _Wrong("classes are not of the type of the labels")
    if len(np.unique(_among(given, classes, "given_label"))) < len(classes):
        raise _Wrong("there are classes without an example")
    predicted = table["predicted_label"]
    _among(predicted[predicted.notna()].to_numpy(), classes, "predicted_label")
    return classes


def _among(values: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Positions of labels among the classes."""
    place = np.searchsorted(classes, values)
    wrong = classes[np.minimum(place, len(classes) - 1)] != values
    if wrong.any():
        label = values[np.argmax(wrong)]
        raise _Wrong(f"{name} has {_shown(label)}, which is not among the classes")
    return place


def _check_copies(table: pd.DataFrame) -> None:
    """Refuse a ``duplicate_of`` that names no example, or a copy."""
    try:
        first_copies(table)
    except (KeyError, TypeError) as error:
        raise _Wrong(f"duplicate_of names an example that is not there: {error}") from error
