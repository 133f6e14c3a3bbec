"""Corrected labels and lists of changes as files."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from cgscore.csv_files import write_csv
from cgscore.execution.files import replace_file


def table_bytes(table: pd.DataFrame, kind: str) -> bytes:
    """A table as the content of a file; `kind` is csv or parquet."""
    file = io.BytesIO()
    if kind == "csv":
        write_csv(table, file)
    else:
        table.to_parquet(file, index=False)
    return file.getvalue()


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table, as CSV if the name ends so and as Parquet otherwise."""
    kind = "csv" if path.suffix.lower() == ".csv" else "parquet"
    replace_file(path, lambda file: file.write(table_bytes(table, kind)))
