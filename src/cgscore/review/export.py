"""Corrected labels and lists of changes as files."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pandas as pd

from cgscore.execution.files import replace_file

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def table_bytes(table: pd.DataFrame, kind: str) -> bytes:
    """A table as the content of a file; `kind` is csv or parquet."""
    file = io.BytesIO()
    if kind == "csv":
        _write_csv(table, file)
    else:
        table.to_parquet(file, index=False)
    return file.getvalue()


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table, as CSV if the name ends so and as Parquet otherwise."""
    kind = "csv" if path.suffix.lower() == ".csv" else "parquet"
    replace_file(path, lambda file: file.write(table_bytes(table, kind)))


def _write_csv(table: pd.DataFrame, file: io.BytesIO) -> None:
    """Write CSV in which no text is a formula: such texts get a ``'`` in front.

    Numbers stay as they are, also those that are written as text.
    """
    texts = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    guarded = table.assign(**{name: table[name].map(_as_text) for name in texts})
    guarded.to_csv(file, index=False)


def _as_text(value: object) -> object:
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
