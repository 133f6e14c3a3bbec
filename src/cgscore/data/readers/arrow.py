"""Arrow tables: Parquet and Feather files, pyarrow tables, Hugging Face datasets.

A table with an image column (a struct with the field ``bytes``, as on the Hugging Face hub, or
bytes) becomes images, one with a single column of lists becomes those numbers, any other is encoded
like a CSV file. Class names come from the ``huggingface`` metadata of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.data.image_decoder import Encoded, picture
from cgscore.data.images import decode_all, notes_and_skipped
from cgscore.data.readers.arrow_sizes import check_sizes, file_messages
from cgscore.data.readers.arrow_texts import (
    check_label_lengths,
    check_parquet_texts,
    check_texts,
    plain_texts,
)
from cgscore.data.readers.bounded import (
    check_columns,
    check_link,
    check_member,
    reading,
    refuse_expansion,
    refuse_size,
)
from cgscore.data.readers.options import ReadOptions
from cgscore.data.tables import LABEL_COLUMNS, columns_in_words, from_frame, table_of_polars
from cgscore.errors import DataError, SourceError
from cgscore.execution.machine import show_bytes

if TYPE_CHECKING:
    from PIL.Image import Image

_BATCH = 512  # rows taken from a file at a time
_BUFFER = 1 << 20  # bytes of a column that are read ahead
_BATCH_BYTES = 1 << 26  # of a column that are taken at a time, if its rows are alike
TABLE_COPIES = 4  # of the numbers of a table that exist at once while it is encoded
MAX_DESCRIPTION = 50_000_000  # bytes of the JSON that describes a saved dataset


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
    """

    name: str
    schema: Any
    count: int
    batches: Callable[[list[str]], Iterator[Any]]

    def features(self) -> dict[str, Any]:
        """What the Hugging Face metadata say of the columns; empty without them."""
        try:
            document = json.loads((self.schema.metadata or {})[b"huggingface"])
            found = document["info"]["features"]
        except (KeyError, ValueError, TypeError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def leaves(self, columns: list[str]) -> list[str]:
        """What a Parquet file is asked for: of images the bytes, of others all."""
        return [
            f"{name}.bytes" if _has_bytes(self.schema.field(name).type) else name
            for name in columns
        ]

    def column(self, name: str) -> Any:
        """One whole column."""
        import pyarrow as pa

        parts = [batch.column(0) for batch in self.batches([name])]
        return pa.chunked_array(parts, self.schema.field(name).type)


def read_parquet(path: Path, options: ReadOptions) -> Dataset:
    """A Parquet file, read by row groups."""
    import pyarrow.parquet as pq

    with reading(path, "Parquet file"), pq.ParquetFile(path, buffer_size=_BUFFER) as file:
        _refuse_claims(path, file.metadata, options)
        check_parquet_texts(path, file.metadata)
        return from_rows(parquet_rows(path, file), options, lambda: _reopened(path))


def parquet_rows(path: Path, file: Any) -> Rows:
    """All rows of a Parquet file that is open."""

    def batches(columns: list[str]) -> Iterator[Any]:
        parts = rows.leaves(columns)
        # group by group, or all of them would stay in memory until the last is read
        for group in range(file.num_row_groups):
            count = _batch_rows(file.metadata.row_group(group)) if len(columns) == 1 else _BATCH
            yield from file.iter_batches(count, [group], parts, use_threads=False)

    rows = Rows(str(path), file.schema_arrow, file.metadata.num_rows, batches)
    return rows


def _batch_rows(group: Any) -> int:
    """Rows taken from a group at a time: few if they are large, as photographs are."""
    return int(max(1, min(_BATCH, _BATCH_BYTES * group.num_rows // max(1, group.total_byte_size))))


def _refuse_claims(path: Path, metadata: Any, options: ReadOptions) -> None:
    """Refuse a file whose metadata promise more than it can hold, or than memory holds."""
    check_columns(path, metadata.num_columns, options.max_columns)
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    cells = 8 * metadata.num_rows * metadata.num_columns  # as pandas will hold them
    refuse_expansion(path, path.stat().st_size, max(size, cells))


def _reopened(path: Path) -> Rows:
    import pyarrow.parquet as pq

    return parquet_rows(path, pq.ParquetFile(path, buffer_size=_BUFFER))


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
    table = table_of_polars(source)
    if options.labels is None:
        return from_table(table, options, "data frame")
    return from_frame(table.to_pandas(), options)


def from_table(
    table: Any, options: ReadOptions, name: str = "arrow table", *, checked: bool = False
) -> Dataset:
    """A pyarrow table, whose texts may have been checked."""
    if not checked:
        check_texts(table, name, table.nbytes)
    table = plain_texts(table)
    rows = Rows(
        name,
        table.schema,
        table.num_rows,
        lambda columns: iter(table.select(columns).to_batches(max_chunksize=_BATCH)),
    )
    return from_rows(rows, options, lambda: rows)


def is_saved_dataset(folder: Path) -> bool:
    """Whether a folder was written by `datasets.Dataset.save_to_disk`."""
    return any(
        path.exists() and not path.is_dir()
        for path in (folder / "state.json", folder / "dataset_dict.json")
    )


def read_saved_dataset(folder: Path, options: ReadOptions) -> Dataset:
    """A Hugging Face dataset saved to disk, or one split of several."""
    import pyarrow as pa

    folder = split_folder(folder, options.split)
    names = data_files(folder)
    with reading(folder, "saved dataset"):
        parts, packed = [], 0
        for name in names:
            size = check_member(folder / name, folder)
            packed += size
            with pa.memory_map(str(folder / name)) as source:
                messages = pa.ipc.MessageReader.open_stream(source)
                check_sizes(folder / name, messages, size, options.max_columns)
            with pa.memory_map(str(folder / name)) as source:
                parts.append(pa.ipc.open_stream(source).read_all())
        table = pa.concat_tables(parts)
        check_texts(table, str(folder), packed)
        table.validate(full=True)
        return from_table(table, options, str(folder), checked=True)


def data_files(folder: Path) -> list[str]:
    """The data files of a saved dataset, which are beside its description."""
    files = _json(folder / "state.json").get("_data_files")
    names: list[Any] = [
        one.get("filename") if isinstance(one, dict) else None
        for one in (files if isinstance(files, list) else [])
    ]
    if not names or not all(_is_name(name) for name in names):
        raise SourceError(f"{folder / 'state.json'} does not name the data files beside it.")
    return names


def split_folder(folder: Path, split: str | None) -> Path:
    """The folder of one split of a saved dataset; the folder itself if it has none."""
    if not (folder / "dataset_dict.json").is_file():
        return folder
    splits = _json(folder / "dataset_dict.json").get("splits")
    if not isinstance(splits, list) or not splits or not all(_is_name(one) for one in splits):
        raise SourceError(f"{folder / 'dataset_dict.json'} has no list of splits.")
    chosen = folder / _chosen(folder, splits, split)
    check_link(chosen, folder)
    return chosen


def _json(path: Path) -> dict[str, Any]:
    if check_member(path, path.parent) > MAX_DESCRIPTION:
        raise SourceError(f"{path} is larger than {show_bytes(MAX_DESCRIPTION)}.")
    with reading(path, "description of a dataset"):
        document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise SourceError(f"{path} does not describe a dataset.")
    return document


def _is_name(text: Any) -> bool:
    """Whether a text from a file names an entry of the same folder and nothing else."""
    return isinstance(text, str) and text not in ("", ".", "..") and Path(text).name == text


def _chosen(source: object, splits: list[str], split: str | None) -> str:
    if split is None and len(splits) > 1 and "train" not in splits:
        raise SourceError(f"{source} has the splits {', '.join(splits)}. Say which: --split")
    chosen = split or ("train" if "train" in splits else splits[0])
    if chosen not in splits:
        raise SourceError(f"{source} has no split {chosen!r}. Its splits are {', '.join(splits)}.")
    return chosen


def is_hugging_face(source: Any) -> bool:
    """Whether an object is a dataset of the `datasets` library."""
    return type(source).__module__.split(".")[0] == "datasets"


def from_hugging_face(source: Any, options: ReadOptions) -> Dataset:
    """A dataset of the `datasets` library in memory."""
    if isinstance(source, dict):
        source = source[_chosen("The dataset", list(source), options.split)]
    if not hasattr(source, "with_format"):
        raise SourceError(f"A {type(source).__name__} of Hugging Face is no dataset.")
    whole = source.with_format("arrow")
    if hasattr(source, "__len__"):
        return from_table(whole[:], options, "Hugging Face dataset")
    return from_table(_gathered(whole), options, "Hugging Face stream")


def _gathered(stream: Any) -> Any:
    """All rows of a dataset that streams by: scoring compares each with every other."""
    import pyarrow as pa

    parts, size = [], 0
    for part in stream.iter(_BATCH):
        size += part.nbytes
        refuse_size("The Hugging Face stream, so far,", size)
        parts.append(part)
    if not parts:
        raise DataError("The Hugging Face stream has no rows. Expected at least two examples.")
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowInvalid as error:
        raise DataError(f"Types change within the Hugging Face stream: {error}") from error


def from_rows(rows: Rows, options: ReadOptions, reopen: Callable[[], Rows]) -> Dataset:
    """Images, lists of numbers or a table, whatever the columns are."""
    import pyarrow as pa

    if rows.count == 0:
        raise DataError(f"{rows.name} has no rows. Expected at least two examples.")
    names = list(rows.schema.names)
    if len(set(names)) < len(names):
        raise SourceError(f"{rows.name} has two columns of the same name. Rename one.")
    label = label_column(rows, options)
    image = image_column(rows, options)
    if options.text_column is not None or options.context.texts:
        names = [f.name for f in rows.schema if not (is_list(f.type) or f.name == image)]
    elif image is not None:
        return _images(rows, options, image, label, reopen)
    lists = [name for name in names if is_list(rows.schema.field(name).type) and name != label]
    if len(lists) == 1:
        return _lists(rows, options, lists[0], label)
    numbers = [one for one in names if _is_number(rows.schema.field(one).type)]
    size = 8 * rows.count * max(len(names), TABLE_COPIES * len(numbers))
    refuse_size(rows.name, size, "needs", "while it is read")
    schema = pa.schema([rows.schema.field(name) for name in names])
    whole = pa.Table.from_batches(_within_memory(rows.batches(names), rows.name), schema)
    if label is not None:
        check_label_lengths(whole.column(label), f"{rows.name}: column {label!r}")
    frame = whole.replace_schema_metadata(None).to_pandas()  # types say all; metadata may lie
    labelled = replace(options, label_column=label)
    dataset = from_frame(frame, labelled, rows.name, labels_inside=True)
    return replace(dataset, class_names=_class_names(rows, label))


def _within_memory(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """The same batches; `SourceError` once they hold more than memory does."""
    size = 0
    for number, batch in enumerate(batches):
        size += batch.nbytes
        if number % 64 == 0 or batch.nbytes > _BATCH_BYTES:
            refuse_size(name, size)
        yield batch


def _class_names(rows: Rows, label: str | None) -> dict[Any, str] | None:
    feature = rows.features().get(label or "", {})
    names = feature.get("names") if isinstance(feature, dict) else None
    return dict(enumerate(map(str, names))) if isinstance(names, list) else None


def label_column(rows: Rows, options: ReadOptions) -> str | None:
    """The column with the labels; None if they come from elsewhere."""
    names = list(rows.schema.names)
    wanted = options.label_column
    if wanted is not None:
        if wanted not in names:
            raise SourceError(f"{rows.name} has no column {wanted!r}. {columns_in_words(names)}")
        return str(wanted)
    if options.labels is not None:
        return None
    named = [name for name in LABEL_COLUMNS if name in names]
    classes = [
        name
        for name, feature in rows.features().items()
        if name in names and isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    ]
    if named or len(classes) == 1:
        return (named or classes)[0]
    raise SourceError(
        f"{rows.name} has no column 'label' or 'target'. {columns_in_words(names)} "
        f"Say which one: --label-column {(classes or names)[-1]}"
    )


def is_list(kind: Any) -> bool:
    """Whether a type is one of lists."""
    import pyarrow as pa

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(one(kind) for one in kinds)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    return any(one(kind) for one in kinds)


def _has_bytes(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind)) and any(
        kind.field(i).name == "bytes" and _is_binary(kind.field(i).type)
        for i in range(kind.num_fields)
    )


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def image_column(rows: Rows, options: ReadOptions) -> str | None:
    """The column with encoded images, if there is one."""
    wanted = options.image_column
    names = list(rows.schema.names)
    if wanted is not None:
        if wanted not in names:
            raise SourceError(f"{rows.name} has no column {wanted!r}. {columns_in_words(names)}")
        kind = rows.schema.field(wanted).type
        if not (_has_bytes(kind) or _is_binary(kind)):
            raise SourceError(f"{rows.name}: column {wanted!r} of type {kind} holds no images.")
        return str(wanted)
    found = [field.name for field in rows.schema if _has_bytes(field.type)]
    if len(found) > 1:
        raise SourceError(
            f"{rows.name} has several columns of images: {', '.join(found)}. "
            f"Say which one: --image-column {found[0]}"
        )
    return found[0] if found else None


def _images(
    rows: Rows,
    options: ReadOptions,
    image: str,
    label: str | None,
    reopen: Callable[[], Rows],
) -> Dataset:
    name = rows.name
    decoded = decode_all(
        lambda: (_contents(batch.column(0), name) for batch in rows.batches([image])),
        lambda i: f"{name}: the image in row {i}",
        rows.count,
        options,
    )
    kept = decoded.positions
    y = None if label is None else column_values(rows.column(label))[kept]
    ids: NDArray[Any] = kept
    if options.id_column is not None:
        ids = column_values(rows.column(options.id_column))[kept]
        if len(set(ids.tolist())) < len(ids):
            raise DataError(f"{name}: column {options.id_column!r} repeats values.")

    def draw(i: int) -> Image:
        position = int(kept[i])
        for batch in reopen().batches([image]):
            if position < batch.num_rows:
                return picture(_contents(batch.column(0).slice(position, 1), name)[0])
            position -= batch.num_rows
        raise IndexError(i)

    return Dataset(
        decoded.pixels,
        y,
        ids,
        class_names=_class_names(rows, label),
        source=name,
        image=True,
        pictures=draw,
        rows=kept if decoded.problems else None,
        **notes_and_skipped(decoded, lambda i: f"row {i}"),
    )


def _contents(column: Any, name: str) -> list[Encoded]:
    """Encoded images of a column; a missing one is empty and fails as an image later."""
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        column = column.field("bytes")
    return [content or b"" for content in column.to_pylist()]


def _lists(rows: Rows, options: ReadOptions, column: str, label: str | None) -> Dataset:
    """One column of lists of numbers, all of one length, as the inputs."""
    values = rows.column(column).combine_chunks()
    if values.null_count:
        raise DataError(f"{rows.name}: column {column!r} has missing lists.")
    lengths = np.asarray(values.value_lengths()) if hasattr(values, "value_lengths") else None
    if lengths is not None and len(set(lengths.tolist())) != 1:
        raise DataError(f"{rows.name}: column {column!r} holds lists of different lengths.")
    flat = values.flatten()
    while is_list(flat.type):
        flat = flat.flatten()
    if not _is_number(flat.type):
        raise DataError(f"{rows.name}: column {column!r} holds lists of {flat.type}, not numbers.")
    if flat.null_count or len(flat) % rows.count:
        raise DataError(f"{rows.name}: column {column!r} is not one table of numbers.")
    X = flat.to_numpy(zero_copy_only=False).reshape(rows.count, -1)
    y = None if label is None else column_values(rows.column(label))
    left = [name for name in rows.schema.names if name not in (column, label)]
    return Dataset(
        X,
        y,
        np.arange(rows.count),
        class_names=_class_names(rows, label),
        source=rows.name,
        notes=(f"inputs are the column {column!r}; others left out: {', '.join(left)}",)
        if left
        else (),
    )


def column_values(column: Any) -> NDArray[Any]:
    """The values of a column of pyarrow's."""
    import pyarrow as pa

    check_label_lengths(column, "the column of labels or names")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())
