"""CSV and TSV files, gzipped or not, as data frames.

The first line that is not empty is the header, unless it looks like the lines after it; the
delimiter (comma, semicolon, tab or bar) is read off it. Where it is no comma, numbers may have
decimal commas. Text that is not UTF-8 is read as UTF-16 if it begins like that, otherwise as
Windows-1252. Labels and names are read as text and become numbers only if nothing is lost by it:
``07`` stays ``07``.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.column_names import columns_in_words
from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import check_columns, first_line, reading
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.reader import source_rows
from cgscore.data.readers.text_files import NUMBER, encoding_notes, plain_values, utf8_content
from cgscore.data.tables import ID_COLUMN, LABEL_COLUMNS, from_frame
from cgscore.errors import LabelError, SourceError
from cgscore.execution.files import replace_file
from cgscore.spelling import spelled
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*([^\r\n]*)")
_DECIMAL = {mark: re.compile(rb"(?<![^;\t|\"\r\n])-?\d+%b\d+(?![^;\t|\"\r\n])" % re.escape(mark))
            for mark in (b",", b".")}  # fmt: skip
_HEAD_BYTES = 1 << 16  # of a file, in which its first lines are looked for
_NUMBER_BYTES = 1 << 23  # of a file, in which numbers are looked at
_HEAD_LINES = 5  # that tell whether the first one is a header


def read_csv(path: Path, options: ReadOptions) -> Dataset:
    """A table from a CSV or TSV file."""
    import pyarrow as pa
    import pyarrow.csv

    content, encoding = utf8_content(path)
    header = _header(path, content)
    delimiter = _delimiter(path, header)
    check_columns(path, _count_columns(header, delimiter), options.max_columns)
    notes = encoding_notes(encoding)
    with reading(path, "CSV file"):
        names = next(csv.reader([header], delimiter=delimiter))
        headless = _is_data(names, content, delimiter)
    if headless:
        first, names = names, [f"column{i}" for i in range(1, len(names) + 1)]
        _check_label(path, first, names, options)
        notes.append(f"no header: the first line is data, so columns are {names[0]} to {names[-1]}")
    origins = (options.source_column, options.group_column, *options.annotators)
    named = [options.label_column, options.id_column, *origins, *LABEL_COLUMNS, ID_COLUMN]
    texts = {name: pa.string() for name in named if name in names}
    comma = delimiter != "," and _has_decimal_commas(content)
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            # one block, so that the type of a column follows from all of its values
            read_options=pyarrow.csv.ReadOptions(
                block_size=max(1 << 20, min(len(content) + 1, (1 << 31) - 1)),
                use_threads=False,
                column_names=names if headless else None,
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=texts, strings_can_be_null=True, decimal_point="," if comma else "."
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        reason = first_line(error).removeprefix("CSV parse error: ")
        raise SourceError(f"{path} is not a table in CSV format: {reason}") from error
    _check_columns(path, table)
    with reading(path, "CSV file"):
        frame = table.to_pandas()
    for name in texts:
        _check_quotes(path, frame[name], name)
        frame[name] = plain_values(frame[name], comma)
    dataset = from_frame(frame, options, str(path), labels_inside=True)
    return replace(dataset, notes=(*notes, *dataset.notes))


def raw_records(path: Path) -> Iterator[tuple[int, bytes]]:
    """The header of a file as number -1, and its records, byte for byte; without empty lines."""
    content, encoding = utf8_content(path)
    header = _header(path, content)
    delimiter = _delimiter(path, header)
    number = (
        0 if _is_data(next(csv.reader([header], delimiter=delimiter)), content, delimiter) else -1
    )
    lines_read: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline=""):
            lines_read.append(line)
            yield line

    for record in csv.reader(lines(), delimiter=delimiter):
        if record and "".join(lines_read).strip("\ufeff\r\n"):
            yield number, "".join(lines_read).encode(encoding)
            number += 1
        lines_read.clear()


def _is_data(first: list[str], content: bytes | bytearray, delimiter: str) -> bool:
    """Whether the first line is like the lines after it, and no header.

    It is if it has numbers where they have numbers, and texts where they have texts, unless its
    numbers are names: whole numbers in even steps, such as years, or 0, 1, 2 for columns.
    """
    names = {*LABEL_COLUMNS, ID_COLUMN}
    numbers = [cell.strip() for cell in first if _is_number(cell)]
    if not numbers or any(cell.strip() in ("", *names) for cell in first):
        return False
    if all(number.isdecimal() for number in numbers):
        values = [float(number) for number in numbers]
        steps = set(np.diff(values).tolist())
        counted = values[0] in (0, 1) or 1000 <= values[0] <= 2200
        if counted and (not steps or (len(steps) == 1 and 0 < steps.pop() <= 10)):
            return False
    head = bytes(content[:_HEAD_BYTES]).decode(errors="ignore").lstrip("\ufeff")
    lines = [line for line in head.splitlines() if line.strip()][1 : _HEAD_LINES + 1]
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if len(row) == len(first)]
    return bool(rows) and all(
        _is_number(cell) == _is_number(above) or cell.strip() in ("", "?", "NA")
        for row in rows
        for cell, above in zip(row, first, strict=True)
    )


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip().replace(",", ".", 1)) is not None


def _check_label(path: Path, first: list[str], names: list[str], options: ReadOptions) -> None:
    """Refuse a table without a header unless the user knows which column holds the labels."""
    if options.label_column in names or (options.label_column is None and options.labels_elsewhere):
        return
    row = ", ".join(first[:6])[:100]
    raise SourceError(
        f"{path} has no header: its first line is data ({row}). {columns_in_words(names)} Write a "
        f"header as the first line, or say which one holds the labels: "
        f"{spelled(label_column=names[-1])}"
    )


def _has_decimal_commas(content: bytes | bytearray) -> bool:
    """Whether more cells are numbers with a comma than numbers with a point."""
    head = bytes(content[:_NUMBER_BYTES])
    counts = {mark: len(pattern.findall(head)) for mark, pattern in _DECIMAL.items()}
    return counts[b","] > counts[b"."]


def _delimiter(path: Path, header: str) -> str:
    return "\t" if ".tsv" in path.name.lower() else _guess_delimiter(header)


def _header(path: Path, content: bytes | bytearray) -> str:
    match = _HEADER.match(content)
    text = bytes(match[1]).decode() if match else ""
    if not text.strip():
        raise SourceError(f"{path} is empty. Expected a header line and one line per example.")
    return text


def _count_columns(header: str, delimiter: str) -> int:
    return re.sub(r'"[^"]*"', "", header).count(delimiter) + 1


def _guess_delimiter(header: str) -> str:
    outside = re.sub(r'"[^"]*"', "", header)
    if ";" in outside or "\t" in outside:
        outside = re.sub(r"(?<=\d),(?=\d)", "", outside)  # decimal commas
    return max(",;\t|", key=lambda mark: (outside.count(mark), mark == ","))


def _check_columns(path: Path, table: Any) -> None:
    (name, times), *_ = Counter(table.column_names).most_common(1)
    if times > 1:
        raise SourceError(f"{path} has more than one column {name!r}. Rename one.")


def _check_quotes(path: Path, column: pd.Series[Any], name: str) -> None:
    broken = np.flatnonzero(column.astype(str).str.contains("\n", regex=False).to_numpy())
    if len(broken):
        raise LabelError(
            f"{path}: column {name!r} holds a line break in row {broken[0]} (counted from 0). "
            "A quotation mark before it is probably not closed."
        )


def write_csv_rows(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write the header and the records of these rows, byte for byte."""
    rows = source_rows(dataset, positions)
    numbers = set(rows.tolist())

    def write(file: Any) -> None:
        gzipped = to.name.lower().endswith(".gz")
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if gzipped else nullcontext(file)
        with packed as opened:
            for number, record in raw_records(Path(dataset.source)):
                if number in numbers or number < 0:  # the header comes first
                    opened.write(record)

    before = csv.field_size_limit(2**31 - 1)
    try:
        replace_file(to, write)
    finally:
        csv.field_size_limit(before)
    return f"{len(rows):,} rows"
