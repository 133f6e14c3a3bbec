"""The metadata that a saved result must have: one schema for each format.

The metadata of the Parquet file hold one JSON document with format, ``meta``, classes and
complexities. It is checked once, when the file is loaded. `cgscore.result.columns` checks the
columns.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cgscore import __version__
from cgscore.data.encoders.encoding import SCALINGS
from cgscore.data.readers.options import PREPROCESS
from cgscore.errors import ResultError
from cgscore.issues.judged import MARGIN, RIGHT_UNDER, VERDICTS
from cgscore.kernel import KERNELS
from cgscore.labels import TASKS
from cgscore.method_names import SUMMARIES
from cgscore.result.places import PLACES, RELATIVE

FORMAT = 2  # format of saved files; a higher number is refused
KEY = b"cgscore"  # key of the document in the metadata of the file

MAX_DEPTH = 32  # nesting of lists and objects in the document
MAX_INTEGER = 2**1000  # larger ones overflow where a number is shown or computed with
MAX_HYPOTHESES = 100  # on the noise of labels
MAX_PATH, MAX_NAME = 4096, 255  # characters of a path; bytes of a name in it


@dataclass(frozen=True)
class Field:
    """An entry of ``meta``: the values it may have, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]
    required: bool = True


def _number(value: Any) -> bool:
    """Whether this is a finite number; booleans are not."""
    return _real(value) and math.isfinite(value)


def _real(value: Any) -> bool:
    """Whether this is a number, which may be infinite or nan."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(minimum: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and minimum <= value < 2**63

    return fits


def _text(value: Any) -> bool:
    """Whether this is a text that UTF-8 can encode."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _path(value: Any) -> bool:
    """Whether this can name a file; names that are not Unicode have lone surrogates."""
    if not isinstance(value, str) or not value or "\0" in value or len(value) > MAX_PATH:
        return False
    try:
        parts = re.split(rb"[/\\]", os.fsencode(value))
    except UnicodeEncodeError:
        return False
    return max(map(len, parts)) <= MAX_NAME


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _column(value: Any) -> bool:
    """Whether this can name a column; data frames also name columns by numbers."""
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
    "drop": lambda value: isinstance(value, list) and all(map(_column, value)),
    "source_column": _column,
    "group_column": _column,
    "annotator_columns": lambda value: isinstance(value, list) and all(map(_column, value)),
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


def _fingerprint(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def _one_of(names: Iterable[str]) -> Callable[[Any], bool]:
    choices = tuple(names)
    return lambda value: isinstance(value, str) and value in choices


#: ``meta`` of format 1. Further entries are loaded but never relied upon.
META_1: Mapping[str, Field] = {
    "version": Field("a text", _text),
    "method": Field(f"one of {', '.join(SUMMARIES)}", _one_of(SUMMARIES)),
    "kernel": Field(f"one of {', '.join(KERNELS)}", _one_of(KERNELS), required=False),
    "task": Field(f"one of {', '.join(TASKS)}", _one_of(TASKS)),
    "ridge": Field("a number of 0 or more", lambda value: _number(value) and value >= 0),
    "n": Field("a whole number from 2", _whole(2)),
    "p": Field("a whole number from 1", _whole(1)),
    "classes": Field("a whole number", _whole(0)),
    "source": Field("the name of a source", _path),
    "read_options": Field("an object", lambda value: isinstance(value, dict)),
    "fingerprint": Field("32 hexadecimal digits", _fingerprint),
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
    "encoder": Field(
        "null or an object", lambda value: value is None or isinstance(value, dict), required=False
    ),
    "duplicates": Field("an object", lambda value: isinstance(value, dict), required=False),
    "choice": Field("null, or an object with method and why", _choice, required=False),
    "ridge_choice": Field(
        "null or an object", lambda value: value is None or isinstance(value, dict), required=False
    ),
    "seed": Field(
        "null or a whole number", lambda value: value is None or type(value) is int, required=False
    ),
}


def _judge(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and _number(value.get("ridge"))
        and value["ridge"] >= 0
        and _one_of(SUMMARIES)(value.get("method"))
        and _audit(value.get("audit"))
    )


def _groups(value: Any) -> bool:
    return isinstance(value, list) and all(map(_group, value))


def _group(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("by_class"), list):
        return False
    name = row.get("group", 0.5)
    named = name is None or isinstance(name, bool) or _column(name)
    numbers = all(map(_real, (row.get("gap"), *row["by_class"])))
    return named and numbers and _whole(1)(row.get("examples"))


def _annotators(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict)
        and _text(row.get("annotator"))
        and _whole(0)(row.get("examples"))
        and all(_number(row.get(name)) for name in ("reliability", "low", "high"))
        and _one_of(("", "more", "fewer"))(row.get("differs"))
        for row in value
    )


def _verdicts(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or not isinstance(value.get("hypotheses"), list):
        return False
    hypotheses, matrix = value["hypotheses"], value.get("noise_matrix")
    names = {"strength", "sharpness", "weight", "plausibility"}
    return (
        all(isinstance(value.get(name), bool) for name in ("chance", "contested", "overlap"))
        and _whole(0)(value.get("anchors"))
        and _number(value.get("odds_factor"))
        and value["odds_factor"] > 0
        and ("direction" in value and (value["direction"] is None or _number(value["direction"])))
        and 1 <= len(hypotheses) <= MAX_HYPOTHESES
        and all(
            isinstance(each, dict)
            and set(each) == names
            and all(_number(number) and number >= 0 for number in each.values())
            and each["sharpness"] > 0
            for each in hypotheses
        )
        and all(
            abs(sum(each[name] for each in hypotheses) - 1) < 1e-6
            for name in ("weight", "plausibility")
        )
        and (
            matrix is None
            or (
                isinstance(matrix, list)
                and all(
                    isinstance(row, list) and len(row) == len(matrix) and all(map(_number, row))
                    for row in matrix
                )
            )
        )
    )


#: ``meta`` of format 2, which adds the ridge by which labels are judged.
META_2: Mapping[str, Field] = {
    **META_1,
    "judge": Field("null, or an object with ridge and method", _judge, required=False),
    "task_reason": Field(
        "null or a text", lambda value: value is None or _text(value), required=False
    ),
    "groups": Field("a list of groups with examples and gaps", _groups, required=False),
    "annotators": Field("a list of annotators with reliabilities", _annotators, required=False),
    "verdicts": Field("null, or an object on the noise of labels", _verdicts, required=False),
    "source_fingerprint": Field("32 hexadecimal digits", _fingerprint, required=False),
    RELATIVE: Field(
        f"a list of {', '.join(PLACES)}",
        lambda value: isinstance(value, list) and all(item in PLACES for item in value),
        required=False,
    ),
}
META: Mapping[int, Mapping[str, Field]] = {1: META_1, 2: META_2}

#: Columns of numbers, any of which may be missing or infinite (`cgscore.duplicates`).
NUMBERS = ("cg", "first_term", "partial", "third_term", "residual", "margin")
ORIGINS = ("source", "group")  # columns that name where examples come from, if they are there
VECTORS = ("d", "alpha")
JUDGED = "judged_loo"  # a column that is there if ``meta["judge"]`` is,
JUDGED_D = "judged_d"  # and one that then is there for a regression
VERDICT = "verdict_"  # before the names of what is saved in place of predictions
REQUIRED = ("id", "given_label", *NUMBERS, "predicted_label", *VECTORS)


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

    @property
    def lists(self) -> tuple[str, ...]:
        """Columns that hold leave-one-out predictions."""
        verdicts, judge = self.verdicts is not None, self.meta.get("judge")
        own = () if verdicts and judge is None else ("loo",)
        return own if judge is None or verdicts else (*own, JUDGED)

    @property
    def verdicts(self) -> dict[str, Any] | None:
        """What is saved of the labels, where predictions are not."""
        return self.meta.get("verdicts")

    @property
    def verdict_vectors(self) -> tuple[str, ...]:
        """Columns of numbers that are saved in place of predictions."""
        if self.verdicts is None:
            return ()
        count = len(self.verdicts["hypotheses"])
        right = [f"{RIGHT_UNDER}{number}" for number in range(count)]
        return tuple(f"{VERDICT}{name}" for name in (*VERDICTS, MARGIN, *right))

    @property
    def vectors(self) -> tuple[str, ...]:
        """Columns of numbers that are not part of the table."""
        judged = self.meta.get("judge") is not None and not self.classes
        return (*VECTORS, JUDGED_D) if judged else (*VECTORS, *self.verdict_vectors)


def encode_document(
    meta: Mapping[str, Any], classes: list[Any], complexity: list[float]
) -> dict[bytes, bytes]:
    """The document as the metadata of a Parquet file."""
    document = {"format": FORMAT, "meta": meta, "classes": classes, "complexity": complexity}
    return {KEY: json.dumps(document).encode()}


class Violation(Exception):
    """A defect of a file; the caller adds the name of the file."""


def read_document(metadata: Mapping[bytes, bytes], path: str) -> Document:
    """The document in the metadata of a Parquet file, checked."""
    document = parse_json(metadata[KEY]) if KEY in metadata else None
    version = document.get("format") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(version, int) or not _whole(1)(version):
        raise ResultError(f"{path} is a Parquet file, but not a result of cgscore.")
    meta = document.get("meta")
    if version not in META:
        writer = meta.get("version") if isinstance(meta, dict) else None
        by = f", written by cgscore {writer}" if _text(writer) else ""
        raise ResultError(
            f"{path} has format {version}{by}. This is cgscore {__version__}, which reads up to "
            f"format {FORMAT}: update it."
        )
    if not isinstance(meta, dict):
        raise Violation("meta is missing, or not an object")
    for name, field in META[version].items():
        if name not in meta:
            if field.required:
                raise Violation(f"meta[{name!r}] is missing; expected {field.expected}")
        elif not field.fits(meta[name]):
            raise Violation(f"meta[{name!r}] is {shown(meta[name])}; expected {field.expected}")
    _check_options(meta["read_options"])
    classes = _classes(document.get("classes"), meta)
    complexity = document.get("complexity")
    if not isinstance(complexity, list) or not all(map(_real, complexity)):
        raise Violation("complexity is not a list of numbers")
    if len(complexity) != max(1, len(classes)):
        raise Violation(f"it has {len(complexity):,} complexities for {len(classes):,} classes")
    matrix = (meta.get("verdicts") or {}).get("noise_matrix")
    if matrix is not None and len(matrix) != len(classes):
        raise Violation(f"it has a noise matrix of {len(matrix):,} for {len(classes):,} classes")
    if any(len(row["by_class"]) != len(classes) for row in meta.get("groups", [])):
        raise Violation(f"a group has not one gap for each of {len(classes):,} classes")
    return Document(meta, classes, [float(value) for value in complexity])


def check_read_options(options: Mapping[str, Any]) -> None:
    """Raise `ResultError` for options or values that `cgscore.read` does not accept."""
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


def parse_json(content: bytes) -> Any:
    """The value of a JSON text; None if it is invalid, nested too deeply or has a huge integer."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    level = [parsed]
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
            return parsed
    return None


def shown(value: Any) -> str:
    """A value as a message shows it: short, in printable characters."""
    text = repr(value)
    return ascii(text[:60])[1:-1] + ("..." if len(text) > 60 else "")


def _classes(classes: Any, meta: Mapping[str, Any]) -> list[Any]:
    """The classes: labels of one type, ascending, as many as `meta` says; none for regression."""
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
    classification = meta["task"] == "classification"
    if (len(classes) < 2) if classification else bool(classes):
        raise Violation(f"it has {len(classes):,} classes for a {meta['task']}")
    if meta["classes"] != len(classes):
        raise Violation(f"meta['classes'] is {meta['classes']:,}, and there are {len(classes):,}")
    names = meta["class_names"]
    if names is not None and len(names) != len(classes):
        raise Violation(f"it has {len(names):,} class names for {len(classes):,} classes")
    return classes
