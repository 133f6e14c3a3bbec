"""CSV: a table for spreadsheets, with a column in which corrected labels are filled in."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cgscore.data.csv_writer import unguarded, write_csv
from cgscore.data.readers.bounded import check_regular, first_line
from cgscore.data.readers.text_files import utf8_content
from cgscore.errors import SourceError
from cgscore.exchange.examples import Examples
from cgscore.exchange.pictures import Pictures
from cgscore.exchange.tool import ID, POSITION, STAMP, Correction, ExportOptions, Tool
from cgscore.execution.progress import Advance

CORRECTED = "corrected_label"
MAX_TEXT = 1000  # characters of a text; spreadsheets hold 32,767 in a cell
COLUMNS = [
    POSITION, ID, "given_label", "suggested_label", CORRECTED, "confidence", "label_score", "cg",
    "is_label_issue", "reason", STAMP,
]  # fmt: skip
_DELIMITERS = ",;\t"


def write(
    examples: Examples, path: Path, options: ExportOptions, advance: Advance
) -> dict[str, str]:
    """Write one row for each example, with an empty column for the corrected label."""
    import pandas as pd

    pictures = None
    if examples.kind == "image" and examples.dataset is not None:
        pictures = Pictures(examples.dataset, None, options)
    records = []
    for example in examples:
        record: dict[str, Any] = {
            POSITION: example.position,
            ID: example.id,
            "given_label": example.given,
            "suggested_label": example.suggested,
            CORRECTED: None,
            "confidence": example.confidence,
            "label_score": example.label_score,
            "cg": example.cg,
            "is_label_issue": example.is_label_issue,
            "reason": example.reason,
        }
        if pictures is not None and pictures.available:
            record["image"] = pictures.path(example.position)
        if examples.kind == "text":
            record["text"] = _shortened(examples.text(example.position))
        if examples.kind == "table":
            cells = examples.cells(example.position)
            record |= {f"column_{name}": cell for name, cell in cells.items()}
        records.append({**record, STAMP: examples.stamp})
        advance(1)
    table = pd.DataFrame(records, columns=list(records[0]) if records else COLUMNS)
    write_csv(table, path, guard=options.guard)
    return {str(path): f"{len(records):,} rows"}


def read(path: Path) -> Iterator[Correction]:
    """The rows whose corrected label is filled in."""
    check_regular(path)
    content, _ = utf8_content(path)
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    header = text.readline()
    text.seek(0)
    delimiter = max(_DELIMITERS, key=header.count)
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        names = [unguarded(name.strip()) for name in next(rows, [])]
        places = _places(path, names)
        for row in rows:
            if row:
                yield from _corrections(path, row, rows.line_num, places, delimiter)
    except csv.Error as error:
        raise SourceError(
            f"{path} is not a table in CSV format: {first_line(error)} in line {rows.line_num:,}."
        ) from error


def _places(path: Path, names: list[str]) -> dict[str, int]:
    """Where the columns are that an import needs."""
    counts = Counter(names)
    wanted = (CORRECTED, STAMP, POSITION, ID)
    for name in wanted:
        if counts[name] > 1:
            raise SourceError(f"{path} has more than one column {name!r}. Remove one.")
    missing = [name for name in (CORRECTED, STAMP) if not counts[name]]
    if not counts[POSITION] and not counts[ID]:
        missing.append(POSITION)
    if missing:
        raise SourceError(
            f"{path} has no column {missing[0]!r}. Import a table that cgscore export --to csv "
            "wrote, with all its columns."
        )
    return {name: names.index(name) for name in wanted if counts[name]}


def _corrections(
    path: Path, row: list[str], line: int, places: dict[str, int], delimiter: str
) -> Iterator[Correction]:
    if len(row) <= max(places.values()):
        raise SourceError(f"{path}: line {line:,} has {len(row):,} cells, fewer than the header.")
    cells = {name: unguarded(row[place]) for name, place in places.items()}
    label = cells[CORRECTED]
    if not label.strip():
        return
    if delimiter != ",":
        label = _with_point(label)
    yield Correction(
        where=f"line {line:,}",
        stamp=cells[STAMP],
        position=cells.get(POSITION),
        id=cells.get(ID),
        label=label,
    )


def _with_point(label: str) -> str:
    """A number with a decimal comma, as spreadsheets of some languages write it, with a point."""
    with_point = label.strip().replace(",", ".", 1)
    try:
        float(with_point)
    except ValueError:
        return label
    return with_point


def _shortened(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… ({len(text):,} characters)"


TOOL = Tool(
    name="csv",
    title="a spreadsheet",
    write=write,
    read=read,
    recognises=lambda path: path.suffix.lower() in (".csv", ".tsv"),
    suffix=".csv",
    steps=f"Fill in the column {CORRECTED}, leave it empty where you do not know, and save as CSV.",
    returned="",
)
