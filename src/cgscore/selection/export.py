"""A copy of a source with a part of its examples, in the format of the source.

Values are copied from the file, not from the inputs that `read` derives from it: records of a CSV
file to the letter, columns that are no inputs, types and metadata of Parquet files. The file is
read again and compared with what was scored, so that rows cannot be mixed up. How a copy is written
is stated by the format's reader (`cgscore.data.readers.registry`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from cgscore.data import Dataset, read
from cgscore.data.readers.image_links import check_new_folder
from cgscore.data.readers.npz_writer import write_arrays
from cgscore.data.readers.reader import Reader
from cgscore.data.readers.registry import known_reader, reader_by_suffix
from cgscore.errors import OptionError
from cgscore.selection.orders import as_positions


def write_filtered(dataset: Dataset, kept: ArrayLike, to: str | Path, *, copy: bool = False) -> str:
    """Write the examples at these positions to a new file or folder, and return what was written.

    Parameters
    ----------
    dataset : Dataset
        The data, as `read` returned them.
    kept : array
        Positions of the examples that stay, or a mask; they are written in the order of the input.
    to : str or Path
        A file of the same format as the source (CSV, TSV, Parquet, Feather, ``.npz``), a new folder
        where the source is a folder of images or a saved Hugging Face dataset, or for any source an
        ``.npz`` file with ``X``, ``y`` and ``ids``.
    copy : bool
        For a folder of images: copy the files instead of linking to them.

    Raises
    ------
    OptionError
        The format differs from that of the source, the source has changed, its labels are in
        another file, or the target exists.
    """
    to = Path(to)
    positions = np.unique(as_positions(kept, len(dataset)))
    check_target(dataset.source, to, copy=copy)
    reader = known_reader(dataset.source)
    labels_apart = dataset.options.get("labels") is not None
    if reader is None or not _same_format(reader, to) or (reader.name == "npz" and labels_apart):
        return write_arrays(dataset, positions, to)
    if reader.compared:
        _check_unchanged(dataset)
    assert reader.write is not None  # noqa: S101  _same_format says so
    return reader.write(dataset, positions, to, copy)


def check_target(source: str, to: Path, *, copy: bool = False) -> None:
    """Raise `OptionError` for a name that a copy of the source cannot have, before any work."""
    origin = Path(source)
    if origin.exists() and to.exists() and to.samefile(origin):
        raise OptionError(f"{to} is the source itself. Choose another name.")
    reader = known_reader(source)
    new_folder = origin.is_dir() and _is_folder_name(to)
    links = reader is not None and not reader.compared
    if copy and not (new_folder and links):
        raise OptionError("Copying instead of linking is only possible for a new folder of images.")
    if new_folder:
        check_new_folder(to, origin)
    if to.suffix.lower() != ".npz" and (reader is None or not _same_format(reader, to)):
        expected = "a name that ends in .npz"
        if reader is not None and reader.write is not None:
            same_format = (
                "a new folder" if reader.is_folder else f"a name that ends in {reader.suffixes[0]}"
            )
            expected = f"{same_format} or {expected}"
        raise OptionError(
            f"{to}: a filtered copy of {source} cannot have this name. Expected {expected}."
        )
    if not new_folder and (to.is_dir() or not to.parent.is_dir()):
        raise OptionError(f"{to} is a folder, or in one that does not exist.")


def _same_format(reader: Reader, to: Path) -> bool:
    """Whether a copy that the reader writes can have this name."""
    if reader.write is None:
        return False
    return _is_folder_name(to) if reader.is_folder else reader_by_suffix(to) is reader


def _is_folder_name(path: Path) -> bool:
    return reader_by_suffix(path) is None and not path.name.lower().endswith(".gz")


def _check_unchanged(dataset: Dataset) -> None:
    """Raise `OptionError` if the source has changed since it was read, or has no labels."""
    if dataset.options.get("labels") is not None:
        raise OptionError(
            f"The labels of {dataset.source} are in {dataset.options['labels']}: a copy would be "
            "without them. Write an .npz file, which has both."
        )
    current = read(dataset.source, **{**dataset.options, "progress": False})
    if current.fingerprint != dataset.fingerprint:
        raise OptionError(
            f"{dataset.source} is not what was read: it has changed since, or its labels came from "
            "elsewhere. Score it again, or write an .npz file of what was read."
        )
