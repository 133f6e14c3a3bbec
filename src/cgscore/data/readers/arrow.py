"""Arrow tables: Parquet and Feather files, pyarrow tables, data frames of polars.

A table with an image column (a struct with the field ``bytes``, as on the Hugging Face hub, or
bytes) becomes images, one with a single column of lists becomes those numbers, any other is encoded
like a CSV file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.annotations import annotations_of
from cgscore.data.dataset import Dataset
from cgscore.data.image_decoder import Encoded, picture
from cgscore.data.images import decode_all, notes_and_skipped
from cgscore.data.origins import Origins, check_origins, named_columns, origin_values
from cgscore.data.readers.arrow_rows import (
    Rows,
    class_names,
    column_values,
    image_column,
    is_list,
    is_number,
    label_column,
)
from cgscore.data.readers.arrow_sizes import check_sizes, file_messages
from cgscore.data.readers.arrow_texts import (
    check_label_lengths,
    check_parquet_texts,
    check_texts,
    plain_texts,
)
from cgscore.data.readers.bounded import check_columns, check_expansion, reading, refuse_size
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.spooled import stack_rows
from cgscore.data.tables import check_dropped, dropped_note, from_frame, table_of_polars
from cgscore.errors import DataError, OptionError, SourceError
from cgscore.spelling import spelled

if TYPE_CHECKING:
    from PIL.Image import Image

_BATCH_ROWS = 512  # taken from a file at a time
_BUFFER_BYTES = 1 << 20  # of a column that are read ahead
_BATCH_BYTES = 1 << 26  # of a column that are taken at a time, if its rows are alike
TABLE_COPIES = 4  # of the numbers of a table, in memory at once while it is encoded


def read_parquet(path: Path, options: ReadOptions) -> Dataset:
    """A Parquet file, read by row groups."""
    with checked_parquet(path, options.max_columns) as file:
        return from_rows(parquet_rows(path, file), options, lambda: _reopened(path))


@contextmanager
def checked_parquet(path: Path, max_columns: int | None = None) -> Iterator[Any]:
    """A Parquet file that is open, and promises no more than it and the memory can hold."""
    import pyarrow.parquet as pq

    with reading(path, "Parquet file"), pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
        _check_claims(path, file.metadata, max_columns)
        check_parquet_texts(path, file.metadata)
        yield file


def parquet_rows(path: Path, file: Any) -> Rows:
    """All rows of a Parquet file that is open."""

    def batches(columns: list[str]) -> Iterator[Any]:
        parts = rows.leaves(columns)
        # group by group, or all of them would stay in memory until the last is read
        for group in range(file.num_row_groups):
            count = (
                _batch_rows(file.metadata.row_group(group)) if len(columns) == 1 else _BATCH_ROWS
            )
            yield from file.iter_batches(count, [group], parts, use_threads=False)

    rows = Rows(str(path), file.schema_arrow, file.metadata.num_rows, batches)
    return rows


def _batch_rows(group: Any) -> int:
    """Rows taken from a group at a time: few if they are large, as photographs and lists are.

    Bytes are those of encoded pages, which say nothing about repeated numbers; so these count, too.
    """
    numbers = max(group.column(at).num_values for at in range(group.num_columns))
    size = max(1, group.total_byte_size, 8 * numbers)
    return int(max(1, min(_BATCH_ROWS, _BATCH_BYTES * group.num_rows // size)))


def _check_claims(path: Path, metadata: Any, max_columns: int | None) -> None:
    """Refuse a file whose metadata promise more than it can hold, or than memory holds."""
    check_columns(path, metadata.num_columns, max_columns)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if metadata.num_rows != sum(group.num_rows for group in groups):
        raise SourceError(f"{path} contradicts itself on its number of rows. It is damaged.")
    size = sum(group.total_byte_size for group in groups)
    cells = 8 * metadata.num_rows * metadata.num_columns  # as pandas will hold them
    check_expansion(path, path.stat().st_size, max(size, cells))
    refuse_size(path, max(size - _list_bytes(metadata), cells))


def _list_bytes(metadata: Any) -> int:
    """Bytes of the one column of lists, if there is one: these need not fit in memory."""
    schema = metadata.schema.to_arrow_schema()
    lists = [field.name for field in schema if is_list(field.type)]
    if len(lists) != 1:
        return 0
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    others = tuple(f"{name}." for name in schema.names if name.startswith(f"{lists[0]}."))
    return sum(
        group.column(at).total_uncompressed_size
        for group in groups
        for at in range(group.num_columns)
        if f"{group.column(at).path_in_schema}.".startswith(f"{lists[0]}.")
        and not f"{group.column(at).path_in_schema}.".startswith(others)
    )


def _reopened(path: Path) -> Rows:
    import pyarrow.parquet as pq

    return parquet_rows(path, pq.ParquetFile(path, buffer_size=_BUFFER_BYTES))


def read_feather(path: Path, options: ReadOptions) -> Dataset:
    """A Feather file (version 2, which is an Arrow file)."""
    import pyarrow as pa

    with reading(path, "Feather file"), pa.memory_map(str(path)) as source:
        check_sizes(path, file_messages(source), path.stat().st_size, options.max_columns)
        table = pa.ipc.open_file(source).read_all()
        check_texts(table, str(path), path.stat().st_size)
        table.validate(full=True)
        return from_table(table, options, str(path), checked=True)


def is_table(source: Any) -> bool:
    """Whether this is an object of pyarrow."""
    return type(source).__module__.startswith("pyarrow")


def from_polars(source: Any, options: ReadOptions) -> Dataset:
    """The examples of a data frame of polars."""
    return from_table(table_of_polars(source), options, "data frame")


def from_table(
    table: Any,
    options: ReadOptions,
    name: str = "arrow table",
    *,
    checked: bool = False,
    local_files: bool = False,
) -> Dataset:
    """A pyarrow table, whose texts may have been checked; `local_files` as of `Rows`."""
    if not checked:
        check_texts(table, name, table.nbytes)
    table = plain_texts(table)
    rows = Rows(
        name,
        table.schema,
        table.num_rows,
        lambda columns: iter(table.select(columns).to_batches(max_chunksize=_BATCH_ROWS)),
        local_files,
    )
    return from_rows(rows, options, lambda: rows)


def from_rows(rows: Rows, options: ReadOptions, reopen: Callable[[], Rows]) -> Dataset:
    """Images, lists of numbers or a table, whatever the columns are."""
    import pyarrow as pa

    if rows.count == 0:
        raise DataError(f"{rows.name} has no rows. Expected at least two examples.")
    names = list(rows.schema.names)
    if len(set(names)) < len(names):
        raise SourceError(f"{rows.name} has two columns of the same name. Rename one.")
    if options.has_origins:
        check_origins(names, options, rows.name)
    label = label_column(rows, options)
    if options.dropped:
        check_dropped(names, options, label, rows.name)
        fields = [field for field in rows.schema if field.name not in options.dropped]
        rows = replace(rows, schema=pa.schema(fields, rows.schema.metadata))
        dataset = from_rows(rows, replace(options, drop=None), reopen)
        return replace(dataset, notes=(dropped_note(options), *dataset.notes))
    image = image_column(rows, options)
    if options.text_column is not None or options.context.texts:
        names = [f.name for f in rows.schema if not (is_list(f.type) or f.name == image)]
    elif image is not None:
        return _with_origins(_images(rows, options, image, label, reopen), rows, options)
    lists = [name for name in names if is_list(rows.schema.field(name).type) and name != label]
    if len(lists) == 1:
        return _with_origins(_lists(rows, lists[0], label, options), rows, options)
    numbers = [name for name in names if is_number(rows.schema.field(name).type)]
    size = 8 * rows.count * max(len(names), TABLE_COPIES * len(numbers))
    refuse_size(rows.name, size, "needs", "while it is read")
    schema = pa.schema([rows.schema.field(name) for name in names])
    whole = pa.Table.from_batches(_within_memory(rows.batches(names), rows.name), schema)
    if label is not None:
        check_label_lengths(whole.column(label), f"{rows.name}: column {label!r}")
    frame = whole.replace_schema_metadata(None).to_pandas()  # types say all; metadata may lie
    labelled = replace(options, label_column=label)
    dataset = from_frame(frame, labelled, rows.name, labels_inside=True)
    return replace(dataset, class_names=class_names(rows, label))


def _with_origins(dataset: Dataset, rows: Rows, options: ReadOptions) -> Dataset:
    """Images or lists with the columns that name where their labels come from."""
    if not options.has_origins:
        return dataset
    if len(options.annotators) == 1:
        raise OptionError(
            f"{rows.name}: {spelled(annotator_columns=options.annotators[0])} stands for one row "
            "per label, which is for tables of numbers or texts. Give one row per example, and "
            "name a column of labels for every annotator."
        )
    columns = {
        role: origin_values(column_values(rows.column(name)))
        for role, name in named_columns(options).items()
    }
    given = {name: column_values(rows.column(name)) for name in options.annotators}
    annotations = annotations_of(given, rows.name) if given else None
    return Origins(columns, annotations).attached(dataset)


def _within_memory(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """The same batches; `SourceError` once they hold more than memory does."""
    size = 0
    for number, batch in enumerate(batches):
        size += batch.nbytes
        if number % 64 == 0 or batch.nbytes > _BATCH_BYTES:
            refuse_size(name, size)
        yield batch


def _images(
    rows: Rows,
    options: ReadOptions,
    image: str,
    label: str | None,
    reopen: Callable[[], Rows],
) -> Dataset:
    name = rows.name
    decoded = decode_all(
        lambda: (_contents(batch.column(0), rows) for batch in rows.batches([image])),
        lambda i: f"{name}: the image in row {i}",
        rows.count,
        options,
    )
    positions = decoded.positions
    y = None if label is None else column_values(rows.column(label))[positions]
    ids: NDArray[Any] = positions
    if options.id_column is not None:
        ids = column_values(rows.column(options.id_column))[positions]
        if len(set(ids.tolist())) < len(ids):
            raise DataError(f"{name}: column {options.id_column!r} repeats values.")

    def draw(i: int) -> Image:
        position = int(positions[i])
        for batch in reopen().batches([image]):
            if position < batch.num_rows:
                return picture(_contents(batch.column(0).slice(position, 1), rows)[0])
            position -= batch.num_rows
        raise IndexError(i)

    return Dataset(
        decoded.pixels,
        y,
        ids,
        class_names=class_names(rows, label),
        source=name,
        image=True,
        pictures=draw,
        rows=positions if decoded.problems else None,
        **notes_and_skipped(decoded, lambda i: f"row {i}"),
    )


def _contents(column: Any, rows: Rows) -> list[Encoded]:
    """Encoded images of a column; a missing one is empty and fails as an image later."""
    import pyarrow as pa

    paths: list[str | None] = [None] * len(column)
    if pa.types.is_struct(column.type):
        if rows.local_files and column.type.get_field_index("path") >= 0:
            paths = column.field("path").to_pylist()
        column = column.field("bytes")
    return [
        content or (Path(path) if path else b"")
        for content, path in zip(column.to_pylist(), paths, strict=True)
    ]


def _lists(rows: Rows, column: str, label: str | None, options: ReadOptions) -> Dataset:
    """One column of lists of numbers, all of one length, as the inputs."""
    X = stack_rows(_list_parts(rows, column), rows.count, rows.name)
    y = None if label is None else column_values(rows.column(label))
    used = (column, label, *named_columns(options).values(), *options.annotators)
    left_out = [name for name in rows.schema.names if name not in used]
    return Dataset(
        X,
        y,
        np.arange(rows.count),
        class_names=class_names(rows, label),
        source=rows.name,
        notes=(f"inputs are the column {column!r}; others left out: {', '.join(left_out)}",)
        if left_out
        else (),
    )


def _list_parts(rows: Rows, column: str) -> Iterator[NDArray[Any]]:
    """The rows of a column of lists, batch by batch, all of one length."""
    length = None
    for batch in rows.batches([column]):
        values = flat = batch.column(0)
        if not len(values):
            continue
        while is_list(flat.type):
            if flat.null_count:
                raise DataError(f"{rows.name}: column {column!r} has missing lists.")
            _check_lengths(flat, f"{rows.name}: column {column!r}")
            flat = flat.flatten()
        if not is_number(flat.type):
            raise DataError(
                f"{rows.name}: column {column!r} holds lists of {flat.type}, not numbers."
            )
        if flat.null_count or not len(flat):
            raise DataError(f"{rows.name}: column {column!r} is not one table of numbers.")
        part = flat.to_numpy(zero_copy_only=False).reshape(len(values), -1)
        if length not in (None, part.shape[1]):
            raise DataError(f"{rows.name}: column {column!r} holds lists of different lengths.")
        length = part.shape[1]
        yield part


def _check_lengths(lists: Any, name: str) -> None:
    """Refuse lists of different lengths; those of a fixed size are alike."""
    import pyarrow as pa

    if pa.types.is_fixed_size_list(lists.type) or not len(lists):
        return
    lengths = np.asarray(lists.value_lengths())
    if lengths.min() < lengths.max():
        raise DataError(f"{name} holds lists of different lengths.")
