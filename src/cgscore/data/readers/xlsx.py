"""Excel workbooks (``.xlsx``): the first sheet, as a table with a header.

A workbook is a zip archive of XML files. Four of them are read, each as a stream and within the
limits of `bounded`; nothing in them is executed. A formula counts as the value that was saved with
it.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from cgscore.data.column_names import list_names
from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import reading, refuse_expansion
from cgscore.data.readers.cells import Cells
from cgscore.data.readers.options import ReadOptions
from cgscore.data.tables import from_frame
from cgscore.errors import DataError, SourceError

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT = 32_767  # characters in a cell, says Excel
MAX_SHEET_COLUMNS = 16_384  # of a sheet, says Excel
_MAX_SERIAL = 2_958_466  # the day after the last one of the year 9999
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_NOT_CODES = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')  # what formats show as it is
_CHUNK_BYTES = 1 << 20
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # of .xls files, and of encrypted ones

_Attributes = dict[str, str]


def read_xlsx(path: Path, options: ReadOptions) -> Dataset:
    """The first sheet of a workbook."""
    with path.open("rb") as file:
        if file.read(4) == _OLD_FORMAT:
            raise SourceError(f"{path} is an old or encrypted workbook. Save it as .xlsx.")
    with reading(path, "XLSX file"), zipfile.ZipFile(path) as archive:
        book = _Book(path, archive)
        sheet = _Sheet(path, book, options.max_columns)
        book.parse(book.sheet_file, sheet.start, sheet.end)
        frame = sheet.frame()
    dataset = from_frame(frame, options, str(path), labels_inside=True)
    return replace(dataset, notes=(*book.notes(), *sheet.notes(), *dataset.notes))


@dataclass
class _Texts:
    """Texts of elements: what stands in `<t>`, collected for each `<si>` or `<is>`."""

    whole: list[str] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _phonetic: bool = False

    def start(self, name: str, attributes: _Attributes) -> None:
        if name == "si":
            self._parts = []
        self._phonetic = self._phonetic or name == "rPh"  # how Japanese is read aloud

    def end(self, name: str, text: str) -> None:
        if name == "t" and not self._phonetic:
            self._parts.append(text)
        elif name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.whole.append("".join(self._parts))


class _Book:
    """What a workbook says beside its cells: sheets, shared texts, and which styles are dates."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        self._names = set(archive.namelist())
        self.sheets: list[tuple[str, str]] = []  # names and relations
        self.epoch = datetime(1899, 12, 30)
        self.date_styles: set[int] = set()
        root = "xl/workbook.xml"
        if root not in self._names:
            raise SourceError(f"{path} is a zip archive without a workbook, so not an XLSX file.")
        self.parse(root, self._workbook)
        relations = self._relations("xl/_rels/workbook.xml.rels")
        files = [(name, relations.get(relation)) for name, relation in self.sheets]
        found = [(name, file) for name, file in files if file in self._names and "sheet" in file]
        if not found:
            raise SourceError(f"{path} has no sheet.")
        self.sheet, self.sheet_file = str(found[0][0]), str(found[0][1])
        self._others = [name for name, _ in found[1:]]
        texts = _Texts()
        if "xl/sharedStrings.xml" in self._names:
            self.parse("xl/sharedStrings.xml", texts.start, texts.end)
        self.texts = texts.whole
        if "xl/styles.xml" in self._names:
            self._read_styles()

    def notes(self) -> list[str]:
        """Which sheet was read."""
        others = f"; others left out: {list_names(self._others)}" if self._others else ""
        return [f"sheet {self.sheet!r} is read{others}"]

    def parse(
        self,
        member: str,
        start: Callable[[str, _Attributes], None],
        end: Callable[[str, str], None] | None = None,
    ) -> None:
        """Call `start` and `end` for the elements of a file of the archive.

        `end` gets the text that stands directly before the end of an element.
        """
        info = self._archive.getinfo(member)
        packed = min(info.compress_size, self._path.stat().st_size)
        refuse_expansion(f"{self._path}: {member}", packed, info.file_size)
        parser = expat.ParserCreate()
        parser.buffer_text = True
        text: list[str] = []

        def at_start(name: str, attributes: _Attributes) -> None:
            text.clear()
            start(name.rpartition(":")[2], attributes)

        def at_end(name: str) -> None:
            if end is not None:
                end(name.rpartition(":")[2], "".join(text))
            text.clear()

        def refuse(*_: Any) -> None:
            raise SourceError(f"{self._path}: {member} declares entities. No spreadsheet does.")

        parser.StartElementHandler, parser.EndElementHandler = at_start, at_end
        parser.CharacterDataHandler = text.append
        parser.StartDoctypeDeclHandler = refuse
        with self._archive.open(member) as file:
            while chunk := file.read(_CHUNK_BYTES):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)

    def _workbook(self, name: str, attributes: _Attributes) -> None:
        if name == "sheet":
            relation = next((v for key, v in attributes.items() if key.endswith(":id")), "")
            self.sheets.append((attributes.get("name", ""), relation))
        elif name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self.epoch = datetime(1904, 1, 1)

    def _relations(self, member: str) -> dict[str, str]:
        """The files that identifiers of relations stand for."""
        targets: dict[str, str] = {}

        def start(name: str, attributes: _Attributes) -> None:
            if name == "Relationship":
                file = normpath(join("/xl", attributes.get("Target", ""))).lstrip("/")
                targets[attributes.get("Id", "")] = file

        if member in self._names:
            self.parse(member, start)
        return targets

    def _read_styles(self) -> None:
        formats: dict[str, str] = {}
        inside: list[str] = []
        styles: list[str] = []

        def start(name: str, attributes: _Attributes) -> None:
            inside.append(name)
            if name == "numFmt":
                formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            elif name == "xf" and "cellXfs" in inside:
                styles.append(attributes.get("numFmtId", "0"))

        def end(name: str, text: str) -> None:
            inside.pop()

        self.parse("xl/styles.xml", start, end)
        for number, style in enumerate(styles):
            code = _NOT_CODES.sub("", formats.get(style, "")).lower()
            usual = style.isdecimal() and int(style) in _DATE_FORMATS
            if usual or any(letter in code.split(";")[0] for letter in "ymdhs"):
                self.date_styles.add(number)


class _Sheet:
    """Collects the cells of a sheet while it is parsed."""

    def __init__(self, path: Path, book: _Book, max_columns: int | None) -> None:
        self._path = path
        self._book = book
        self._cells = Cells(path, max_columns)
        self._header: dict[int, Any] | None = None
        self._row: dict[int, Any] = {}
        self._count = 0
        self._column = -1
        self._kind, self._style, self._value = "n", 0, ""
        self._inline: list[str] = []
        self._formula = False
        self._phonetic = False
        self._formulas = self._unsaved = self._errors = 0

    def notes(self) -> list[str]:
        """What became of formulas and errors."""
        notes = []
        if self._formulas:
            unsaved = f", {self._unsaved:,} have none and are missing" if self._unsaved else ""
            notes.append(
                f"{self._formulas:,} formulas count as the values saved with them{unsaved}"
            )
        if self._errors:
            notes.append(f"{self._errors:,} cells hold errors such as #N/A and are missing")
        return notes

    def start(self, name: str, attributes: _Attributes) -> None:
        """An element of the sheet begins."""
        if name == "row":
            self._row, self._column = {}, -1
        elif name == "c":
            self._column = self._position(attributes.get("r"))
            self._kind, self._value = attributes.get("t", "n"), ""
            style = attributes.get("s", "0")
            self._style = int(style) if style.isdecimal() else 0
            self._inline, self._formula = [], False
        elif name == "f":
            self._formula = True
        elif name == "rPh":
            self._phonetic = True

    def end(self, name: str, text: str) -> None:
        """An element of the sheet ends."""
        if name == "v":
            self._value = text
        elif name == "t" and not self._phonetic:
            self._inline.append(text)
        elif name == "rPh":
            self._phonetic = False
        elif name == "c":
            self._end_cell()
        elif name == "row" and self._row:
            self._end_row()

    def _position(self, reference: str | None) -> int:
        if reference is None:
            position = self._column + 1
        else:
            position = 0
            for letter in reference.rstrip("0123456789")[:9].upper():
                position = 26 * position + ord(letter) - ord("A") + 1
            position -= 1
        if not 0 <= position < MAX_SHEET_COLUMNS:
            raise SourceError(
                f"{self._path} has a cell {str(reference)[:20]!r}, which no sheet has."
            )
        return position

    def _end_cell(self) -> None:
        value = self._cell_value()
        if self._formula:
            self._formulas += 1
            self._unsaved += value is None
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise SourceError(
                f"{self._path} has a cell of {len(value):,} characters; a sheet holds {MAX_TEXT:,}."
            )
        if value is not None and value != "":
            self._row[self._column] = value

    def _cell_value(self) -> Any:
        kind, text = self._kind, self._value
        if kind == "inlineStr":
            return "".join(self._inline)
        if text == "":
            return None
        if kind == "s":
            if not text.isdecimal() or int(text) >= len(self._book.texts):
                raise SourceError(f"{self._path} refers to the text {text[:20]}, which it lacks.")
            return self._book.texts[int(text)]
        if kind == "b":
            return text == "1"
        if kind == "e":
            self._errors += 1
            return None
        if kind in ("str", "d"):
            return text
        number = float(text)
        if self._style in self._book.date_styles and 0 <= number < _MAX_SERIAL:
            moment = self._book.epoch + timedelta(milliseconds=round(number * 86_400_000))
            return moment.isoformat(sep=" ")
        whole = number.is_integer() and abs(number) < 2**53
        return int(number) if whole else number

    def _end_row(self) -> None:
        if self._header is None:
            self._header = {column: str(value).strip() for column, value in self._row.items()}
            return
        for column, value in self._row.items():
            self._cells.add(self._count, column, value)
        self._count += 1

    def frame(self) -> pd.DataFrame:
        """The cells below the header as a table."""
        import pandas as pd

        if self._header is None or not self._count:
            raise DataError(
                f"{self._path}: sheet {self._book.sheet!r} has no rows. Expected a header and one "
                "row per example."
            )
        columns = self._cells.columns(self._count)
        names = {
            column: self._header.get(column, f"column{column + 1}" if column else "")
            for column in sorted({*self._header, *columns})
        }
        (name, times), *_ = Counter(names.values()).most_common(1)
        if times > 1:
            raise SourceError(f"{self._path} has more than one column {name!r}. Rename one.")
        frame: pd.DataFrame = pd.DataFrame(
            {
                name: _series(columns.get(column, [None] * self._count))
                for column, name in names.items()
            }
        )
        return frame


def _series(values: list[Any]) -> pd.Series[Any]:
    """A column; as texts if it holds texts and other values."""
    import pandas as pd

    if any(isinstance(value, str) for value in values):
        values = [value if value is None else str(value) for value in values]
        column: pd.Series[Any] = pd.Series(values, dtype=object)
    else:
        column = pd.Series(values)
    return column
