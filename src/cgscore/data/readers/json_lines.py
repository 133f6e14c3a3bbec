"""JSON: one object a line (``.jsonl``, ``.ndjson``), or a list of objects (``.json``).

Every object is an example, every key a column. A column of lists of numbers becomes the inputs, as
in Parquet files.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cgscore.data.dataset import Dataset
from cgscore.data.readers.arrow import from_table
from cgscore.data.readers.bounded import first_line, reading
from cgscore.data.readers.cells import Cells
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.reader import source_rows
from cgscore.data.readers.text_files import encoding_notes, utf8_content
from cgscore.data.tables import LABEL_COLUMNS, several_labels
from cgscore.errors import DataError, SourceError
from cgscore.execution.files import replace_file
from cgscore.typing import Index

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


def read_json(path: Path, options: ReadOptions) -> Dataset:
    """A table from a file of JSON lines, or of a list of objects."""
    import pyarrow as pa

    content, encoding = utf8_content(path)
    cells = Cells(path, options.max_columns)
    count = 0
    for where, value, _ in json_records(path, content):
        if not isinstance(value, dict):
            raise SourceError(
                f"{path}: {where} holds {_kind(value)}. Expected an object with the columns as "
                'keys, such as {"text": "...", "label": "..."}.'
            )
        for key, cell in value.items():
            cells.add(count, key, cell)
        count += 1
    if not count:
        raise DataError(f"{path} has no rows. Expected at least two examples.")
    with reading(path, "JSON file"):
        columns = cells.columns(count)
        for name in {options.label_column, *LABEL_COLUMNS} & set(columns):
            _check_labels(path, name, columns[name])
        columns = {name: _array(values) for name, values in columns.items()}
        table = pa.table(columns) if columns else None
    if table is None:
        raise DataError(f"{path}: its objects have no keys, so there are no columns.")
    dataset = from_table(table, options, str(path))
    return replace(dataset, notes=(*encoding_notes(encoding), *dataset.notes))


def write_json(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write the objects of these rows as they are written in the source."""
    rows = source_rows(dataset, positions)
    wanted = set(rows.tolist())
    path = Path(dataset.source)
    content, encoding = utf8_content(path)
    texts = [text for row, (_, _, text) in enumerate(json_records(path, content)) if row in wanted]
    if _is_list(content):
        whole = "[\n" + ",\n".join(texts) + "\n]\n"
    else:
        whole = "".join(f"{text}\n" for text in texts)
    packed = whole.encode(encoding)
    if to.name.lower().endswith(".gz"):
        packed = gzip.compress(packed, mtime=0)
    replace_file(to, lambda file: file.write(packed))
    return f"{len(rows):,} rows"


def _is_list(content: bytes | bytearray) -> bool:
    return content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def json_records(path: Path, content: bytes | bytearray) -> Iterator[tuple[str, Any, str]]:
    """Where each value of a file is, the value, and its text."""
    return _elements(path, content) if _is_list(content) else _lines(path, content)


def _lines(path: Path, content: bytes | bytearray) -> Iterator[tuple[str, Any, str]]:
    for number, line in enumerate(io.BytesIO(content), 1):
        text = line.decode().strip(" \t\r\n\ufeff")
        if text:
            where = f"line {number:,}"
            value, end = _decode(path, where, text, 0)
            if text[end:].strip():
                raise SourceError(
                    f"{path}: {where} holds more than one value. Expected one object."
                )
            yield where, value, text


def _elements(path: Path, content: bytes | bytearray) -> Iterator[tuple[str, Any, str]]:
    """The elements of one list, decoded one after the other."""
    text = content.decode()
    at = _after_space(text, 0) + 1
    number, mark = 0, ","
    while mark == ",":
        at = _after_space(text, at)
        if number == 0 and text[at : at + 1] == "]":
            mark = "]"
            at += 1
            break
        where = f"element {number:,} (counted from 0)"
        value, end = _decode(path, where, text, at)
        yield where, value, text[at:end]
        at = _after_space(text, end)
        mark = text[at : at + 1]
        number += 1
        at += 1
    if mark != "]":
        raise SourceError(f"{path} is not a complete JSON file: its list has no end.")
    if _after_space(text, at) < len(text):
        raise SourceError(f"{path} is not a JSON file: there is something after its list.")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _decode(path: Path, where: str, text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError as error:
        raise SourceError(f"{path}: {where} nests lists or objects too deep.") from error
    except ValueError as error:
        raise SourceError(
            f"{path}: {where} is not JSON ({first_line(error)}). Expected one object per line, or "
            "one list of objects."
        ) from error


_DECODER = json.JSONDecoder()


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")


def _check_labels(path: Path, name: Any, values: list[Any]) -> None:
    """Refuse a list or object as a label: with other values among them, all would be texts."""
    for row, value in enumerate(values):
        if isinstance(value, list | dict):
            found = f"holds {_text(value)[:100]} in row {row} (counted from 0)"
            raise several_labels(path, name, found)


def _array(values: list[Any]) -> Any:
    """Values as an array of Arrow; as texts if they are of several types."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        texts = [value if value is None else _text(value) for value in values]
        return pa.array(texts, pa.string())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
