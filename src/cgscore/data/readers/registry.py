"""Which reader understands a source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data import tables
from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.encoders.encoding import check_scaling
from cgscore.data.features import encoded, is_file, reading_for, wanted_encoder
from cgscore.data.readers import (
    arrays,
    arrow,
    arrow_sample,
    arrow_writer,
    bundled,
    cifar,
    delimited,
    folders,
    idx,
    image_links,
    npz_writer,
    objects,
)
from cgscore.data.readers.bounded import check_regular
from cgscore.data.readers.reader import IMAGE_OPTIONS, TABLE_OPTIONS, Reader
from cgscore.data.readers.sample import Sample, count_labels
from cgscore.errors import DataError, LabelError, OptionError, SourceError
from cgscore.execution.progress import Listener, reporter
from cgscore.labels import label_vector

#: Every format, in the order in which folders are looked at.
READERS = (
    Reader(
        "npz",
        arrays.read_npz,
        suffixes=(".npz",),
        sample=arrays.sample_npz,
        write=npz_writer.write_npz,
    ),
    Reader("npy", arrays.read_npy, suffixes=(".npy",), sample=arrays.sample_npy),
    Reader(
        "csv",
        delimited.read_csv,
        TABLE_OPTIONS,
        suffixes=(".csv", ".csv.gz"),
        write=delimited.write_csv_rows,
    ),
    Reader(
        "tsv",
        delimited.read_csv,
        TABLE_OPTIONS,
        suffixes=(".tsv", ".tsv.gz"),
        write=delimited.write_csv_rows,
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
        arrow.read_saved_dataset,
        (*TABLE_OPTIONS, *IMAGE_OPTIONS, "split", "image_column"),
        is_folder=arrow.is_saved_dataset,
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

#: Objects in memory: what tells them, and what reads them. The first that fits does.
OBJECTS: tuple[tuple[Callable[[Any], bool], Callable[[Any, dict[str, Any]], Dataset]], ...] = (
    (tables.is_polars, arrow.from_polars),
    (tables.is_frame, tables.from_frame),
    (arrow.is_hugging_face, arrow.from_hugging_face),
    (arrow.is_table, arrow.from_table),
    (objects.is_sparse, objects.from_sparse),
    (objects.is_lightning, objects.from_lightning),
    (objects.is_torch, objects.from_torch),
    (lambda source: True, lambda source, options: in_memory(source, None)),
)

_NAMED = (
    "label_column",
    "image_column",
    "id_column",
    "text_column",
    "split",
    "resize",
    "skip_bad",
    "max_columns",
)

#: Options that are kept with a result, so that its source can be read again.
OPTIONS = (*_NAMED, "labels", "preprocess", "encoder", "scaling")

_SURROGATE = re.compile("[\ud800-\udfff]")

PREPROCESS = ("auto", "none", "table")


def read(
    source: Any,
    *,
    labels: Any = None,
    label_column: str | None = None,
    image_column: str | None = None,
    id_column: str | None = None,
    split: str | None = None,
    resize: str | int | Sequence[int] | None = None,
    skip_bad: bool = False,
    preprocess: str = "auto",
    encoder: str | os.PathLike[str] | None = None,
    scaling: str = "none",
    text_column: str | None = None,
    max_columns: int | None = None,
    device: str = "cpu",
    progress: bool | Listener | None = None,
) -> Dataset:
    """A `Dataset` from a path, a named source or an object in memory.

    Parameters
    ----------
    source : str, Path or object
        A file: ``.npz`` (arrays ``X`` and ``y``), ``.npy`` (with `labels`), ``.csv`` or ``.tsv``
        (also gzipped), ``.parquet``, ``.feather``, an IDX images file. A folder: of class folders
        of images, of IDX files, of CIFAR-10 or CIFAR-100 batches, or a saved Hugging Face dataset.
        ``sklearn:NAME`` for the data that ship with scikit-learn. An object: numpy array, pandas
        or polars data frame, pyarrow table, scipy.sparse matrix, torch tensor or dataset, Lightning
        data module (its training data), Hugging Face dataset or stream, or a `Dataset`, which comes
        back with the `labels` given.
    labels : path or array, optional
        Labels kept apart from the inputs: a ``.npy`` file, a text file with one label a line,
        or an array.
    label_column : str, optional
        Column that holds the labels of a table; ``label`` or ``target`` by default.
    image_column : str, optional
        Column that holds encoded images; by default the one with a field ``bytes``.
    id_column : str, optional
        Column that names the rows of a table; ``id`` by default, if there is one without repeats.
    split : str, optional
        Which part to read where there are several: ``train`` (by default), ``test``, ...
    resize : int, (width, height) or text, optional
        Size to bring all images to: ``32`` or ``"64x48"``.
    skip_bad : bool
        Leave unreadable images out, and say so in `Dataset.notes`, instead of raising.
    preprocess : {"auto", "none", "table"}
        ``table`` standardises numbers, takes dates apart, encodes categories one-hot, fills and
        marks missing values and adds a constant column (`cgscore.data.columns`). ``none`` takes
        numbers as they are. ``auto`` is ``table`` for tables (files, data frames that contain their
        label column) and ``none`` for everything else.
    encoder : str or path, optional
        What makes the inputs of images, texts or rows: ``pixels`` (images as they are), ``auto``,
        ``efficientnet-lite0`` for images, ``minilm`` or ``tfidf`` for texts,
        ``transformers:NAME-OR-FOLDER``, ``MODULE:FUNCTION`` of your own, or an ``.npz`` file of
        features made before. By default images and numbers stay as they are, and texts get
        ``minilm`` if it is installed, otherwise ``tfidf``. Features are kept on disk
        (`cgscore.data.encoders.encoding`).
    scaling : {"none", "centre", "standardise", "whiten"}
        What is done to the features of all examples together.
    text_column : str, optional
        Column of a table that holds the texts; by default found by how its values look.
    max_columns : int, optional
        Most columns of a table in a file; 50,000 by default, so that a damaged header cannot fill
        the memory.
    device : str
        Where the encoder computes: ``cpu`` or another device of torch.
    progress : bool or function, optional
        Who hears of the decoding and encoding, as for `cgscore.score`.

    Raises
    ------
    SourceError
        The source is missing, truncated, or not of the format its name says.
    """
    options = {
        "labels": labels,
        "label_column": label_column,
        "image_column": image_column,
        "id_column": id_column,
        "split": split,
        "resize": resize,
        "skip_bad": skip_bad,
        "preprocess": preprocess,
        "text_column": text_column,
        "max_columns": max_columns,
    }
    return _read_as(source, options, encoder, scaling, device, progress)


def overview(source: str, *, encoder: str | None = None, scaling: str = "none", **how: Any) -> Any:
    """A `Dataset` with all of a small source, or a `Sample` of a large one.

    Parameters are those of `read`. Features in a file belong to all rows: with them, all are read.
    """
    options = {
        **dict.fromkeys(_NAMED),
        "labels": None,
        "preprocess": "auto",
        **how,
    }
    found: list[Sample] = []
    sample = None if encoder is not None and is_file(encoder) else found
    dataset = _read_as(source, options, encoder, scaling, "cpu", None, sample)
    return replace(found[0], dataset=dataset) if found else dataset


def _read_as(
    source: Any,
    options: dict[str, Any],
    encoder: str | os.PathLike[str] | None,
    scaling: str,
    device: str,
    progress: bool | Listener | None,
    sample: list[Sample] | None = None,
) -> Dataset:
    """What `read` returns; of a large source a part, if there is a list that takes its `Sample`."""
    preprocess, max_columns, labels = (
        options[name] for name in ("preprocess", "max_columns", "labels")
    )
    if preprocess not in PREPROCESS:
        raise OptionError(
            f"preprocess={preprocess!r} is not known. Choose one of: {', '.join(PREPROCESS)}."
        )
    if max_columns is not None and max_columns < 1:
        raise OptionError(f"max_columns must be 1 or larger; got {max_columns!r}.")
    check_scaling(scaling)
    encoder = None if encoder is None else os.fspath(encoder)
    wanted = wanted_encoder(encoder, device)
    how: dict[str, Any] = {"scaling": scaling, "device": device, "progress": reporter(progress)}
    if isinstance(source, Dataset):
        dataset = source if labels is None else source.with_labels(_labels(labels))
        if encoder is None and scaling == "none":
            return dataset
        if dataset.made_from is not None and dataset.texts is None:
            raise OptionError("The dataset is encoded already. Encode the one it was made from.")
        return encoded(dataset, encoder, wanted, **how)
    known = {**options, **reading_for(encoder, wanted), "progress": how["progress"]}
    dataset = _read(source, {**known, "sample": sample})
    if sample:
        dataset = _with_labels(sample, labels)
    elif labels is not None:
        dataset = dataset.with_labels(_labels(labels))
    elif dataset.y is not None:
        dataset = dataset.with_labels(dataset.y)
    if dataset.y is not None and len(dataset.y) != len(dataset):
        raise LabelError(
            f"{dataset.source}: {len(dataset.y):,} labels for {len(dataset):,} examples. "
            "Expected one each."
        )
    _check_names(dataset)
    dataset = replace(dataset, options=_repeatable(options))
    return encoded(dataset, encoder, wanted, **how)


def _read(source: Any, options: dict[str, Any]) -> Dataset:
    if isinstance(source, str) and source.startswith("sklearn:"):
        _reject_unused_options(source, options, ("preprocess",))
        return bundled.read_sklearn(source, options)
    if isinstance(source, str | Path):
        return _read_path(Path(source), options)
    return next(reader(source, options) for fits, reader in OBJECTS if fits(source))


def _with_labels(found: list[Sample], labels: Any) -> Dataset:
    """The rows of a sample with their labels, if these come from elsewhere."""
    (part,) = found
    dataset = replace(part.dataset, notes=(*part.dataset.notes, part.note))
    if labels is not None:
        y = label_vector(_labels(labels))
        if len(y) != part.n:
            raise LabelError(
                f"{dataset.source}: {len(y):,} labels for {part.n:,} examples. Expected one each."
            )
        found[0] = replace(part, counts=count_labels([y], "labels"))
        return dataset.with_labels(y[part.positions])
    return dataset if dataset.y is None else dataset.with_labels(dataset.y)


def _check_names(dataset: Dataset) -> None:
    """Refuse names that cannot be written as text: half of a pair of surrogates."""
    named = {
        "name of an example": dataset.ids,
        "label": dataset.y,
        "name of a class": np.array(list((dataset.class_names or {}).values()), dtype=object),
    }
    for what, values in named.items():
        if values is None or values.dtype.kind not in "UO":
            continue
        for text in set(_texts(dataset, what, values)):
            if _SURROGATE.search(text):
                raise DataError(
                    f"{dataset.source}: the {what} {text[:100]!r} holds half a character (a lone "
                    "surrogate), which no file can hold. Correct it."
                )


def _texts(dataset: Dataset, what: str, values: NDArray[Any]) -> list[str]:
    try:
        return [value for value in values.ravel().tolist() if isinstance(value, str)]
    except ValueError as error:  # numbers beyond Unicode in an array of texts
        raise DataError(f"{dataset.source}: a {what} is not Unicode ({error}).") from error


def _repeatable(options: dict[str, Any]) -> dict[str, Any]:
    """Those options that can be kept in a file and given again."""
    plain = {
        name: str(value) if isinstance(value, Path) else value for name, value in options.items()
    }
    if not isinstance(plain["labels"], str):
        plain["labels"] = None
    if isinstance(plain["resize"], Sequence) and not isinstance(plain["resize"], str):
        plain["resize"] = list(plain["resize"])
    return {
        name: value for name, value in plain.items() if value is not None and value is not False
    }


def _labels(labels: Any) -> Any:
    if isinstance(labels, str | Path):
        return arrays.read_labels(labels)
    return objects.as_array(labels) if objects.is_torch(labels) else labels


def _read_path(path: Path, options: dict[str, Any]) -> Dataset:
    try:
        if not path.exists():
            link = " It is a link to nothing." if path.is_symlink() else _similar(path)
            raise SourceError(f"{path} does not exist.{link}")
        if not path.is_dir():
            check_regular(path)
        reader = _reader(path)
        _reject_unused_options(path, options, reader.options)
        sampler = reader.sample if options.get("sample") is not None else None
        part = sampler(path, options) if sampler else None
        dataset = part.dataset if part else reader.read(path, options)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
    if dataset.X.size == 0 and dataset.texts is None:
        raise DataError(f"{path} holds no numbers: the shape of its inputs is {dataset.X.shape}.")
    dataset = replace(dataset, source=str(path))
    if part:
        options["sample"].append(replace(part, dataset=dataset))
    return dataset


def _reject_unused_options(source: object, options: dict[str, Any], used: tuple[str, ...]) -> None:
    for name in _NAMED:
        if options[name] not in (None, False) and name not in used:
            raise OptionError(f"{name}={options[name]!r} means nothing for {source}. Leave it out.")
    if options["preprocess"] == "table" and "preprocess" not in used:
        raise OptionError(f"preprocess='table' means nothing for {source}, which is no table.")


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


def _reader(path: Path) -> Reader:
    reader = known_reader(str(path))
    if reader is None:
        known = ", ".join(sorted(_BY_SUFFIX))
        raise SourceError(
            f"{path} has a name that no reader knows. Known are {known}, IDX files, folders of "
            "images, and sklearn:NAME."
        )
    return reader


def _similar(path: Path) -> str:
    """A hint when a file of nearly that name is there."""
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.parent / close[0]}?" if close else ""
