"""Dates that are written as text.

Known are years first (``2012-01-31``, ``2012/01/31``, ``2012.01.31``), years last (``31.01.2012``,
``1/31/12``), names of months in English (``Jan 31 2012``, ``31-Jan-2012``, ``January 31, 2012``,
``Tue Jan 31 22:19:45 UTC 2012``), each with or without a time of day. Whether the day or the month
comes first is decided by all values of a column: a number above 12 is a day.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

MIN_DATE_SHARE = 0.95  # of the values; the rest is taken as missing, with a note
_SAMPLE_SIZE = 20  # values that are tried first
_YEARS = (1700, 2250)  # outside of these, numbers are hardly dates; pandas holds 1678 to 2261
_CENTURY_PIVOT = 69  # 68 is 2068, 69 is 1969, as in POSIX
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?(?:\s*(?P<half>[ap]m))?"
)
_ZONE = r"(?:\s*(?:z|[a-z]{3,4}|(?P<offset>[+-]\d\d:?\d\d)))?"
_TIME = rf"(?:[t\s,]+{_CLOCK}{_ZONE})?"
_FORMS = {
    "year first": rf"(?P<year>\d{{4}})([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?){_TIME}",
    "year last": rf"(?P<a>\d\d?)([-/.])(?P<b>\d\d?)\2(?P<year>\d{{4}}|\d\d){_TIME}",
    "month day": rf"{_WEEKDAY}{_MONTH}[\s-]+(?P<day>\d\d?)(?:[snrt][tdh])?,?[\s-]+"
    rf"(?P<year>\d{{4}}){_TIME}",
    "day month": rf"{_WEEKDAY}(?P<day>\d\d?)(?:[snrt][tdh])?\.?[\s-]+{_MONTH},?[\s-]+"
    rf"(?P<year>\d{{4}}|\d\d){_TIME}",
    "year at the end": rf"{_WEEKDAY}{_MONTH}\s+(?P<day>\d\d?)\s+{_CLOCK}{_ZONE}\s+"
    r"(?P<year>\d{4})",
}  # \2 is the same mark again: the named group of the first number is group 1
_PATTERNS = {form: re.compile(rf"\s*{text}\s*", re.I | re.A) for form, text in _FORMS.items()}


class Dates(NamedTuple):
    """A column of texts as moments, and what should be known about that."""

    column: pd.Series[Any]
    notes: tuple[str, ...]


def parse_dates(column: pd.Series[Any]) -> Dates | None:
    """A column as dates if (nearly) all of its texts are dates of one form; otherwise None.

    Parameters
    ----------
    column : Series
        Texts; missing values stay missing.
    """
    import pandas as pd

    seen = column.dropna()
    texts = pd.unique(seen.astype(object))
    if not len(texts) or not all(isinstance(text, str) for text in texts[:_SAMPLE_SIZE]):
        return None
    form = _form(texts[:_SAMPLE_SIZE].tolist())
    if form is None:
        return None
    matches = {text: _PATTERNS[form].fullmatch(text) for text in map(str, texts)}
    fields = {text: match.groupdict() for text, match in matches.items() if match}
    notes: list[str] = []
    if form == "year last":
        order = _order(fields, {str(match[2]) for match in matches.values() if match})
        if order is None:
            return None
        day, month, why = order
        for parts in fields.values():
            parts["day"], parts["month"] = parts[day], parts[month]
        mark = next(str(match[2]) for match in matches.values() if match)
        words = mark.join(("day", "month", "year") if day == "a" else ("month", "day", "year"))
        notes.append(f"dates in {column.name!s} are read as {words}: {why}")
    moments = {text: moment for text, parts in fields.items() if (moment := _moment(parts))}
    written = pd.Series([moments.get(str(text)) for text in seen], seen.index, dtype=object)
    parsed = pd.to_datetime(written, utc=True, format="ISO8601")
    others = int(parsed.isna().sum())
    if others > (1 - MIN_DATE_SHARE) * len(seen):
        return None
    if others:
        first = str(seen[parsed.isna()].iloc[0])[:40]
        notes.append(
            f"{others:,} values of {column.name!s} are not dates and count as missing, "
            f"such as {first!r}"
        )
    whole = parsed.reindex(column.index)
    whole.name = column.name
    return Dates(whole, tuple(notes))


def _form(sample: list[str]) -> str | None:
    """The form that most of the first values have."""
    for form, pattern in _PATTERNS.items():
        if sum(pattern.fullmatch(text) is not None for text in sample) > len(sample) / 2:
            return form
    return None


def _order(fields: dict[str, dict[str, Any]], marks: set[str]) -> tuple[str, str, str] | None:
    """Which of the first two numbers is the day, which the month, and why."""
    above = {name: sum(int(parts[name]) > 12 for parts in fields.values()) for name in "ab"}
    if above["a"] and above["b"]:  # neither order fits all; the odd ones are no dates
        few = min(above, key=lambda name: above[name])
        if above[few] > (1 - MIN_DATE_SHARE) * len(fields):
            return None
        above[few] = 0
    if above["a"]:
        return "a", "b", "the first number goes above 12"
    if above["b"]:
        return "b", "a", "the second number goes above 12"
    if marks == {"."}:
        return "a", "b", "no value tells day from month; with points, the day usually comes first"
    advice = "if that is wrong, write the dates with the year first"
    return "b", "a", f"no value tells day from month; {advice}"


def _moment(parts: dict[str, Any]) -> str | None:
    """A date in ISO form; None if there is no such day or time."""
    from datetime import datetime, timedelta, timezone

    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY_PIVOT else 2000
    if not _YEARS[0] <= year <= _YEARS[1]:
        return None
    month = parts["month"]
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    offset = (parts["offset"] or "+0000").replace(":", "")
    shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:]))
    try:
        day = datetime(
            year,
            int(month) if month.isdecimal() else _MONTHS.index(month.lower()) + 1,
            int(parts["day"]),
            hour,
            int(parts["minute"] or 0),
            tzinfo=timezone.utc,
        )
        moment = day + timedelta(seconds=float(parts["second"] or 0))
    except ValueError:
        return None
    return (moment - shift if offset[0] == "+" else moment + shift).isoformat()
