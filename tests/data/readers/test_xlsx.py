"""Excel workbooks: one written by openpyxl, others by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.readers.workbooks import shared_texts, write_workbook

import cgscore
from cgscore.errors import CGScoreError

FLOWERS = Path(__file__).with_name("flowers.xlsx")  # openpyxl 3.1


def test_a_workbook_of_openpyxl() -> None:
    data = cgscore.read(FLOWERS)
    assert data.notes == (
        "sheet 'Flowers' is read; others left out: Notes",
        "missing values replaced by the median, and marked: Length",
    )
    assert data.y is not None
    assert data.y.tolist() == ["setosa", "setosa", "virginica", "virginica"]
    assert "2 columns standardised, 1 encoded one-hot, 1 dates" in data.preprocessing
    assert data.frame is not None
    assert data.frame["When"].tolist()[:2] == ["2024-01-31 18:00:00", "2024-02-01 00:00:00"]
    assert data.frame["Fresh"].tolist() == [True, False, True, False]
    assert data.frame["Kind"].tolist()[3] == "blue & white"


def table(*rows: Any) -> list[list[Any]]:
    return [["a", "b", "label"], *map(list, rows)]


def test_types_and_gaps(tmp_path: Path) -> None:
    rows = table((1, 2.5, "x"), (2, None, "y"), (), (4, 7, "x"))
    write_workbook(tmp_path / "t.xlsx", rows)
    data = cgscore.read(tmp_path / "t.xlsx")
    assert data.frame is not None
    assert data.frame["a"].tolist() == [1, 2, 4]  # the empty row is none
    assert data.frame["b"].isna().tolist() == [False, True, False]


def test_numbers_as_labels_and_shared_texts(tmp_path: Path) -> None:
    rows = table(('<c t="s"><v>1</v></c>', 1, 7), ('<c t="s"><v>0</v></c>', 5, 8))
    texts = shared_texts(["red", "blue"])
    write_workbook(tmp_path / "t.xlsx", rows, {"xl/sharedStrings.xml": texts})
    data = cgscore.read(tmp_path / "t.xlsx")
    assert data.y is not None
    assert data.y.tolist() == [7, 8]
    assert data.frame is not None
    assert data.frame["a"].tolist() == ["blue", "red"]


def test_formulas_are_not_computed(tmp_path: Path) -> None:
    rows = table(
        ('<c r="A2"><f>1+1</f><v>2</v></c>', 1, "x"),
        ('<c r="A3" t="str"><f>HYPERLINK("http://x")</f></c>', 5, "y"),
        ('<c r="A4" t="e"><v>#N/A</v></c>', 6, "y"),
        (9, 8, "y"),
    )
    write_workbook(tmp_path / "t.xlsx", rows)
    data = cgscore.read(tmp_path / "t.xlsx")
    assert data.frame is not None
    assert data.frame["a"].fillna(-1).tolist() == [2, -1, -1, 9]
    assert data.notes[1:3] == (
        "2 formulas count as the values saved with them, 1 have none and are missing",
        "1 cells hold errors such as #N/A and are missing",
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "sheet 'Data' has no rows"),
        ([["a", "label"]], "sheet 'Data' has no rows"),
        ([["a", "a", "label"], [1, 2, "x"], [2, 3, "y"]], "more than one column 'a'"),
        (table(('<c r="ZZZZ2"><v>1</v></c>', 1, "x")), "a cell 'ZZZZ2', which no sheet has"),
        (table(('<c r="A2" t="s"><v>5</v></c>', 1, "x")), "refers to the text 5, which it lacks"),
        (table(('<c r="A2"><v>one</v></c>', 1, "x")), "is not a complete XLSX file"),
        ("<worksheet><sheetData>", "is not a complete XLSX file"),
    ],
)
def test_sheets_with_mistakes(rows: Any, message: str, tmp_path: Path) -> None:
    write_workbook(tmp_path / "t.xlsx", rows)
    with pytest.raises(CGScoreError, match=message):
        cgscore.read(tmp_path / "t.xlsx")


def test_what_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    for content, message in (
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "is an old or encrypted workbook"),
        (b"a,label\n1,x\n", "is not a complete XLSX file"),
        (FLOWERS.read_bytes()[:-300], "is not a complete XLSX file"),
    ):
        path.write_bytes(content)
        with pytest.raises(CGScoreError, match=message):
            cgscore.read(path)
