"""Texts that Arrow and Parquet files store once and repeat without end.

A dictionary of one long text and a million references to it take little space until they become
texts. So the lengths of what is referred to are added up first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.readers.bounded import MIN_SUSPICIOUS_BYTES, refuse_expansion
from cgscore.errors import LabelError, SourceError
from cgscore.spelling import spelled

MAX_LABEL_BYTES = 10_000
_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}
_BATCH_ROWS = 1 << 16

Check = Callable[[object, int, int], None]


def check_parquet_texts(path: Path, metadata: Any, check: Check = refuse_expansion) -> None:
    """Raise `SourceError` if columns with a dictionary hold more than their file can."""
    import pyarrow.parquet as pq

    bounds: dict[str, int] = {}  # bytes, if every value were the whole dictionary
    for number in range(metadata.num_columns):
        if metadata.schema.column(number).physical_type != "BYTE_ARRAY":
            continue
        for group in range(metadata.num_row_groups):
            chunk = metadata.row_group(group).column(number)
            if any("DICTIONARY" in encoding for encoding in chunk.encodings):
                size = chunk.num_values * chunk.total_uncompressed_size
                bounds[chunk.path_in_schema] = bounds.get(chunk.path_in_schema, 0) + size
    doubtful = [name for name, size in bounds.items() if size > MIN_SUSPICIOUS_BYTES]
    if not doubtful:
        return
    packed, size = path.stat().st_size, 0
    with pq.ParquetFile(path, read_dictionary=doubtful, buffer_size=1 << 20) as file:
        for group in range(file.num_row_groups):
            for name in doubtful:
                for batch in file.iter_batches(_BATCH_ROWS, [group], [name], use_threads=False):
                    size += sum(_referenced_bytes(column) for column in batch.columns)
                    check(f"{path}: column {name!r}", packed, size)


def _referenced_bytes(column: Any) -> int:
    """Bytes of all texts that a column refers to, those in structures and lists, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_struct(column.type):
        return sum(map(_referenced_bytes, column.flatten()))
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _referenced_bytes(column.flatten())
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    if not _is_text(column.type.value_type):
        return 8 * len(column)
    lengths = np.asarray(pc.fill_null(pc.binary_length(column.dictionary), 0), np.int64)
    used = np.asarray(column.indices.drop_null(), np.int64)
    return int(lengths[used].sum())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    names = ("string", "large_string", "binary", "large_binary")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def check_texts(table: Any, name: str, packed: int) -> None:
    """Check types and lengths of a table from an untrusted source.

    Raises
    ------
    SourceError
        Texts are more than `packed` bytes can honestly hold, or a column is of a type that repeats
        values without end and is not read.
    """
    import pyarrow as pa

    table.validate()  # quick: that buffers are as long as they must be
    size = 0
    for column, field in zip(table.columns, table.schema, strict=True):
        kind = str(field.type)
        if kind in _VIEWS:
            size += sum(_viewed_bytes(chunk) for chunk in column.chunks)
        elif "_view" in kind or "run_end_encoded" in kind:
            raise SourceError(
                f"{name}: column {field.name!r} is of the type {field.type}, which is not read. "
                "Save it as plain values."
            )
        elif pa.types.is_dictionary(field.type) and _is_text(field.type.value_type):
            column.validate(full=True)  # or references may lead out of the dictionary
            size += sum(_referenced_bytes(chunk) for chunk in column.chunks)
        else:
            continue
        refuse_expansion(f"{name}: column {field.name!r}", packed, size)


def plain_texts(table: Any) -> Any:
    """The same table without views of texts, which become texts of their own."""
    for number, field in enumerate(table.schema):
        if str(field.type) in _VIEWS:
            plain = table.column(number).cast(_VIEWS[str(field.type)])
            table = table.set_column(number, field.with_type(plain.type), plain)
    return table


def _viewed_bytes(chunk: Any) -> int:
    """Bytes of all texts that an array of views shows: each view starts with its length."""
    views = np.frombuffer(chunk.buffers()[1], np.uint32)[::4]
    return int(views[chunk.offset : chunk.offset + len(chunk)].sum(dtype=np.int64))


def check_label_lengths(column: Any, name: str) -> None:
    """Raise `LabelError` for labels of more than `MAX_LABEL_BYTES` bytes: those are no classes."""
    import pyarrow.compute as pc

    parts = column.chunks if hasattr(column, "chunks") else [column]
    for part in parts:
        texts = part.dictionary if hasattr(part, "dictionary") else part
        if (
            _is_text(texts.type)
            and (pc.max(pc.binary_length(texts)).as_py() or 0) > MAX_LABEL_BYTES
        ):
            raise LabelError(
                f"{name} has a label of more than {MAX_LABEL_BYTES:,} bytes. Expected the names of "
                f"classes; say which column holds them: {spelled(label_column='NAME')}"
            )
