"""Archives of arrays: a copy of one with a part of its examples, and one of any dataset."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.data.readers.arrays import archive_arrays
from cgscore.data.readers.reader import source_rows
from cgscore.execution.files import replace_file
from cgscore.typing import Index

OTHER_SPLITS = ("test", "val", "valid", "validation", "eval", "holdout")


def write_npz(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write the archive; arrays with an entry for each example have these rows only."""
    rows = source_rows(dataset, positions)
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


def write_arrays(dataset: Dataset, positions: Index, to: Path) -> str:
    """Write inputs, ids and labels of any source to an ``.npz`` file; return what was written."""
    arrays = {"X": dataset.X[positions], "ids": _plain(dataset.ids[positions])}
    if dataset.y is not None:
        arrays["y"] = _plain(dataset.y[positions])
    _write_archive(to, arrays)
    return f"{len(positions):,} rows of {', '.join(arrays)}"


def _is_other_split(key: str) -> bool:
    """Whether the name of an array is that of another split."""
    return any(word in OTHER_SPLITS for word in key.lower().replace("-", "_").split("_"))


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
