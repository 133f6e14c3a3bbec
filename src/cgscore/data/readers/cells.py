"""Cells of a table that come one by one, where rows may lack some or name new columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cgscore.data.readers.bounded import check_columns, check_expansion, refuse_expansion


class Cells:
    """Cells of a file, by column. Only those that are there are held, until `columns`.

    Parameters
    ----------
    path : Path
        The file, for messages and as the measure of what it may expand to.
    max_columns : int or None
        Most columns, as for `check_columns`.
    """

    def __init__(self, path: Path, max_columns: int | None) -> None:
        self._path = path
        self._max_columns = max_columns
        self._size = path.stat().st_size
        self._text_size = 0
        self._cells: dict[Any, tuple[list[int], list[Any]]] = {}

    def add(self, row: int, column: Any, value: Any) -> None:
        """Add a cell; a later one in the same place replaces it."""
        if column not in self._cells:
            self._cells[column] = ([], [])
            check_columns(self._path, len(self._cells), self._max_columns)
        if isinstance(value, str):  # it may be stored once and repeated
            self._text_size += len(value)
            check_expansion(self._path, self._size, self._text_size)
        rows, values = self._cells[column]
        rows.append(row)
        values.append(value)

    def columns(self, count: int) -> dict[Any, list[Any]]:
        """All columns with `count` rows each; None where there is no cell."""
        size = 8 * count * len(self._cells) + self._text_size
        refuse_expansion(self._path, self._size, size)
        whole: dict[Any, list[Any]] = {}
        for column, (rows, values) in self._cells.items():
            whole[column] = [None] * count
            for row, value in zip(rows, values, strict=True):
                whole[column][row] = value
        return whole
