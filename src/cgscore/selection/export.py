"""A copy of a source with only some of its examples, in the format of the source.

Values are those of the file, not what `read` made of them: records of a CSV file to the letter,
columns that were left out of the inputs, types and metadata of Parquet files. The file is read
again and compared with what was scored, so that no row is taken for another.
"""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.data import Dataset, read
from cgscore.data.readers.arrays import archive_arrays
from cgscore.data.readers.arrow import is_saved_dataset, split_folder
from cgscore.data.readers.delimited import raw_records
from cgscore.errors import OptionError
from cgscore.execution.files import replace_file
from cgscore.selection.image_links import new_folder, refuse_folder
from cgscore.selection.orders import as_positions

Index = NDArray[np.intp]
Writer = Callable[[Dataset, Index, Path], str]

_OTHER_SPLITS = ("test", "val", "valid", "validation", "eval", "holdout")


def write_filtered(dataset: Dataset, kept: ArrayLike, to: str | Path, *, copy: bool = False) -> str:
    """Write the examples at these positions to a new file or folder; what was written, in words.

    Parameters
    ----------
    dataset : Dataset
        What was read.
    kept : array
        Positions of the examples that stay, or a mask; they are written in the order of the input.
    to : str or Path
        A file of the same format as the source (CSV, TSV, Parquet, Feather, ``.npz``), a new folder
        where the source is a folder of images or a saved Hugging Face dataset, or for any source an
        ``.npz`` file with ``X``, ``y`` and ``ids``.
    copy : bool
        For a folder of images: copies instead of links.

    Raises
    ------
    OptionError
        The format is not that of the source, the source has changed, its labels are elsewhere, or
        the place is taken.
    """
    to, source = Path(to), Path(dataset.source)
    positions = np.unique(as_positions(kept, len(dataset)))
    check_target(dataset.source, to, copy=copy)
    if not _suffix(to):
        if is_saved_dataset(source):
            _refuse_changed(dataset)
            return _saved_dataset(dataset, _rows(dataset, positions), to)
        return _images(dataset, positions, to, copy)
    writer = _WRITERS.get((_suffix(source) if source.is_file() else "", _suffix(to)))
    if writer is None or (writer is _npz and _labels_apart(dataset)):
        return write_arrays(dataset, positions, to)
    _refuse_changed(dataset)
    return writer(dataset, _rows(dataset, positions), to)


def check_target(source: str, to: Path, *, copy: bool = False) -> None:
    """Refuse a name that a copy of the source cannot have, before any work."""
    origin, suffix = Path(source), _suffix(to)
    if origin.exists() and to.exists() and to.samefile(origin):
        raise OptionError(f"{to} is the source itself. Choose another name.")
    folder = origin.is_dir() and not suffix
    if copy and (not folder or is_saved_dataset(origin)):
        raise OptionError("Copies instead of links are for a new folder of images.")
    if folder:
        refuse_folder(to, origin)
    elif suffix != ".npz" and (_suffix(origin), suffix) not in _WRITERS:
        own = "a new folder" if origin.is_dir() else f"a name that ends in {_suffix(origin)}"
        there = origin.is_dir() or (_suffix(origin),) * 2 in _WRITERS
        raise OptionError(
            f"{to}: a filtered copy of {source} cannot have this name. Expected "
            f"{own + ' or ' if there else ''}a name that ends in .npz."
        )
    elif to.is_dir() or not to.parent.is_dir():
        raise OptionError(f"{to} is a folder, or in one that does not exist.")


def _suffix(path: Path) -> str:
    """What says the format: ``.csv``, also of ``.csv.gz``; nothing for a folder."""
    name = path.name.lower()
    packed = name.removesuffix(".gz")
    found = Path(packed).suffix
    if packed != name and found not in (".csv", ".tsv"):
        return ".gz"
    found = _SAME.get(found, found)
    return found if found in _SUFFIXES or packed != name else ""


def _rows(dataset: Dataset, positions: Index) -> Index:
    """Rows of the source."""
    return positions if dataset.rows is None else dataset.rows[positions]


def _labels_apart(dataset: Dataset) -> bool:
    return dataset.options.get("labels") is not None


def _refuse_changed(dataset: Dataset) -> None:
    """Refuse a source that no longer holds what was read, or holds it without the labels."""
    if _labels_apart(dataset):
        raise OptionError(
            f"The labels of {dataset.source} are in {dataset.options['labels']}: a copy would be "
            "without them. Write an .npz file, which has both."
        )
    again = read(dataset.source, **{**dataset.options, "progress": False})
    if again.fingerprint != dataset.fingerprint:
        raise OptionError(
            f"{dataset.source} is not what was read: it has changed since, or its labels came from "
            "elsewhere. Score it again, or write an .npz file of what was read."
        )


def _csv(dataset: Dataset, rows: Index, to: Path) -> str:
    wanted = set(rows.tolist())

    def write(file: Any) -> None:
        gzipped = to.name.lower().endswith(".gz")
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if gzipped else nullcontext(file)
        with packed as opened:
            for number, record in enumerate(raw_records(Path(dataset.source)), -1):
                if number in wanted or number < 0:  # the header comes first
                    opened.write(record)

    before = csv.field_size_limit(2**31 - 1)
    try:
        replace_file(to, write)
    finally:
        csv.field_size_limit(before)
    return f"{len(rows):,} rows"


def _parquet(dataset: Dataset, rows: Index, to: Path) -> str:
    import pyarrow.parquet as pq

    table = pq.read_table(dataset.source, partitioning=None).take(rows)
    replace_file(to, lambda file: pq.write_table(table, file))
    return f"{len(rows):,} rows"


def _feather(dataset: Dataset, rows: Index, to: Path) -> str:
    import pyarrow.feather as feather

    table = feather.read_table(dataset.source, memory_map=False).take(rows)
    replace_file(to, lambda file: feather.write_feather(table, file))
    return f"{len(rows):,} rows"


def _npz(dataset: Dataset, rows: Index, to: Path) -> str:
    """Every array with an entry for each example, filtered; the others as they are."""
    found, n = archive_arrays(Path(dataset.source)), len(dataset)
    cut = [key for key, one in found.items() if one.ndim and len(one) == n and not _other(key)]
    _write_arrays(to, {key: one[rows] if key in cut else one for key, one in found.items()})
    left = [key for key in found if key not in cut]
    text = f"{len(rows):,} rows of {', '.join(cut)}"
    return text + (f"; {', '.join(left)} as before" if left else "")


def _other(key: str) -> bool:
    """Whether the name of an array is that of another split."""
    return any(word in _OTHER_SPLITS for word in key.lower().replace("-", "_").split("_"))


def write_arrays(dataset: Dataset, positions: Index, to: Path) -> str:
    """An ``.npz`` file of what `read` made of any source; what was written, in words."""
    parts = {"X": dataset.X[positions], "ids": _plain(dataset.ids[positions])}
    if dataset.y is not None:
        parts["y"] = _plain(dataset.y[positions])
    _write_arrays(to, parts)
    return f"{len(positions):,} rows of {', '.join(parts)}"


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Texts as numpy's own, which need no pickle."""
    return values.astype(str) if values.dtype.kind in "OT" else values


def _write_arrays(to: Path, parts: Mapping[str, NDArray[Any]]) -> None:
    """An ``.npz`` archive; numpy's own `savez` takes some names for options."""

    def write(file: Any) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name, values in parts.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)

    replace_file(to, write)


def _images(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    if dataset.y is None:
        raise OptionError(f"{dataset.source} has no labels to name folders by.")
    labels = [dataset.y[i] for i in positions]
    count = new_folder(dataset, positions.tolist(), labels, to, copy=copy)
    return f"{count:,} {'copies' if copy else 'links (to read them with cgscore: --copy)'}"


def _saved_dataset(dataset: Dataset, rows: Index, to: Path) -> str:
    try:
        import datasets
    except ModuleNotFoundError as error:
        raise OptionError(
            f'{dataset.source} is written with the package "datasets": pip install datasets'
        ) from error
    folder = split_folder(Path(dataset.source), dataset.options.get("split"))
    beside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        some = datasets.load_from_disk(str(folder)).select(rows)
        some.save_to_disk(str(beside))
        os.replace(beside, to)
    except OSError as error:
        raise OptionError(f"{to} cannot be made: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return f"Hugging Face dataset of {len(rows):,} rows"


_SAME = {".pq": ".parquet", ".arrow": ".feather"}
_WRITERS: dict[tuple[str, str], Writer] = {
    (".csv", ".csv"): _csv,
    (".tsv", ".tsv"): _csv,
    (".parquet", ".parquet"): _parquet,
    (".feather", ".feather"): _feather,
    (".npz", ".npz"): _npz,
}
_SUFFIXES = {suffix for pair in _WRITERS for suffix in pair}
