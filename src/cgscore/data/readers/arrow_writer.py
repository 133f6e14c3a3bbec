"""Copies of Parquet and Feather files and saved Hugging Face datasets with a part of their rows."""

from __future__ import annotations

from pathlib import Path

from cgscore.data.dataset import Dataset
from cgscore.data.readers.hugging_face import split_folder
from cgscore.data.readers.reader import source_rows
from cgscore.errors import OptionError
from cgscore.execution.files import new_folder, replace_file
from cgscore.typing import Index


def write_parquet(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write these rows of a Parquet file, with the types and metadata of the file."""
    import pyarrow.parquet as pq

    rows = source_rows(dataset, positions)
    table = pq.read_table(dataset.source, partitioning=None).take(rows)
    replace_file(to, lambda file: pq.write_table(table, file))
    return f"{len(rows):,} rows"


def write_feather(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write these rows of a Feather file."""
    import pyarrow.feather as feather

    rows = source_rows(dataset, positions)
    table = feather.read_table(dataset.source, memory_map=False).take(rows)
    replace_file(to, lambda file: feather.write_feather(table, file))
    return f"{len(rows):,} rows"


def write_hugging_face(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write these rows of a saved Hugging Face dataset to a new folder."""
    rows = source_rows(dataset, positions)
    try:
        import datasets
    except ModuleNotFoundError as error:
        raise OptionError(
            f'A copy of {dataset.source} needs the package "datasets": pip install datasets'
        ) from error
    folder = split_folder(Path(dataset.source), dataset.options.get("split"))
    with new_folder(to) as beside:
        datasets.load_from_disk(str(folder)).select(rows).save_to_disk(str(beside))
    return f"Hugging Face dataset of {len(rows):,} rows"
