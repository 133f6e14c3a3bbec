"""What a saved result must hold: one schema for each format, checked once when it is loaded.

A result is a Parquet file. Its columns are those of `Scores.table`, then ``d``, ``alpha`` and
``loo``; its metadata hold one JSON document with format, ``meta``, classes and complexities. Files
are sent around and damaged, so nothing in them is believed. This is what is known of the document;
`cgscore.result.file` reads the columns.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cgscore import __version__
from cgscore.data.encoders.encoding import SCALINGS
from cgscore.data.readers.registry import PREPROCESS
from cgscore.errors import ResultError
from cgscore.labels import TASKS

FORMAT = 1  # of saved files; readers refuse files with a higher number
KEY = b"cgscore"  # of the document in the file's metadata

MAX_DEPTH = 32  # of lists and objects in the document
MAX_INTEGER = 2**1000  # larger ones overflow where a number is shown or computed with
MAX_PATH, MAX_NAME = 4096, 255  # characters of a path, bytes of a name in it

METHODS = ("exact", "iterative", "subsample", "partition")


@dataclass(frozen=True)
class Field:
    """One entry of ``meta``: what it must be, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    required: bool = True


def _number(value: Any) -> bool:
    """A finite number; true and false are none."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and math.isfinite(value)


def _real(value: Any) -> bool:
    """A number that may be infinite or missing."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(least: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63

    return fits


def _text(value: Any) -> bool:
    """A text that can be written anywhere."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _path(value: Any) -> bool:
    """A text that can name a file; names that are not Unicode come as lone surrogates."""
    if not isinstance(value, str) or not value or "\0" in value or len(value) > MAX_PATH:
        return False
    try:
        parts = os.fsencode(value).split(b"/")
    except UnicodeEncodeError:
        return False
    return max(map(len, parts)) <= MAX_NAME


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _column(value: Any) -> bool:
    """The name of a column: data frames have numbers, too."""
    return _text(value) or _whole(-(2**63))(value)


def _resize(value: Any) -> bool:
    side = _whole(1)
    pair = isinstance(value, list) and len(value) == 2 and all(map(side, value))
    return pair or side(value) or _text(value)


#: Options of `cgscore.read` that a file may name, and what their values must be.
READ_OPTIONS: Mapping[str, Callable[[Any], bool]] = {
    "labels": _path,
    "label_column": _column,
    "image_column": _column,
    "id_column": _column,
    "text_column": _column,
    "split": _text,
    "resize": _resize,
    "skip_bad": lambda value: isinstance(value, bool),
    "preprocess": lambda value: isinstance(value, str) and value in PREPROCESS,
    "encoder": _path,
    "scaling": lambda value: isinstance(value, str) and value in SCALINGS,
    "max_columns": _whole(1),
}


def _timings(value: Any) -> bool:
    return isinstance(value, dict) and "total" in value and all(map(_number, value.values()))


def _audit(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict):
        return False
    names = ["rank_correlation"]
    if "top_percent" in value:  # subsample and partition do not measure it
        names.append("top_percent")
    for name in names:
        interval = value.get(f"{name}_interval")
        pair = isinstance(interval, list) and len(interval) == 2 and all(map(_real, interval))
        if not (pair and _real(value.get(name))):
            return False
    return _whole(0)(value.get("examples"))


def _choice(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(_text(value.get(name)) for name in ("method", "why"))


def _one_of(names: Iterable[str]) -> Callable[[Any], bool]:
    known = tuple(names)
    return lambda value: isinstance(value, str) and value in known


#: ``meta`` of format 1. Entries that are not named here are kept and never relied upon.
META_1: Mapping[str, Field] = {
    "version": Field("a text", _text),
    "method": Field(f"one of {', '.join(METHODS)}", _one_of(METHODS)),
    "task": Field(f"one of {', '.join(TASKS)}", _one_of(TASKS)),
    "ridge": Field("a number of 0 or more", lambda value: _number(value) and value >= 0),
    "n": Field("a whole number from 2", _whole(2)),
    "p": Field("a whole number from 1", _whole(1)),
    "classes": Field("a whole number", _whole(0)),
    "source": Field("the name of a source", _path),
    "read_options": Field("an object", lambda value: isinstance(value, dict)),
    "fingerprint": Field(
        "32 hexadecimal digits",
        lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None,
    ),
    "class_names": Field(
        "null or a list of texts",
        lambda value: value is None or (isinstance(value, list) and all(map(_text, value))),
    ),
    "notes": Field("a list of texts", _texts),
    "warnings": Field("a list of texts", _texts),
    "timings": Field("an object of numbers with a total", _timings),
    "audit": Field(
        "null, or an object with rank_correlation, its interval and the number of examples", _audit
    ),
    "preprocessing": Field("a text", lambda value: isinstance(value, str), required=False),
    "skipped": Field("a list of texts", _texts, required=False),
    "duplicates": Field("an object", lambda value: isinstance(value, dict), required=False),
    "choice": Field("null, or an object with method and why", _choice, required=False),
    "ridge_choice": Field(
        "null or an object", lambda value: value is None or isinstance(value, dict), required=False
    ),
    "seed": Field("a whole number", lambda value: type(value) is int, required=False),
}
META: Mapping[int, Mapping[str, Field]] = {1: META_1}

#: Columns of numbers, any of which may be missing or infinite (`cgscore.duplicates`).
NUMBERS = ("cg", "first_term", "partial", "third_term", "residual", "margin")
ARRAYS = ("d", "alpha", "loo")
REQUIRED = ("id", "given_label", *NUMBERS, "predicted_label", *ARRAYS)


@dataclass(frozen=True)
class Document:
    """The JSON document of a saved result, checked."""

    meta: dict[str, Any]
    classes: list[Any]
    complexity: list[float]

    @property
    def columns(self) -> int:
        """Columns of the leave-one-out predictions."""
        return max(1, len(self.classes))


def encode_document(
    meta: Mapping[str, Any], classes: list[Any], complexity: list[float]
) -> dict[bytes, bytes]:
    """The metadata of a file, to be written."""
    document = {"format": FORMAT, "meta": meta, "classes": classes, "complexity": complexity}
    return {KEY: json.dumps(document).encode()}


class Violation(Exception):
    """What is wrong with a file, before the file is named."""


def read_document(metadata: Mapping[bytes, bytes], path: str) -> Document:
    """The checked document among the metadata of a Parquet file."""
    found = parse_json(metadata[KEY]) if KEY in metadata else None
    version = found.get("format") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(version, int) or not _whole(1)(version):
        raise ResultError(f"{path} is a Parquet file, but not a result of cgscore.")
    meta = found.get("meta")
    if version not in META:
        writer = meta.get("version") if isinstance(meta, dict) else None
        by = f", written by cgscore {writer}" if _text(writer) else ""
        raise ResultError(
            f"{path} has format {version}{by}. This is cgscore {__version__}, which reads up to "
            f"format {FORMAT}: update it."
        )
    if not isinstance(meta, dict):
        raise Violation("it has no meta")
    for name, field in META[version].items():
        if name not in meta:
            if field.required:
                raise Violation(f"meta[{name!r}] is missing; expected {field.expected}")
        elif not field.fits(meta[name]):
            raise Violation(f"meta[{name!r}] is {shown(meta[name])}; expected {field.expected}")
    _check_options(meta["read_options"])
    classes = _classes(found.get("classes"), meta)
    complexity = found.get("complexity")
    if not isinstance(complexity, list) or not all(map(_real, complexity)):
        raise Violation("complexity is not a list of numbers")
    if len(complexity) != max(1, len(classes)):
        raise Violation(f"it has {len(complexity):,} complexities for {len(classes):,} classes")
    return Document(meta, classes, [float(value) for value in complexity])


def check_read_options(options: Mapping[str, Any]) -> None:
    """Refuse options that `cgscore.read` does not have, or values that it does not take."""
    try:
        _check_options(options)
    except Violation as error:
        raise ResultError(f"The result was changed: {error}.") from error


def _check_options(options: Mapping[str, Any]) -> None:
    if not isinstance(options, Mapping):
        raise Violation("meta['read_options'] is not an object")
    for name, value in options.items():
        if name not in READ_OPTIONS:
            raise Violation(f"meta['read_options'] has an option that is not known: {shown(name)}")
        if not READ_OPTIONS[name](value):
            raise Violation(f"meta['read_options'][{name!r}] cannot be {shown(value)}")


def check_openable(name: str, what: str) -> None:
    """Refuse what a saved result names if it is neither a file nor a folder: opening may hang.

    A name that leads nowhere is left to whoever opens it, who says so better.
    """
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ResultError(
            f"The {what} that this result names, {name}, is neither a file nor a folder. It is "
            "not opened. Give the scored data: data=..."
        )


def exists(name: str) -> bool:
    """Whether a name leads to anything; names too long to be one do not."""
    try:
        os.stat(name)
    except (OSError, ValueError):
        return False
    return True


def parse_json(content: bytes) -> Any:
    """JSON that is not nested without end and has no number that overflows; None otherwise."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    level = [found]
    for _ in range(MAX_DEPTH):
        if any(type(value) is int and abs(value) > MAX_INTEGER for value in level):
            return None
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return found
    return None


def shown(value: Any) -> str:
    """A value for a message: short, and of printable characters."""
    text = repr(value)
    return ascii(text[:60])[1:-1] + ("..." if len(text) > 60 else "")


def _classes(classes: Any, meta: Mapping[str, Any]) -> list[Any]:
    """Labels of one type, ascending, as many as `meta` says; none for a regression."""
    if not isinstance(classes, list):
        raise Violation("classes is not a list")
    kinds = {type(label) for label in classes}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        raise Violation("classes are not all texts, all whole numbers, all numbers or all booleans")
    if kinds == {float} and not all(map(math.isfinite, classes)):
        raise Violation("classes hold a number that is not finite")
    if kinds == {int} and not all(-(2**63) <= label < 2**64 for label in classes):
        raise Violation("classes hold a number of more than 64 bits")
    if kinds == {str} and not all(map(_text, classes)):
        raise Violation("classes hold a text that is not Unicode")
    if any(not low < high for low, high in pairwise(classes)):
        raise Violation("classes are not sorted, or repeat")
    least = 2 if meta["task"] == "classification" else 0
    if len(classes) < least or (least == 0 and classes):
        raise Violation(f"it has {len(classes):,} classes for a {meta['task']}")
    if meta["classes"] != len(classes):
        raise Violation(f"meta['classes'] is {meta['classes']:,}, and there are {len(classes):,}")
    names = meta["class_names"]
    if names is not None and len(names) != len(classes):
        raise Violation(f"it has {len(names):,} class names for {len(classes):,} classes")
    return classes
