"""The table of readers: one entry for each format, and one for each kind of object in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cgscore.data import tables
from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.readers import (
    arff,
    arrays,
    arrow,
    arrow_sample,
    arrow_writer,
    cifar,
    delimited,
    folders,
    hugging_face,
    idx,
    image_links,
    json_lines,
    npz_writer,
    objects,
    sequences,
    xlsx,
)
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.reader import IMAGE_OPTIONS, TABLE_OPTIONS, Reader
from cgscore.errors import OptionError, SourceError
from cgscore.spelling import spelled

#: Every format; a folder is read by the first reader whose `is_folder` holds.
READERS = (
    Reader(
        "npz",
        arrays.read_npz,
        suffixes=(".npz",),
        sample=arrays.sample_npz,
        write=npz_writer.write_npz,
    ),
    Reader("npy", arrays.read_npy, suffixes=(".npy",), sample=arrays.sample_npy),
    *(
        Reader(
            name,
            delimited.read_csv,
            TABLE_OPTIONS,
            suffixes=(f".{name}", f".{name}.gz"),
            write=delimited.write_csv_rows,
        )
        for name in ("csv", "tsv")
    ),
    Reader(
        "parquet",
        arrow.read_parquet,
        (*TABLE_OPTIONS, *IMAGE_OPTIONS, "image_column"),
        suffixes=(".parquet", ".pq"),
        sample=arrow_sample.sample_parquet,
        write=arrow_writer.write_parquet,
    ),
    Reader(
        "feather",
        arrow.read_feather,
        (*TABLE_OPTIONS, *IMAGE_OPTIONS, "image_column"),
        suffixes=(".feather", ".arrow"),
        sample=arrow_sample.sample_feather,
        write=arrow_writer.write_feather,
    ),
    *(
        Reader(
            name,
            json_lines.read_json,
            TABLE_OPTIONS,
            suffixes=(*suffixes, *(f"{suffix}.gz" for suffix in suffixes)),
            write=json_lines.write_json,
        )
        for name, suffixes in (("JSON lines", (".jsonl", ".ndjson")), ("JSON", (".json",)))
    ),
    Reader("XLSX", xlsx.read_xlsx, TABLE_OPTIONS, suffixes=(".xlsx", ".xlsm")),
    Reader("ARFF", arff.read_arff, TABLE_OPTIONS, suffixes=(".arff", ".arff.gz")),
    Reader(
        "IDX images",
        idx.read_images,
        is_file=lambda path: idx.is_idx_name(path.name),
        sample=idx.sample_images,
    ),
    Reader(
        "IDX folder",
        idx.read_folder,
        ("split",),
        is_folder=idx.is_idx_folder,
        sample=idx.sample_folder,
    ),
    Reader(
        "CIFAR batches",
        cifar.read_folder,
        ("split", "label_column"),
        is_folder=cifar.is_cifar_folder,
        sample=cifar.sample_folder,
    ),
    Reader(
        "Hugging Face dataset",
        hugging_face.read_saved_dataset,
        (*TABLE_OPTIONS, *IMAGE_OPTIONS, "split", "image_column"),
        is_folder=hugging_face.is_saved_dataset,
        sample=arrow_sample.sample_saved_dataset,
        write=arrow_writer.write_hugging_face,
    ),
    Reader(
        "folder of images",
        folders.read_folder,
        ("split", *IMAGE_OPTIONS),
        is_folder=lambda folder: True,
        sample=folders.sample_folder,
        write=image_links.write_images,
        compared=False,
    ),
)
_BY_SUFFIX = {suffix: reader for reader in READERS for suffix in reader.suffixes}

#: Objects in memory: a test of the object, and what reads it. The first test that holds decides.
OBJECTS: tuple[tuple[Callable[[Any], bool], Callable[[Any, ReadOptions], Dataset]], ...] = (
    (tables.is_polars, arrow.from_polars),
    (tables.is_frame, tables.from_frame),
    (hugging_face.is_hugging_face, hugging_face.from_hugging_face),
    (arrow.is_table, arrow.from_table),
    (objects.is_sparse, lambda source, options: objects.from_sparse(source)),
    (objects.is_lightning, lambda source, options: objects.from_lightning(source)),
    (objects.is_torch, lambda source, options: objects.from_torch(source)),
    (sequences.is_texts, sequences.from_texts),
    (sequences.is_images, sequences.from_images),
    (lambda source: True, lambda source, options: in_memory(source, None)),
)


def from_object(source: Any, options: ReadOptions) -> Dataset:
    """The examples of an object in memory."""
    dataset = next(read(source, options) for fits, read in OBJECTS if fits(source))
    for name in ("source_column", "group_column", "annotator_columns"):
        value = getattr(options, name)
        found = name.removesuffix("_column") in dataset.columns
        found |= name == "annotator_columns" and dataset.annotations is not None
        if value and not found:
            raise OptionError(
                f"{spelled(**{name: value})} is not used for {dataset.source}. Give a table, "
                "or, for source_column and group_column, one value for each example."
            )
    return dataset


def reader_by_suffix(path: Path) -> Reader | None:
    """The reader of files with the suffix of this name, if there is one."""
    suffixes = "".join(path.suffixes[-2:]).lower()
    return _BY_SUFFIX.get(suffixes) or _BY_SUFFIX.get(path.suffix.lower())


def known_reader(source: str) -> Reader | None:
    """The reader of a source that exists; None for others, and for those that no reader knows."""
    path = Path(source)
    if path.is_dir():
        return next(reader for reader in READERS if reader.is_folder and reader.is_folder(path))
    if not path.exists():
        return None
    named = (reader for reader in READERS if reader.is_file and reader.is_file(path))
    return next(named, None) or reader_by_suffix(path)


def find_reader(path: Path) -> Reader:
    """The reader of a path that exists.

    Raises
    ------
    SourceError
        No reader knows such a name.
    """
    reader = known_reader(str(path))
    if reader is None:
        suffixes = ", ".join(sorted(_BY_SUFFIX))
        raise SourceError(
            f"{path}: files of this kind cannot be read. cgscore reads {suffixes}, IDX files, "
            "folders of images, and sklearn:NAME."
        )
    return reader
