"""JSON files that come back: read one object after the other, within the memory there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cgscore.data.readers.bounded import check_regular, first_line, refuse_size
from cgscore.data.readers.json_lines import json_records
from cgscore.data.readers.text_files import utf8_content
from cgscore.errors import SourceError

SUFFIXES = (".json", ".jsonl", ".ndjson")
OBJECT_BYTES = 100  # of a value that Python holds, without its text
_HEAD_BYTES = 1 << 20  # of a file, in which its kind is looked for


def json_file(path: Path) -> bool:
    """Whether a path has the name of a JSON file."""
    return path.suffix.lower() in SUFFIXES


def looks_like(path: Path, *words: str) -> bool:
    """Whether one of these words is a key near the beginning of a JSON file."""
    check_regular(path)
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return any(b'"' + word.encode() + b'"' in head for word in words)


def json_objects(path: Path, exported: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each object of a list, or of a file with one a line, is, and the object itself.

    Parameters
    ----------
    path : Path
        The file.
    exported : str
        The file that cgscore writes, for messages.
    """
    content = _content(path)
    for where, value, _ in json_records(path, content):
        if not isinstance(value, dict):
            raise SourceError(
                f"{path}: {where} is not an object. Expected what a tool makes of {exported}."
            )
        yield where, value


def json_document(path: Path) -> Any:
    """The one value of a JSON file."""
    content = _content(path)
    try:
        return json.loads(content)
    except RecursionError as error:
        raise SourceError(f"{path} nests lists or objects too deep.") from error
    except ValueError as error:
        raise SourceError(f"{path} is not JSON ({first_line(error)}).") from error


def _content(path: Path) -> bytes | bytearray:
    """The bytes of a JSON file in UTF-8, if its values fit in memory."""
    check_regular(path)
    content, _ = utf8_content(path)
    # marks between values: there are at most so many of them
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    refuse_size(path, OBJECT_BYTES * values + 4 * len(content))
    return content


def check_object(path: Path, where: str, name: str, value: Any) -> dict[str, Any]:
    """An object of a file, or `SourceError`."""
    if not isinstance(value, dict):
        raise SourceError(f"{path}: {where}: {name} is not an object.")
    return value
