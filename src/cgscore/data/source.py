"""A source as a `Dataset`: `read`, and `overview` for large sources.

A call of `read` checks its options, finds the reader (`readers.registry`), attaches labels that
are kept apart, and replaces inputs by features if an encoder is wanted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.data.features import Encoding
from cgscore.data.origins import ROLES, given_values
from cgscore.data.readers import arrays, bundled, objects
from cgscore.data.readers.bounded import check_regular
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.reader import Reader
from cgscore.data.readers.registry import find_reader, from_object
from cgscore.data.readers.sample import Sample, count_labels
from cgscore.data.several_labels import joined_labels
from cgscore.errors import DataError, LabelError, OptionError, SourceError
from cgscore.execution.progress import Listener
from cgscore.labels import label_vector

_SURROGATE = re.compile("[\ud800-\udfff]")


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
    drop: str | Sequence[str] | None = None,
    source_column: Any = None,
    group_column: Any = None,
    annotator_columns: str | Sequence[str] | None = None,
    device: str = "cpu",
    progress: bool | Listener | None = None,
) -> Dataset:
    """A `Dataset` from a path, a named source or an object in memory.

    Parameters
    ----------
    source : str, Path or object
        A file: ``.npz`` (arrays ``X`` and ``y``), ``.npy`` (with `labels`), ``.csv`` or ``.tsv``
        (also gzipped), ``.parquet``, ``.feather``, ``.jsonl``, ``.json`` (a list of objects),
        ``.xlsx``, ``.arff``, an IDX images file. A folder: of class folders
        of images, of IDX files, of CIFAR-10 or CIFAR-100 batches, or a saved Hugging Face dataset.
        ``sklearn:NAME`` for the data that ship with scikit-learn. An object: numpy array, pandas
        or polars data frame, pyarrow table, scipy.sparse matrix, list of texts or of images (of
        Pillow, or arrays of bytes), torch tensor or dataset, Lightning data module (its training
        data), Hugging Face dataset or stream, or a `Dataset`, which comes back with the `labels`
        given.
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
        ``table`` standardises numbers, splits dates into parts, encodes categories one-hot, fills
        and marks missing values and adds a constant column (`cgscore.data.columns`). ``none`` takes
        numbers as they are. ``auto`` is ``table`` for tables (files and data frames, wherever their
        labels are) and ``none`` for everything else, such as arrays.
    encoder : str or path, optional
        What makes the inputs of images, texts or rows: ``pixels`` (images as they are), ``auto``,
        ``efficientnet-lite0`` for images, ``minilm`` or ``tfidf`` for texts,
        ``transformers:NAME-OR-FOLDER``, ``MODULE:FUNCTION`` of your own, or an ``.npz`` file of
        features made before. By default texts get ``minilm`` if it is installed, otherwise
        ``tfidf``; photographs, which are images of a folder or a column with a side of more than
        64 pixels or of different sizes, get ``efficientnet-lite0``; everything else stays as it
        is. Features are kept on disk (`cgscore.data.encoders.encoding`).
    scaling : {"none", "centre", "standardise", "whiten"}
        What is done to the features of all examples together.
    text_column : str, optional
        Column of a table that holds the texts; by default found by how its values look.
    max_columns : int, optional
        Largest number of columns of a table in a file; 50,000 by default, so that a damaged header
        cannot fill the memory.
    drop : str or list of str, optional
        Columns of a table that are left out. Columns that count or name the rows are left out
        without it, and `Dataset.notes` says which.
    source_column, group_column : str or (n,) array, optional
        Column of a table, or one value for each example, that says who or what delivered its label
        (an annotator, batch, file or day), and which group it belongs to. They are not
        inputs; they are kept in `Dataset.columns`, for `Scores.sources` and `Scores.groups`. A
        missing value is a source or group of its own.
    annotator_columns : str or list of str, optional
        Several labels per example. Several names: columns with the labels of one annotator each,
        which may have gaps. One name: the column that says who gave the label of a row, in a table
        with one row per label; rows with the same id, or else the same inputs, are one example.
        Labels are what most annotators say, until `cgscore.score` has weighed them.
    device : str
        Where the encoder computes: ``cpu`` or another device of torch.
    progress : bool or function, optional
        How progress of decoding and encoding is reported, as for `cgscore.score`.

    Raises
    ------
    SourceError
        The source is missing, truncated, or not of the format its name says.
    """
    options = ReadOptions(
        labels=labels,
        label_column=label_column,
        image_column=image_column,
        id_column=id_column,
        split=split,
        resize=resize,
        skip_bad=skip_bad,
        preprocess=preprocess,
        text_column=text_column,
        max_columns=max_columns,
        drop=drop,
        source_column=source_column,
        group_column=group_column,
        annotator_columns=annotator_columns,
    )
    return _read(source, options, Encoding.checked(encoder, scaling, device, progress))


def overview(
    source: str, *, encoder: str | None = None, scaling: str = "none", **keywords: Any
) -> Dataset | Sample:
    """A `Dataset` with all of a small source, or a `Sample` of a large one.

    Parameters are those of `read`. Inputs that an encoder would replace stay as they are:
    `Encoding.forecast` says what it would cost. A file of features has a row for each example, so
    with one all examples are read.
    """
    options = ReadOptions(**keywords)
    encoding = Encoding.checked(encoder, scaling, "cpu", None)
    if encoding.is_file:
        return _read(source, options, encoding)
    options = replace(options, context=encoding.context(describing=True))
    named = source.startswith("sklearn:")
    whole = named or options.annotators  # a majority is known only of all labels
    sample = None if whole else _sample_path(Path(source), options)
    if sample is not None:
        sample = _label_sample(sample, options.labels)
        dataset = sample.dataset
    else:
        dataset = _load(source, options)
        if dataset.annotations is None:
            dataset = _with_labels(dataset, dataset.y if options.labels is None else options.labels)
    dataset = _checked(dataset, options)
    dataset = dataset if encoding.encodes(dataset) else encoding.apply(dataset)
    return dataset if sample is None else replace(sample, dataset=dataset)


def read_unlabelled(
    source: Any, *, encoder: str | None = None, scaling: str = "none", **keywords: Any
) -> Dataset:
    """A dataset without labels; those that the source holds are not looked for.

    Parameters are those of `read`.
    """
    options = ReadOptions(**keywords, labels=())  # readers then expect none inside
    encoding = Encoding.checked(encoder, scaling, "cpu", None)
    if isinstance(source, Dataset):
        dataset = replace(source, y=None)
    else:
        dataset = replace(_load(source, replace(options, context=encoding.context())), y=None)
    return encoding.apply(_checked(dataset, options))


def _read(source: Any, options: ReadOptions, encoding: Encoding) -> Dataset:
    options, columns = _given_columns(options)
    if isinstance(source, Dataset):
        if options.has_origins:
            raise OptionError(
                "The data have been read already. Give source_column, group_column and "
                "annotator_columns to cgscore.read."
            )
        dataset = _with_columns(_with_labels(source, options.labels), columns)
        if encoding.is_trivial:
            return dataset
        if dataset.made_from is not None and dataset.texts is None:
            raise OptionError(
                "The dataset is encoded already. Leave encoder and scaling out, or read the data "
                "again without an encoder."
            )
        return encoding.apply(dataset)
    dataset = _load(source, replace(options, context=encoding.context()))
    if options.labels is not None:
        dataset = _with_labels(dataset, options.labels)
    elif dataset.annotations is None:
        dataset = _with_labels(dataset, dataset.y)
    return encoding.apply(_checked(_with_columns(dataset, columns), options))


def _given_columns(options: ReadOptions) -> tuple[ReadOptions, dict[str, Any]]:
    """The options without arrays of sources and groups, and these arrays."""
    values = {role: getattr(options, f"{role}_column") for role in ROLES}
    given = {
        role: value
        for role, value in values.items()
        if value is not None and not isinstance(value, str | int | np.integer)
    }
    without: dict[str, Any] = {f"{role}_column": None for role in given}
    return replace(options, **without), given


def _with_columns(dataset: Dataset, columns: dict[str, Any]) -> Dataset:
    """The dataset with the sources and groups that the caller gave as arrays."""
    checked = {
        role: given_values(values, role, len(dataset), dataset.source)
        for role, values in columns.items()
    }
    return replace(dataset, columns={**dataset.columns, **checked}) if checked else dataset


def _load(source: Any, options: ReadOptions) -> Dataset:
    """All examples, as the reader of the source gives them."""
    if isinstance(source, str) and source.startswith("sklearn:"):
        options.reject_unused(source, ("preprocess",))
        return bundled.read_sklearn(source, options)
    if not isinstance(source, str | Path):
        return from_object(source, options)
    path = Path(source)
    with _reading(path):
        dataset = _reader(path, options).read(path, options)
    return _from_path(dataset, path)


def _sample_path(path: Path, options: ReadOptions) -> Sample | None:
    """A part of a large file or folder; None for a small one."""
    with _reading(path):
        reader = _reader(path, options)
        sample = reader.sample(path, options) if reader.sample else None
    return None if sample is None else replace(sample, dataset=_from_path(sample.dataset, path))


def _reader(path: Path, options: ReadOptions) -> Reader:
    """The reader of a file or folder, if that exists and all options are for it."""
    if not path.exists():
        hint = " It is a broken link." if path.is_symlink() else _similar(path)
        raise SourceError(f"{path} does not exist.{hint}")
    if not path.is_dir():
        check_regular(path)
    reader = find_reader(path)
    options.reject_unused(path, reader.options)
    return reader


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A context in which the system's errors become a `SourceError`."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error


def _from_path(dataset: Dataset, path: Path) -> Dataset:
    if dataset.X.size == 0 and dataset.texts is None:
        raise DataError(f"{path} holds no numbers: the shape of its inputs is {dataset.X.shape}.")
    if path.is_dir():
        return replace(dataset, source=str(path))  # its reader knows the files
    status = path.stat()
    listing = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
    return replace(dataset, source=str(path), listing=listing)


def _similar(path: Path) -> str:
    """A hint at a file with nearly the same name."""
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.parent / close[0]}?" if close else ""


def _with_labels(dataset: Dataset, labels: Any) -> Dataset:
    """The dataset with labels from a file or an object; unchanged if there are none."""
    return dataset if labels is None else dataset.with_labels(_read_labels(labels))


def _read_labels(labels: Any) -> Any:
    if isinstance(labels, str | Path):
        return arrays.read_labels(labels)
    return objects.as_array(labels) if objects.is_torch(labels) else labels


def _label_sample(sample: Sample, labels: Any) -> Sample:
    """A sample with a note that it is one, and with labels that are kept apart, if there are."""
    dataset = replace(sample.dataset, notes=(*sample.dataset.notes, sample.note))
    if labels is None:
        return replace(sample, dataset=_with_labels(dataset, dataset.y))
    y = label_vector(_read_labels(labels))
    if len(y) != sample.n:
        raise LabelError(
            f"{dataset.source}: {len(y):,} labels for {sample.n:,} examples. Expected one each."
        )
    return replace(
        sample,
        dataset=dataset.with_labels(y[sample.positions]),
        counts=count_labels([y], "labels"),
    )


def _checked(dataset: Dataset, options: ReadOptions) -> Dataset:
    """The dataset with the options that led to it, once labels and names are as they must be."""
    if dataset.y is not None and len(dataset.y) != len(dataset):
        raise LabelError(
            f"{dataset.source}: {len(dataset.y):,} labels for {len(dataset):,} examples. "
            "Expected one each."
        )
    _check_names(dataset)
    several = None if dataset.y is None else joined_labels(dataset.y)
    if several is not None:
        text, separator = several
        column = f"column {options.label_column!r}" if options.label_column else "the labels"
        raise LabelError(
            f"{dataset.source}: {text[:100]!r} in {column} looks like several labels, separated "
            f"by {separator!r}. One label per example is expected: keep one of them or, to make "
            f"every combination a class, join them with another character than {separator!r}."
        )
    return replace(dataset, options=options.as_metadata())


def _check_names(dataset: Dataset) -> None:
    """Refuse names that cannot be written as text: half of a pair of surrogates."""
    named = {
        "name of an example": dataset.ids,
        "label": dataset.y,
        **{f"{role} of an example": values for role, values in dataset.columns.items()},
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
