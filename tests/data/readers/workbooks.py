"""Excel workbooks, written by hand so that every part of them can be wrong."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def column_letters(number: int) -> str:
    """A for 0, AA for 26."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell(row: int, column: int, value: Any) -> str:
    """A cell of a sheet; values that begin with ``<`` are taken as they are."""
    place = f'r="{column_letters(column)}{row}"'
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c {place}><v>{value!r}</v></c>"
    if value.startswith("<c "):
        return str(value)
    return f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def sheet(rows: Iterable[Iterable[Any]]) -> str:
    """A sheet with these values."""
    lines = (
        f'<row r="{i}">{"".join(cell(i, j, value) for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows, 1)
    )
    return f"{_HEAD}<worksheet {_MAIN}><sheetData>{''.join(lines)}</sheetData></worksheet>"


def shared_texts(texts: Iterable[str]) -> str:
    """The texts that cells of the type ``s`` refer to."""
    items = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    return f"{_HEAD}<sst {_MAIN}>{items}</sst>"


def write_workbook(
    path: Path,
    rows: Iterable[Iterable[Any]] | str,
    other_files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """A workbook with one sheet of values, or of the XML that is given."""
    book = f'<sheets><sheet name="Data" sheetId="1" xmlns:r="{_OFFICE}" r:id="rId1"/></sheets>'
    relation = f'Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"'
    files: dict[str, str | bytes] = {
        "xl/workbook.xml": f"{_HEAD}<workbook {_MAIN}>{book}</workbook>",
        "xl/_rels/workbook.xml.rels": f"{_HEAD}<Relationships><Relationship {relation}/>"
        "</Relationships>",
        "xl/worksheets/sheet1.xml": rows if isinstance(rows, str) else sheet(rows),
        **(other_files or {}),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
