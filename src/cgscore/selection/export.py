"""A copy of a source with a part of its examples, in the format of the source.

Values are copied from the file, not from the inputs that `read` derives from it: records of a CSV
file to the letter, columns that are no inputs, types and metadata of Parquet files. The file is
read again and compared with what was scored, so that rows cannot be mixed up. There is one writer
for each format.
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
from cgscore.selection.image_links import check_new_folder, new_folder
from cgscore.selection.orders import as_positions

Index = NDArray[np.intp]
Writer = Callable[[Dataset, Index, Path], str]

OTHER_SPLITS = ("test", "val", "valid", "validation", "eval", "holdout")


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
    to, source = Path(to), Path(dataset.source)
    positions = np.unique(as_positions(kept, len(dataset)))
    check_target(dataset.source, to, copy=copy)
    if not _suffix(to):
        if is_saved_dataset(source):
            _check_unchanged(dataset)
            return _write_hugging_face(dataset, _rows(dataset, positions), to)
        return _write_images(dataset, positions, to, copy)
    writer = _WRITERS.get((_suffix(source) if source.is_file() else "", _suffix(to)))
    if writer is None or (writer is _write_npz and _labels_apart(dataset)):
        return write_arrays(dataset, positions, to)
    _check_unchanged(dataset)
    return writer(dataset, _rows(dataset, positions), to)


def check_target(source: str, to: Path, *, copy: bool = False) -> None:
    """Raise `OptionError` for a name that a copy of the source cannot have, before any work."""
    origin, suffix = Path(source), _suffix(to)
    if origin.exists() and to.exists() and to.samefile(origin):
        raise OptionError(f"{to} is the source itself. Choose another name.")
    folder = origin.is_dir() and not suffix
    if copy and (not folder or is_saved_dataset(origin)):
        raise OptionError("Copies instead of links are for a new folder of images.")
    if folder:
        check_new_folder(to, origin)
    elif suffix != ".npz" and (_suffix(origin), suffix) not in _WRITERS:
        expected = "a new folder" if origin.is_dir() else f"a name that ends in {_suffix(origin)}"
        same_format = origin.is_dir() or (_suffix(origin),) * 2 in _WRITERS
        raise OptionError(
            f"{to}: a filtered copy of {source} cannot have this name. Expected "
            f"{expected + ' or ' if same_format else ''}a name that ends in .npz."
        )
    elif to.is_dir() or not to.parent.is_dir():
        raise OptionError(f"{to} is a folder, or in one that does not exist.")


def _suffix(path: Path) -> str:
    """The suffix of the format: ``.csv``, also for ``.csv.gz``; empty for a folder."""
    name = path.name.lower()
    packed = name.removesuffix(".gz")
    suffix = Path(packed).suffix
    if packed != name and suffix not in (".csv", ".tsv"):
        return ".gz"
    suffix = _ALIASES.get(suffix, suffix)
    return suffix if suffix in _SUFFIXES or packed != name else ""


def _rows(dataset: Dataset, positions: Index) -> Index:
    """Rows of the source at these positions."""
    return positions if dataset.rows is None else dataset.rows[positions]


def _labels_apart(dataset: Dataset) -> bool:
    """Whether the labels are in another file than the inputs."""
    return dataset.options.get("labels") is not None


def _check_unchanged(dataset: Dataset) -> None:
    """Raise `OptionError` if the source has changed since it was read, or has no labels."""
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


def _write_csv(dataset: Dataset, rows: Index, to: Path) -> str:
    """The header and the records of these rows, to the letter."""
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


def _write_parquet(dataset: Dataset, rows: Index, to: Path) -> str:
    import pyarrow.parquet as pq

    table = pq.read_table(dataset.source, partitioning=None).take(rows)
    replace_file(to, lambda file: pq.write_table(table, file))
    return f"{len(rows):,} rows"


def _write_feather(dataset: Dataset, rows: Index, to: Path) -> str:
    import pyarrow.feather as feather

    table = feather.read_table(dataset.source, memory_map=False).take(rows)
    replace_file(to, lambda file: feather.write_feather(table, file))
    return f"{len(rows):,} rows"


def _write_npz(dataset: Dataset, rows: Index, to: Path) -> str:
    """Filters the arrays with an entry for each example; the others stay as they are."""
    arrays, n = archive_arrays(Path(dataset.source)), len(dataset)
    filtered = [
        key
        for key, array in arrays.items()
        if array.ndim and len(array) == n and not _is_other_split(key)
    ]
    _write_archive(
        to, {key: array[rows] if key in filtered else array for key, array in arrays.items()}
    )
    unchanged = [key for key in arrays if key not in filtered]
    text = f"{len(rows):,} rows of {', '.join(filtered)}"
    return text + (f"; {', '.join(unchanged)} as before" if unchanged else "")


def _is_other_split(key: str) -> bool:
    """Whether the name of an array is that of another split."""
    return any(word in OTHER_SPLITS for word in key.lower().replace("-", "_").split("_"))


def write_arrays(dataset: Dataset, positions: Index, to: Path) -> str:
    """Write inputs, ids and labels of any source to an ``.npz`` file; return what was written."""
    arrays = {"X": dataset.X[positions], "ids": _plain(dataset.ids[positions])}
    if dataset.y is not None:
        arrays["y"] = _plain(dataset.y[positions])
    _write_archive(to, arrays)
    return f"{len(positions):,} rows of {', '.join(arrays)}"


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Texts in a type of NumPy that needs no pickle."""
    return values.astype(str) if values.dtype.kind in "OT" else values


def _write_archive(to: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an ``.npz`` archive; `numpy.savez` would take the names of some arrays for options."""

    def write(file: Any) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name, values in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)

    replace_file(to, write)


def _write_images(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    if dataset.y is None:
        raise OptionError(f"{dataset.source} has no labels to name folders by.")
    labels = [dataset.y[i] for i in positions]
    count = new_folder(dataset, positions.tolist(), labels, to, copy=copy)
    return f"{count:,} {'copies' if copy else 'links (to read them with cgscore: --copy)'}"


def _write_hugging_face(dataset: Dataset, rows: Index, to: Path) -> str:
    try:
        import datasets
    except ModuleNotFoundError as error:
        raise OptionError(
            f'A copy of {dataset.source} needs the package "datasets": pip install datasets'
        ) from error
    folder = split_folder(Path(dataset.source), dataset.options.get("split"))
    beside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        part = datasets.load_from_disk(str(folder)).select(rows)
        part.save_to_disk(str(beside))
        os.replace(beside, to)
    except OSError as error:
        raise OptionError(f"{to} cannot be created: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return f"Hugging Face dataset of {len(rows):,} rows"


_ALIASES = {".pq": ".parquet", ".arrow": ".feather"}
_WRITERS: dict[tuple[str, str], Writer] = {
    (".csv", ".csv"): _write_csv,
    (".tsv", ".tsv"): _write_csv,
    (".parquet", ".parquet"): _write_parquet,
    (".feather", ".feather"): _write_feather,
    (".npz", ".npz"): _write_npz,
}
_SUFFIXES = {suffix for pair in _WRITERS for suffix in pair}
