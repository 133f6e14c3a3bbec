"""Tables as the content of files."""

from __future__ import annotations

import io

import pandas as pd

from cgscore.data.csv_writer import write_csv


def table_bytes(table: pd.DataFrame, kind: str) -> bytes:
    """A table as the bytes of a file; `kind` is ``csv`` or ``parquet``."""
    file = io.BytesIO()
    if kind == "csv":
        write_csv(table, file)
    else:
        table.to_parquet(file, index=False)
    return file.getvalue()
