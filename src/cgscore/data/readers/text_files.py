"""Files of text, gzipped or not, in whatever encoding they have; texts in them as numbers."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data.readers.bounded import first_line, gunzip, refuse_size
from cgscore.errors import SourceError

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")
MAX_OTHER_SHARE = 0.3  # of bytes beyond ASCII, in Western text that is not UTF-8
_ASCII = bytes(range(128))
_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}


def utf8_content(path: Path) -> tuple[bytes | bytearray, str]:
    """The content of a file in UTF-8, and the encoding that the file has.

    Raises
    ------
    SourceError
        It is no text, or does not fit in memory.
    """
    content = _content(path)
    encoding = _encoding(content)
    if encoding == "utf-8":
        if b"\0" in content:
            raise SourceError(f"{path} holds zero bytes, so it is not text.")
        return content, encoding
    beyond = len(content.translate(None, _ASCII))
    if encoding in _NAMES and beyond > MAX_OTHER_SHARE * len(content):  # Cyrillic, or a picture
        raise SourceError(
            f"{path} is not text in UTF-8, nor in a Western encoding. Save it as UTF-8."
        )
    refuse_size(path, 3 * len(content))
    try:
        return content.decode(encoding).encode(), encoding
    except UnicodeError as error:
        name = encoding.upper()
        raise SourceError(f"{path} is not text in {name}: {first_line(error)}") from error


def encoding_notes(encoding: str) -> list[str]:
    """A note about an encoding that is not UTF-8."""
    if encoding == "utf-8":
        return []
    return [f"not UTF-8, so read as {_NAMES.get(encoding, encoding.upper())}"]


def _content(path: Path) -> bytes | bytearray:
    if path.suffix.lower() == ".gz":
        return gunzip(path)
    refuse_size(path, path.stat().st_size)
    return path.read_bytes()


def _encoding(content: bytes | bytearray) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            return encoding
    if content.isascii() or b"\0" in content:
        return "utf-8"
    for encoding in ("utf-8", "cp1252"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"  # in which every byte is a letter


def plain_values(column: pd.Series[Any], comma: bool = False) -> pd.Series[Any]:
    """Text as numbers, if writing the numbers again would give the same text.

    With `comma`, numbers may have decimal commas.
    """
    values = column.dropna()
    if comma and values.str.fullmatch(r"-?\d+(,\d+)?").all():
        column, values = (texts.str.replace(",", ".") for texts in (column, values))
    if not len(values):
        return column
    if values.str.fullmatch(r"0|-?[1-9]\d{0,17}").all():
        return column.astype("Int64" if len(values) < len(column) else np.int64)
    numbers = values.str.fullmatch(NUMBER)
    if numbers.all() and not values.str.fullmatch(r"[+-]?0\d+.*|\+.*").any():
        return column.astype(np.float64)
    return column
