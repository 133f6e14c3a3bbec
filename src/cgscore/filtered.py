"""A copy of a source with only some of its examples, in the format of the source.

Values are those of the file, not what `read` made of them: texts of a CSV file stay as they are,
columns that were left out of the inputs are there, metadata of Parquet files too.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data import Dataset
from cgscore.data.arrays import archive_arrays
from cgscore.data.arrow import is_saved_dataset, split_folder
from cgscore.data.delimited import raw_rows
from cgscore.errors import OptionError
from cgscore.linked import new_folder, refuse_folder
from cgscore.result import replace_file

Index = NDArray[np.intp]
Writer = Callable[[Dataset, Index, Path], None]


def write_filtered(dataset: Dataset, kept: Index, to: str | Path, *, copy: bool = False) -> str:
    """Write the examples at these positions to a new file or folder; what was written, in words.

    Parameters
    ----------
    dataset : Dataset
        What was read.
    kept : (m,) array
        Positions of the examples that stay, ascending.
    to : str or Path
        A file of the same format as the source (CSV, Parquet, Feather, ``.npz``), a new folder
        where the source is a folder of images or a saved Hugging Face dataset, or for any source an
        ``.npz`` file with ``X``, ``y`` and ``ids``.
    copy : bool
        For a folder of images: copies instead of links.

    Raises
    ------
    OptionError
        The format is not that of the source, or the place is taken by the source itself.
    """
    to, source = Path(to), Path(dataset.source)
    if source.exists() and to.exists() and to.samefile(source):
        raise OptionError(f"{to} is the source itself. Choose another name.")
    suffix = _suffix(to)
    if source.is_dir() and not suffix:
        if is_saved_dataset(source):
            _saved_dataset(dataset, _rows(dataset, kept), to)
            return f"Hugging Face dataset of {len(kept):,} rows"
        if dataset.y is None:
            raise OptionError(f"{dataset.source} has no labels to name folders by.")
        labels = [dataset.y[i] for i in kept]
        count = new_folder(dataset, kept.tolist(), labels, to, copy=copy)
        return f"{count:,} {'copies' if copy else 'links'}"
    writer = _WRITERS.get((_suffix(source) if source.is_file() else "", suffix))
    if writer is None and suffix == ".npz":
        writer = _arrays
    if writer is None:
        raise OptionError(
            f"{to}: a filtered copy of {dataset.source} cannot have this name. Expected "
            f"{_expected(source)}."
        )
    writer(dataset, _rows(dataset, kept) if writer is not _arrays else kept, to)
    return f"{len(kept):,} rows"


def _suffix(path: Path) -> str:
    """What says the format: ``.csv``, also of ``.csv.gz``."""
    name = path.name.lower().removesuffix(".gz")
    found = Path(name).suffix
    return _SAME.get(found, found)


def _expected(source: Path) -> str:
    if source.is_dir():
        return "a new folder, or a name that ends in .npz"
    own = _suffix(source)
    there = (own, ".npz") if (own, own) in _WRITERS else (".npz",)
    return f"a name that ends in {' or '.join(dict.fromkeys(there))}"


def _rows(dataset: Dataset, kept: Index) -> Index:
    """Rows of the source."""
    return kept if dataset.rows is None else dataset.rows[kept]


def _csv(dataset: Dataset, rows: Index, to: Path) -> None:
    mark, lines = raw_rows(Path(dataset.source))
    wanted = set(rows.tolist())

    def write(file: Any) -> None:
        gzipped = to.name.lower().endswith(".gz")
        with gzip.open(file, "wb") if gzipped else nullcontext(file) as opened:
            text = io.TextIOWrapper(opened, encoding="utf-8", newline="", write_through=True)
            writer = csv.writer(text, delimiter=mark, lineterminator="\n")
            writer.writerow(next(lines))
            there = 0
            for there, line in enumerate(lines, 1):
                if there - 1 in wanted:
                    writer.writerow(line)
            text.detach()  # leaves the file open
        if there != len(dataset):
            raise OptionError(
                f"{dataset.source} has {there:,} rows, and {len(dataset):,} were scored."
            )

    before = csv.field_size_limit(sys.maxsize)
    try:
        replace_file(to, write)
    finally:
        csv.field_size_limit(before)


def _parquet(dataset: Dataset, rows: Index, to: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(dataset.source, partitioning=None).take(rows)
    replace_file(to, lambda file: pq.write_table(table, file))


def _feather(dataset: Dataset, rows: Index, to: Path) -> None:
    import pyarrow.feather as feather

    table = feather.read_table(dataset.source, memory_map=False).take(rows)
    replace_file(to, lambda file: feather.write_feather(table, file))


def _npz(dataset: Dataset, rows: Index, to: Path) -> None:
    """Every array with a row for each example, filtered; the others as they are."""
    found = archive_arrays(Path(dataset.source))
    n = len(dataset)
    parts = {k: v[rows] if v.ndim and len(v) == n else v for k, v in found.items()}
    replace_file(to, lambda file: np.savez(file, allow_pickle=False, **parts))


def _arrays(dataset: Dataset, kept: Index, to: Path) -> None:
    """What `read` made of any source."""
    parts = {"X": dataset.X[kept], "ids": _plain(dataset.ids[kept])}
    if dataset.y is not None:
        parts["y"] = _plain(dataset.y[kept])
    replace_file(to, lambda file: np.savez(file, allow_pickle=False, **parts))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Texts as numpy's own, which need no pickle."""
    return values.astype(str) if values.dtype.kind == "O" else values


def _saved_dataset(dataset: Dataset, rows: Index, to: Path) -> None:
    try:
        import datasets
    except ModuleNotFoundError as error:
        raise OptionError(
            f'{dataset.source} is written with the package "datasets": pip install datasets'
        ) from error
    refuse_folder(to, Path(dataset.source))
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


_SAME = {".tsv": ".csv", ".pq": ".parquet", ".arrow": ".feather"}
_WRITERS: dict[tuple[str, str], Writer] = {
    (".csv", ".csv"): _csv,
    (".parquet", ".parquet"): _parquet,
    (".feather", ".feather"): _feather,
    (".npz", ".npz"): _npz,
}
