"""ARFF files, as Weka and OpenML have them.

Numbers, nominal values, texts and dates; ``?`` is a missing value. Labels are in the attribute
``label`` or ``target``, as everywhere, or ``class``, as usual in this format.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import check_columns, refuse_size
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.text_files import encoding_notes, plain_values, utf8_content
from cgscore.data.tables import ID_COLUMN, LABEL_COLUMNS, from_frame
from cgscore.errors import SourceError

if TYPE_CHECKING:
    import pandas as pd

CLASS_ATTRIBUTE = "class"
_NUMBERS = ("numeric", "real", "integer")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_CELL = re.compile(rf"({_QUOTED}|(?!['\"])[^,]*)\s*(,|$)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class _Attribute:
    """A column: its name, its type, and the values it may have if it is nominal."""

    name: str
    kind: str
    values: frozenset[str] = frozenset()


def read_arff(path: Path, options: ReadOptions) -> Dataset:
    """A table from an ARFF file."""
    content, encoding = utf8_content(path)
    refuse_size(path, 12 * len(content), "needs", "while it is read")
    lines = enumerate(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"), 1)
    attributes = _header(path, lines, options.max_columns)
    rows = [_row(path, number, line, attributes) for number, line in _data_lines(path, lines)]
    frame = _frame(path, attributes, rows)
    notes = encoding_notes(encoding)
    if not {options.label_column, *LABEL_COLUMNS} & set(frame) and not options.labels_elsewhere:
        named = [str(name) for name in frame if str(name).lower() == CLASS_ATTRIBUTE]
        if named and options.label_column is None:
            options = replace(options, label_column=named[0])
            notes.append(f"labels are the attribute {named[0]!r}")
    origins = (options.source_column, options.group_column, *options.annotators)
    for name in (options.label_column, options.id_column, *origins, *LABEL_COLUMNS, ID_COLUMN):
        if name in frame and frame[name].dtype.kind not in "if":
            frame[name] = plain_values(frame[name])
    dataset = from_frame(frame, options, str(path), labels_inside=True)
    return replace(dataset, notes=(*notes, *dataset.notes))


def _header(
    path: Path, lines: Iterator[tuple[int, str]], max_columns: int | None
) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        text = line.strip(" \t\r\n\ufeff")
        word = text.split(None, 1)[0].lower() if text else ""
        if not text or text.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            break
        match = _ATTRIBUTE.fullmatch(text)
        if not match:
            raise SourceError(
                f"{path}: line {number:,} is {text[:60]!r}. Expected @attribute NAME TYPE or @data."
            )
        attributes.append(_attribute(path, number, _unquoted(match[1]), match[2].strip()))
        check_columns(path, len(attributes), max_columns)
    else:
        raise SourceError(f"{path} is not a complete ARFF file: it has no @data.")
    if not attributes:
        raise SourceError(f"{path} has no @attribute before @data.")
    (name, times), *_ = Counter(attribute.name for attribute in attributes).most_common(1)
    if times > 1:
        raise SourceError(f"{path} has more than one attribute {name!r}. Rename one.")
    return attributes


def _attribute(path: Path, number: int, name: str, kind: str) -> _Attribute:
    if kind.startswith("{") and kind.endswith("}"):
        values = _cells(kind[1:-1])
        if values is not None:
            return _Attribute(name, "nominal", frozenset(map(_unquoted, values)))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in (*_NUMBERS, "string", "date"):
        return _Attribute(name, "number" if word in _NUMBERS else word)
    raise SourceError(
        f"{path}: line {number:,}: attribute {name!r} has the type {kind[:60]!r}. Expected "
        "numeric, string, date or a list of values in braces."
    )


def _data_lines(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise SourceError(
                f"{path}: line {number:,} is sparse ({text[:40]}). Sparse ARFF is not read; save "
                "the table with all values, or as Parquet."
            )
        yield number, text


def _row(path: Path, number: int, line: str, attributes: list[_Attribute]) -> list[Any]:
    cells = line.split(",") if "'" not in line and '"' not in line else _cells(line)
    if cells is None:
        raise SourceError(f"{path}: line {number:,} has a quotation mark that is not closed.")
    if len(cells) != len(attributes):
        raise SourceError(
            f"{path}: line {number:,} has {len(cells):,} values. Expected {len(attributes):,}, one "
            "for each attribute."
        )
    return [
        _value(path, number, cell.strip(), attribute)
        for cell, attribute in zip(cells, attributes, strict=True)
    ]


def _value(path: Path, number: int, cell: str, attribute: _Attribute) -> Any:
    if cell in ("?", ""):
        return None
    text = _unquoted(cell)
    if attribute.kind == "number":
        try:
            return float(text)
        except ValueError:
            expected = "a number"
    elif attribute.kind != "nominal" or text in attribute.values:
        return text
    else:
        expected = "one of the values that its @attribute lists"
    raise SourceError(
        f"{path}: line {number:,} has {text[:60]!r} as {attribute.name!r}. Expected {expected}."
    )


def _cells(line: str) -> list[str] | None:
    """The cells of a line with quotation marks; None if one is not closed."""
    cells, at, mark = [], 0, ","
    while mark == ",":
        space = _SPACE.match(line, at)
        match = _CELL.match(line, space.end() if space else at)
        if match is None:
            return None
        cells.append(match[1])
        mark, at = match[2], match.end()
    return cells


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
    elif "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)


def _frame(path: Path, attributes: list[_Attribute], rows: list[list[Any]]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    columns: dict[Any, pd.Series[Any]] = {}
    for i, attribute in enumerate(attributes):
        values = [row[i] for row in rows]
        if attribute.kind != "number":
            columns[attribute.name] = pd.Series(values, dtype=object)
            continue
        numbers = np.array(values, dtype=np.float64)  # None becomes NaN
        whole = bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
        whole = whole and bool((np.abs(numbers) < 2**53).all())
        columns[attribute.name] = pd.Series(numbers.astype(np.int64) if whole else numbers)
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame
