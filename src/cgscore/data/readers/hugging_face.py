"""Hugging Face datasets: saved to disk, in memory, or as a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cgscore.data.dataset import Dataset
from cgscore.data.readers.arrow import from_table
from cgscore.data.readers.arrow_sizes import check_sizes
from cgscore.data.readers.arrow_texts import check_texts
from cgscore.data.readers.bounded import check_link, check_member, reading, refuse_size
from cgscore.data.readers.options import ReadOptions
from cgscore.errors import DataError, SourceError
from cgscore.execution.machine import show_bytes
from cgscore.spelling import spelled

MAX_DESCRIPTION_BYTES = 50_000_000  # of the JSON that describes a saved dataset
_BATCH_ROWS = 512  # taken from a stream at a time


def is_saved_dataset(folder: Path) -> bool:
    """Whether a folder was written by `datasets.Dataset.save_to_disk`."""
    return any(
        path.exists() and not path.is_dir()
        for path in (folder / "state.json", folder / "dataset_dict.json")
    )


def read_saved_dataset(folder: Path, options: ReadOptions) -> Dataset:
    """A Hugging Face dataset saved to disk, or one split of several."""
    folder = split_folder(folder, options.split)
    table = saved_table(folder, options.max_columns)
    with reading(folder, "saved dataset"):
        return from_table(table, options, str(folder), checked=True)


def saved_table(folder: Path, max_columns: int | None = None) -> Any:
    """The table of a dataset, or of one split, that was saved to disk; mapped, not read."""
    import pyarrow as pa

    names = data_files(folder)
    with reading(folder, "saved dataset"):
        tables, packed = [], 0
        for name in names:
            size = check_member(folder / name, folder)
            packed += size
            with pa.memory_map(str(folder / name)) as source:
                messages = pa.ipc.MessageReader.open_stream(source)
                check_sizes(folder / name, messages, size, max_columns)
            with pa.memory_map(str(folder / name)) as source:
                tables.append(pa.ipc.open_stream(source).read_all())
        table = pa.concat_tables(tables)
        check_texts(table, str(folder), packed)
        table.validate(full=True)
        return table


def data_files(folder: Path) -> list[str]:
    """The data files of a saved dataset, which are beside its description."""
    files = _read_json(folder / "state.json").get("_data_files")
    names: list[Any] = [
        file.get("filename") if isinstance(file, dict) else None
        for file in (files if isinstance(files, list) else [])
    ]
    if not names or not all(map(_is_name, names)):
        raise SourceError(f"{folder / 'state.json'} does not name the data files beside it.")
    return names


def split_folder(folder: Path, split: str | None) -> Path:
    """The folder of one split of a saved dataset; the folder itself if it has none."""
    if not (folder / "dataset_dict.json").is_file():
        return folder
    splits = _read_json(folder / "dataset_dict.json").get("splits")
    if not isinstance(splits, list) or not splits or not all(map(_is_name, splits)):
        raise SourceError(f"{folder / 'dataset_dict.json'} has no list of splits.")
    chosen = folder / _choose_split(folder, splits, split)
    check_link(chosen, folder)
    return chosen


def _read_json(path: Path) -> dict[str, Any]:
    if check_member(path, path.parent) > MAX_DESCRIPTION_BYTES:
        raise SourceError(f"{path} is larger than {show_bytes(MAX_DESCRIPTION_BYTES)}.")
    with reading(path, "description of a dataset"):
        document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise SourceError(f"{path} does not describe a dataset.")
    return document


def _is_name(text: Any) -> bool:
    """Whether a text from a file names an entry of the same folder and nothing else."""
    return isinstance(text, str) and text not in ("", ".", "..") and Path(text).name == text


def _choose_split(source: object, splits: list[str], split: str | None) -> str:
    if split is None and len(splits) > 1 and "train" not in splits:
        raise SourceError(
            f"{source} has the splits {', '.join(splits)}. Say which one: "
            f"{spelled(split=splits[0])}"
        )
    chosen = split or ("train" if "train" in splits else splits[0])
    if chosen not in splits:
        raise SourceError(f"{source} has no split {chosen!r}. Its splits are {', '.join(splits)}.")
    return chosen


def is_hugging_face(source: Any) -> bool:
    """Whether an object is a dataset of the `datasets` library."""
    return type(source).__module__.split(".")[0] == "datasets"


def from_hugging_face(source: Any, options: ReadOptions) -> Dataset:
    """A dataset of the `datasets` library in memory."""
    if isinstance(source, dict):
        source = source[_choose_split("The dataset", list(source), options.split)]
    if not hasattr(source, "with_format"):
        raise SourceError(
            f"A {type(source).__name__} of Hugging Face is not a dataset. Give a Dataset or a "
            "DatasetDict."
        )
    whole = source.with_format("arrow")
    if hasattr(source, "__len__"):
        return from_table(whole[:], options, "Hugging Face dataset", local_files=True)
    return from_table(_collect(whole), options, "Hugging Face stream", local_files=True)


def _collect(stream: Any) -> Any:
    """All rows of a stream as one table: scoring compares each row with every other."""
    import pyarrow as pa

    parts, size = [], 0
    for part in stream.iter(_BATCH_ROWS):
        size += part.nbytes
        refuse_size("The Hugging Face stream, so far,", size)
        parts.append(part)
    if not parts:
        raise DataError("The Hugging Face stream has no rows. Expected at least two examples.")
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowInvalid as error:
        raise DataError(f"Types change within the Hugging Face stream: {error}") from error
