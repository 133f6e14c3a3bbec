"""Dates that are written as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.data.dates import parse_dates

DAYS = pd.Series(pd.date_range("1999-11-20", periods=90, freq="53h", tz="UTC"))


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%Y.%m.%d %H:%M",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%m-%d-%Y",
        "%d.%m.%y",
        "%m/%d/%Y %I:%M:%S %p",
        "%b %d %Y",
        "%B %d, %Y",
        "%A, %B %d, %Y",
        "%d %b %Y",
        "%d-%b-%y",
        "%d. %B %Y",
        "%a %b %d %H:%M:%S UTC %Y",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y-%m-%dT%H:%M:%S+02:00",
    ],
)
def test_forms_of_dates(form: str) -> None:
    texts = DAYS.dt.strftime(form)
    dates = parse_dates(texts)
    assert dates is not None
    zone = "+02:00" in form
    expected = pd.to_datetime(
        texts, format=form.replace("+02:00", "%z") if zone else form, utc=True
    )
    assert dates.column.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["01/02/2012", "13/02/2012"], "day/month/year: the first number goes above 12"),
        (["01/02/2012", "02/13/2012"], "month/day/year: the second number goes above 12"),
        (["01.02.2012", "03.04.2012"], "day.month.year: no value tells day from month"),
        (["01/02/2012", "03/04/2012"], "month/day/year: no value tells day from month"),
    ],
)
def test_the_whole_column_decides_what_is_the_day(texts: list[str], words: str) -> None:
    dates = parse_dates(pd.Series(texts, name="when"))
    assert dates is not None
    assert dates.notes[0].startswith(f"dates in when are read as {words}")
    day_first = words.startswith("day")
    assert dates.column[0].month == (2 if day_first else 1)


@pytest.mark.parametrize(
    "texts",
    [
        ["red", "blue"],
        ["1.2.3", "1.2.4"],  # versions
        ["13/14/2012", "14/13/2012"] * 9,
        ["2012-13-45", "2012-99-01"],
        ["May Day 2012", "June"],
        ["0001-01-01", "9999-12-31"],
        ["2012-01-01", "never"],
        ["10.0.0.1", "10.0.0.2"],
        [],
    ],
)
def test_what_is_no_date(texts: list[str]) -> None:
    assert parse_dates(pd.Series(texts, dtype=object)) is None


def test_gaps_stay_gaps_and_a_few_other_texts_become_gaps() -> None:
    texts = DAYS.dt.strftime("%d.%m.%Y").astype(object)
    texts[3], texts[5] = None, "unknown"
    dates = parse_dates(texts.rename("when"))
    assert dates is not None
    assert np.flatnonzero(dates.column.isna()).tolist() == [3, 5]
    note = "1 values of when are not dates and count as missing, such as 'unknown'"
    assert dates.notes[1] == note
    texts[10:16] = "unknown"
    assert parse_dates(texts) is None


def test_dates_of_a_table_are_no_categories() -> None:
    frame = pd.DataFrame({"when": DAYS.dt.strftime("%m/%d/%Y"), "label": np.arange(90) % 2})
    data = cgscore.read(frame)
    assert "0 encoded one-hot, 1 dates" in data.preprocessing
    assert data.shape[1] < 10
    assert any("read as month/day/year" in note for note in data.notes)
