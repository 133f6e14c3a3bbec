"""Which reader understands a source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cgscore.data import arrays, bundled, tables
from cgscore.data.dataset import Dataset, in_memory
from cgscore.errors import OptionError, SourceError

Reader = Callable[[Path, dict[str, Any]], Dataset]

_BY_SUFFIX: dict[str, Reader] = {
    ".npz": arrays.read_npz,
    ".npy": arrays.read_npy,
    ".csv": tables.read_csv,
    ".tsv": tables.read_csv,
    ".csv.gz": tables.read_csv,
    ".tsv.gz": tables.read_csv,
}

PREPROCESS = ("auto", "none", "table")


def read(
    source: Any,
    *,
    labels: Any = None,
    label_column: str | None = None,
    id_column: str | None = None,
    preprocess: str = "auto",
) -> Dataset:
    """A `Dataset` from a path, a named source or an object in memory.

    Parameters
    ----------
    source : str, Path or object
        ``.npz`` (arrays ``X`` and ``y``), ``.npy`` (with `labels`), ``.csv`` or ``.tsv`` (also
        gzipped), ``sklearn:NAME`` for the data that ship with scikit-learn, a numpy array, a
        pandas data frame, or a `Dataset`, which comes back with the `labels` given.
    labels : path or array, optional
        Labels kept apart from the inputs: a ``.npy`` file, a text file with one label a line,
        or an array.
    label_column : str, optional
        Column that holds the labels of a table; ``label`` or ``target`` by default.
    id_column : str, optional
        Column that names the rows of a table; ``id`` by default, if there is one without repeats.
    preprocess : {"auto", "none", "table"}
        ``table`` standardises numeric columns, encodes text columns one-hot and adds a constant
        column. ``none`` takes numbers as they are. ``auto`` is ``table`` for tables (files, data
        frames that contain their label column) and ``none`` for arrays.

    Raises
    ------
    SourceError
        The source is missing, truncated, or not of the format its name says.
    """
    if preprocess not in PREPROCESS:
        raise OptionError(
            f"preprocess={preprocess!r} is not known. Choose one of: {', '.join(PREPROCESS)}."
        )
    options = {
        "labels": labels,
        "label_column": label_column,
        "id_column": id_column,
        "preprocess": preprocess,
    }
    if isinstance(source, Dataset):
        return source if labels is None else source.with_labels(_labels(labels))
    if isinstance(source, str) and source.startswith("sklearn:"):
        dataset = bundled.read_sklearn(source, options)
    elif isinstance(source, str | Path):
        dataset = _read_path(Path(source), options)
    elif tables.is_frame(source):
        dataset = tables.from_frame(source, options)
    else:
        dataset = in_memory(source, None)
    if labels is not None:
        dataset = dataset.with_labels(_labels(labels))
    kept = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if value is not None and not (name == "labels" and not isinstance(value, str | Path))
    }
    return replace(dataset, options=kept)


def _labels(labels: Any) -> Any:
    return arrays.read_labels(labels) if isinstance(labels, str | Path) else labels


def _read_path(path: Path, options: dict[str, Any]) -> Dataset:
    if not path.exists():
        raise SourceError(f"{path} does not exist.{_similar(path)}")
    if path.is_dir():
        raise SourceError(f"{path} is a folder. This version reads {_known()}.")
    suffixes = "".join(path.suffixes[-2:]).lower()
    reader = _BY_SUFFIX.get(suffixes) or _BY_SUFFIX.get(path.suffix.lower())
    if reader is None:
        raise SourceError(f"{path} has a name that no reader knows. This version reads {_known()}.")
    try:
        dataset = reader(path, options)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(dataset) == 0:
        raise SourceError(f"{path} holds no examples.")
    return replace(dataset, source=str(path))


def _known() -> str:
    return ", ".join(sorted(_BY_SUFFIX)) + " and sklearn:NAME"


def _similar(path: Path) -> str:
    """A hint when a file of nearly that name is there."""
    import difflib

    if not path.parent.is_dir():
        return ""
    names = [entry.name for entry in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.parent / close[0]}?" if close else ""
