"""CSV and TSV files, gzipped or not, as data frames.

The first line that is not empty is the header; the delimiter (comma, semicolon, tab or bar) is read
off it. With semicolons, numbers may have decimal commas. Labels and names are read as text and
become numbers only if nothing is lost by it: ``07`` stays ``07``.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import check_columns, first_line, gunzip, reading, refuse_size
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.reader import source_rows
from cgscore.data.tables import ID_COLUMN, LABEL_COLUMNS, from_frame
from cgscore.errors import LabelError, SourceError
from cgscore.execution.files import replace_file
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*([^\r\n]*)")
_NUMBER = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")


def read_csv(path: Path, options: ReadOptions) -> Dataset:
    """A table from a CSV or TSV file."""
    import pyarrow as pa
    import pyarrow.csv

    content = _content(path)
    header = _header(path, content)
    delimiter = _delimiter(path, header)
    check_columns(path, _count_columns(header, delimiter), options.max_columns)
    with reading(path, "CSV file"):
        names = next(csv.reader([header], delimiter=delimiter))
    named = [options.label_column, options.id_column, *LABEL_COLUMNS, ID_COLUMN]
    texts = {name: pa.string() for name in named if name in names}
    comma = delimiter == ";" and re.search(rb"\d,\d", content) is not None
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            # one block, so that the type of a column follows from all of its values
            read_options=pyarrow.csv.ReadOptions(
                block_size=max(1 << 20, min(len(content) + 1, (1 << 31) - 1)), use_threads=False
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
        frame[name] = _plain(frame[name])
    return from_frame(frame, options, str(path), labels_inside=True)


def raw_records(path: Path) -> Iterator[bytes]:
    """The header of a file and its records, byte for byte; empty lines are left out."""
    content = _content(path)
    delimiter = _delimiter(path, _header(path, content))
    lines_read: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline=""):
            lines_read.append(line)
            yield line

    for record in csv.reader(lines(), delimiter=delimiter):
        if record and "".join(lines_read).strip("\ufeff\r\n"):
            yield "".join(lines_read).encode()
        lines_read.clear()


def _content(path: Path) -> bytes | bytearray:
    if path.suffix.lower() == ".gz":
        return gunzip(path)
    refuse_size(path, path.stat().st_size)
    return path.read_bytes()


def _delimiter(path: Path, header: str) -> str:
    return "\t" if ".tsv" in path.name.lower() else _guess_delimiter(header)


def _header(path: Path, content: bytes | bytearray) -> str:
    try:
        match = _HEADER.match(content)
        text = bytes(match[1]).decode() if match else ""
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not text in UTF-8, so not a CSV file.") from error
    if not text.strip():
        raise SourceError(f"{path} is empty. Expected a header line and one line per example.")
    return text


def _count_columns(header: str, delimiter: str) -> int:
    return re.sub(r'"[^"]*"', "", header).count(delimiter) + 1


def _guess_delimiter(header: str) -> str:
    outside = re.sub(r'"[^"]*"', "", header)
    return max(",;\t|", key=lambda mark: (outside.count(mark), mark == ","))


def _check_columns(path: Path, table: Any) -> None:
    import pyarrow as pa

    (name, times), *_ = Counter(table.column_names).most_common(1)
    if times > 1:
        raise SourceError(f"{path} has more than one column {name!r}. Rename one.")
    for field in table.schema:
        if pa.types.is_binary(field.type):  # what pyarrow makes of text in another encoding
            raise SourceError(
                f"{path}: column {field.name!r} is not text in UTF-8. Save the file as UTF-8."
            )


def _check_quotes(path: Path, column: pd.Series[Any], name: str) -> None:
    broken = np.flatnonzero(column.astype(str).str.contains("\n", regex=False).to_numpy())
    if len(broken):
        raise LabelError(
            f"{path}: column {name!r} holds a line break in row {broken[0]} (counted from 0). "
            "A quotation mark before it is probably not closed."
        )


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """Text as numbers, if writing the numbers again would give the same text."""
    values = column.dropna()
    if not len(values):
        return column
    if values.str.fullmatch(r"0|-?[1-9]\d{0,17}").all():
        return column.astype("Int64" if len(values) < len(column) else np.int64)
    numbers = values.str.fullmatch(_NUMBER)
    if numbers.all() and not values.str.fullmatch(r"[+-]?0\d+.*|\+.*").any():
        return column.astype(np.float64)
    return column


def write_csv_rows(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write the header and the records of these rows, byte for byte."""
    rows = source_rows(dataset, positions)
    numbers = set(rows.tolist())

    def write(file: Any) -> None:
        gzipped = to.name.lower().endswith(".gz")
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if gzipped else nullcontext(file)
        with packed as opened:
            for number, record in enumerate(raw_records(Path(dataset.source)), -1):
                if number in numbers or number < 0:  # the header comes first
                    opened.write(record)

    before = csv.field_size_limit(2**31 - 1)
    try:
        replace_file(to, write)
    finally:
        csv.field_size_limit(before)
    return f"{len(rows):,} rows"
