"""What a reader states about itself; `registry.READERS` has them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cgscore.data.dataset import Dataset
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import Sample
from cgscore.errors import OptionError
from cgscore.typing import Index

TABLE_OPTIONS = (
    "label_column",
    "id_column",
    "text_column",
    "preprocess",
    "max_columns",
    "drop",
    "source_column",
    "group_column",
    "annotator_columns",
)
IMAGE_OPTIONS = ("resize", "skip_bad")


@dataclass(frozen=True)
class Reader:
    """One format of files or folders.

    Attributes
    ----------
    name : str
        Of the format.
    read : function
        ``read(path, options)``: all examples.
    options : tuple of str
        Options of `cgscore.read`, besides ``labels``, that it uses; others are refused.
    suffixes : tuple of str
        Of its files, in lower case.
    is_file, is_folder : functions or None
        Whether a path is of this format, where suffixes do not tell.
    sample : function or None
        ``sample(path, options)``: a part of a large source, None for a small one.
    write : function or None
        ``write(dataset, positions, to, copy)``: a copy of the source with the examples at these
        positions, in its own format; says what was written. `copy` is for those that could link.
    compared : bool
        Whether the source is read again, and compared, before such a copy is written.
    """

    name: str
    read: Callable[[Path, ReadOptions], Dataset]
    options: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    is_file: Callable[[Path], bool] | None = None
    is_folder: Callable[[Path], bool] | None = None
    sample: Callable[[Path, ReadOptions], Sample | None] | None = None
    write: Callable[[Dataset, Index, Path, bool], str] | None = None
    compared: bool = True


def source_rows(dataset: Dataset, positions: Index) -> Index:
    """Rows of the source at these positions of the dataset.

    Raises
    ------
    OptionError
        The source has one row per label, so that an example is several rows.
    """
    if len(dataset.options.get("annotator_columns", ())) == 1:
        raise OptionError(
            f"{dataset.source} has one row per label. A part of its examples is not written in its "
            "format: write their ids, and choose the rows by them."
        )
    return positions if dataset.rows is None else dataset.rows[positions]
