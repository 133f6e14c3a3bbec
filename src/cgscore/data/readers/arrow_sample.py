"""Samples of large Parquet files, Feather files and saved Hugging Face datasets.

Of a Parquet file the first rows of some row groups are read, of the others the first rows of some
record batches; and the column of the labels, piece by piece. Columns are read a few at a time: each
takes a buffer and a page of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.arrow import from_rows, parquet_rows
from cgscore.data.readers.arrow_rows import (
    Rows,
    column_values,
    image_column,
    is_list,
    label_column,
)
from cgscore.data.readers.arrow_sizes import check_sizes, file_messages
from cgscore.data.readers.arrow_texts import check_label_lengths, check_parquet_texts, check_texts
from cgscore.data.readers.bounded import check_columns, check_expansion, check_member, reading
from cgscore.data.readers.hugging_face import data_files, split_folder
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import (
    MAX_BLOCKS,
    Sample,
    count_labels,
    is_large,
    is_large_table,
    rows_of_sample,
)
from cgscore.errors import CGScoreError, LabelError

_PARQUET_COLUMNS = 64  # read together
_FEATHER_PARTS = 16  # in which the columns of a Feather file are read
_LABEL_ROWS = 1 << 16  # of the column of labels, read at a time
_BUFFER_BYTES = 1 << 17  # of a column that are read ahead

Head = Callable[[int, int, list[str]], Any]


def sample_parquet(path: Path, options: ReadOptions) -> Sample | None:
    """Some rows of a Parquet file; None if it is small."""
    import pyarrow.parquet as pq

    with reading(path, "Parquet file"), pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
        metadata = file.metadata
        check_columns(path, metadata.num_columns, options.max_columns)
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        cells = 8 * metadata.num_rows * metadata.num_columns
        size = max(sum(group.total_byte_size for group in groups), cells)
        check_expansion(path, path.stat().st_size, size)
        check_parquet_texts(path, metadata, check_expansion)
        whole = parquet_rows(path, file)

        def head(group: int, count: int, columns: list[str]) -> Any:
            parts = [
                next(file.iter_batches(count, [group], whole.leaves(part), use_threads=False))
                for part in _cut(columns, _PARQUET_COLUMNS)
            ]
            return _joined(parts)

        def labels(column: str) -> Iterator[Any]:
            for group in range(len(groups)):
                for batch in file.iter_batches(_LABEL_ROWS, [group], [column], use_threads=False):
                    yield batch.column(0)

        return _sample(whole, [group.num_rows for group in groups], size, head, labels, options)


def sample_feather(path: Path, options: ReadOptions) -> Sample | None:
    """Some rows of a Feather file; None if it is small."""
    import pyarrow as pa

    with reading(path, "Feather file"), pa.memory_map(str(path)) as source:
        stored = path.stat().st_size
        sizes = check_sizes(
            path, file_messages(source), stored, options.max_columns, check_expansion
        )
        schema = pa.ipc.open_file(source).schema

        def opened(columns: list[str]) -> Any:
            fields = pa.ipc.IpcReadOptions(
                included_fields=[schema.get_field_index(name) for name in columns],
                use_threads=False,
            )
            return pa.ipc.open_file(source, options=fields)

        def head(number: int, count: int, columns: list[str]) -> Any:
            step = -(-len(columns) // _FEATHER_PARTS)
            parts = [
                _checked(opened(part).get_batch(number).slice(0, count)).select(part)
                for part in _cut(columns, step)
            ]
            return _joined(parts)

        def labels(column: str) -> Iterator[Any]:
            file = opened([column])
            return (_checked(file.get_batch(i)).column(0) for i in range(len(sizes.rows)))

        whole = Rows(str(path), schema, sum(sizes.rows), lambda columns: iter(()))
        return _sample(whole, sizes.rows, sizes.size, head, labels, options)


def sample_saved_dataset(folder: Path, options: ReadOptions) -> Sample | None:
    """Some rows of a saved Hugging Face dataset; None if it is small."""
    import pyarrow as pa

    folder = split_folder(folder, options.split)
    names = data_files(folder)
    with reading(folder, "saved dataset"):
        rows: list[int] = []
        size, schema = 0, None
        for name in names:
            stored = check_member(folder / name, folder)
            with pa.memory_map(str(folder / name)) as source:
                messages = pa.ipc.MessageReader.open_stream(source)
                sizes = check_sizes(
                    folder / name, messages, stored, options.max_columns, check_expansion
                )
            rows += sizes.rows
            size += sizes.size
            with pa.memory_map(str(folder / name)) as source:
                schema = schema or pa.ipc.open_stream(source).schema

        def batches() -> Iterator[Any]:
            for name in names:
                with pa.memory_map(str(folder / name)) as source:
                    yield from pa.ipc.open_stream(source)

        def head(number: int, count: int, columns: list[str]) -> Any:
            batch = next(batch for i, batch in enumerate(batches()) if i == number)
            return _copied(_checked(batch.select(columns).slice(0, count)))

        def labels(column: str) -> Iterator[Any]:
            return (_checked(batch.select([column])).column(0) for batch in batches())

        whole = Rows(str(folder), schema, sum(rows), lambda columns: iter(()))
        return _sample(whole, rows, size, head, labels, options)


def _sample(
    whole: Rows,
    lengths: list[int],
    size: int,
    head: Head,
    labels: Callable[[str], Iterable[Any]],
    options: ReadOptions,
) -> Sample | None:
    """The first rows of some pieces of a table; None if all of it is small.

    Parameters
    ----------
    whole : Rows
        The table.
    lengths : list of int
        Rows of each piece: row group or record batch.
    size : int
        Bytes of all once unpacked.
    head : function
        The first rows of a piece: its number, how many, which columns.
    labels : function
        A column in parts.
    """
    if any("view" in str(field.type) or "run_end" in str(field.type) for field in whole.schema):
        return None  # such columns are looked at whole, or refused
    filled = [i for i, length in enumerate(lengths) if length]
    if not filled:
        return None
    n, numbers = whole.count, len(whole.schema.names)
    if image_column(whole, options) is not None or any(is_list(f.type) for f in whole.schema):
        first = _read(whole, [(filled[0], 1)], head, options)
        if first is None:
            return None  # reading it whole will say what is wrong
        numbers = int(first.X.size)
    if not is_large_table(size) and not is_large(n * numbers):
        return None
    rows = min(n, rows_of_sample(numbers, size // n))
    blocks = min(MAX_BLOCKS, len(filled), rows)
    chosen = [filled[i] for i in np.linspace(0, len(filled) - 1, blocks).astype(int)]
    pieces = [(i, min(lengths[i], rows // blocks)) for i in chosen]
    dataset = from_rows(_part(whole, pieces, head), options, lambda: _part(whole, pieces, head))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp)
    positions = np.concatenate([starts[i] + np.arange(count) for i, count in pieces])
    if dataset.rows is not None:  # some were left out
        positions = positions[dataset.rows]
    label = label_column(whole, options)
    counts = None if label is None else _count_labels(labels(label), whole.name, label)
    return Sample(dataset, positions, n, counts)


def _part(whole: Rows, pieces: list[tuple[int, int]], head: Head) -> Rows:
    import pyarrow as pa

    def batches(columns: list[str]) -> Iterator[Any]:
        for number, count in pieces:
            batch = head(number, count, columns)
            check_texts(pa.Table.from_batches([batch]), whole.name, batch.nbytes)
            yield batch

    return Rows(whole.name, whole.schema, sum(count for _, count in pieces), batches)


def _read(
    whole: Rows, pieces: list[tuple[int, int]], head: Head, options: ReadOptions
) -> Any | None:
    part = _part(whole, pieces, head)
    try:
        return from_rows(part, options, lambda: part)
    except CGScoreError:
        return None


def _count_labels(parts: Iterable[Any], name: str, label: str) -> Counter[Any]:
    def values() -> Iterator[NDArray[Any]]:
        for part in parts:
            if part.null_count:
                raise LabelError(
                    f"{name}: column {label!r} has no label in {part.null_count:,} or more rows. "
                    "Label these rows or leave them out."
                )
            check_label_lengths(part, f"{name}: column {label!r}")
            yield column_values(part)

    return count_labels(values(), f"{name}: column {label!r}")


def _cut(columns: list[str], step: int) -> list[list[str]]:
    return [columns[i : i + step] for i in range(0, len(columns), step)]


def _checked(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def _copied(batch: Any) -> Any:
    """A copy of a batch, so that the memory it is a part of can be freed."""
    return batch.take(np.arange(batch.num_rows))


def _joined(parts: list[Any]) -> Any:
    import pyarrow as pa

    parts = [_copied(part) for part in parts]
    fields = [field for part in parts for field in part.schema]
    columns = [column for part in parts for column in part.columns]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
