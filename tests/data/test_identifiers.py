"""Columns that only name or count the rows are left out, and a note names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.data.readers.workbooks import write_workbook

import cgscore
from cgscore.data.identifiers import counts_or_names

N = 60
RNG = np.random.default_rng(0)


def passengers(n: int = N) -> Any:
    """A table like that of the Titanic, whose labels follow from two of its columns."""
    rng = np.random.default_rng(1)
    sex = rng.choice(["male", "female"], n)
    age = rng.normal(30, 12, n).round(1)
    age[::7] = np.nan
    return pd.DataFrame(
        {
            "PassengerId": np.arange(1, n + 1),
            "Survived": np.where(sex == "female", 1, 0),
            "Name": [f"Smith{i}, Mr. John Paul" for i in range(n)],
            "Sex": sex,
            "Age": age,
            "Ticket": [f"A/{i * 2 // 3}" for i in range(n)],
            "Embarked": rng.choice(list("SCQ"), n),
        }
    )


@pytest.mark.parametrize("n", [20, 200, 1600])
def test_a_table_of_passengers_needs_only_its_label(n: int, tmp_path: Path) -> None:
    passengers(n).to_csv(tmp_path / "t.csv", index=False)
    data = cgscore.read(tmp_path / "t.csv", label_column="Survived")
    names = "PassengerId (a row counter), Name (a different text in nearly every row)"
    assert data.notes[0].startswith(f"left out: {names}")
    tickets = f"Ticket ({(n * 2 - 2) // 3 + 1:,} different texts in {n:,} rows)"
    assert (tickets in data.notes[0]) == (n > 20)
    if n > 20:
        assert data.shape == (n, 2 + 2 + 3 + 1)  # age and where it is missing, sex, port, constant


def column(values: Any, name: str = "a") -> Any:
    return pd.Series(values, name=name)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (column(range(N)), "a row counter"),
        (column(range(1, N + 1)), "a row counter"),
        (column(pd.array(range(N), dtype="Int64")), "a row counter"),
        (column(pd.array([None, *range(N)], dtype="Int64")), None),
        (column(np.delete(np.arange(N), [5, 20])), "a row counter"),
        (column(range(1950, 1950 + N)), None),  # years
        (column(np.arange(N) * 1.0), None),
        (column(np.arange(N)[::-1]), None),
        (column(RNG.permutation(N) + 500, "CustomerId"), "a different number in every row"),
        (column(RNG.permutation(N) + 500, "loan_ID"), "a different number in every row"),
        (column(RNG.permutation(N) + 500, "Bid"), None),
        (column(RNG.permutation(N) // 2, "CustomerId"), None),
        (column(RNG.permutation(N) + 500, ""), "a different number in every row"),
        (column(RNG.permutation(N) // 2, ""), None),
        (column(range(5)), None),
    ],
)
def test_numbers(values: Any, reason: str | None) -> None:
    assert counts_or_names(values, number=True) == reason


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (column([f"name {i}" for i in range(N)]), "a different text in nearly every row"),
        (column([f"name {max(i, 3)}" for i in range(N)]), "a different text in nearly every row"),
        (column([f"{i % 40} x" for i in range(N)]), None),
        (column([f"{i % 55} x" for i in range(100)]), "55 different texts in 100 rows"),
        (column(list("abcdefghi")), None),
        (column([None] * 50 + list("abcdefghijkl")), "a different text in nearly every row"),
    ],
)
def test_texts(values: Any, reason: str | None) -> None:
    assert counts_or_names(values, number=False) == reason


def test_names_are_better_than_nothing() -> None:
    frame = pd.DataFrame({"n": range(N), "label": np.arange(N) % 2})
    data = cgscore.read(frame)
    assert data.shape == (N, 2)
    assert data.notes == ()


def test_columns_are_dropped_on_request(tmp_path: Path) -> None:
    frame = passengers()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        data = cgscore.read(source, label_column="Survived", drop=["Sex", "Name"])
        assert data.notes[0] == "left out as asked: Sex, Name"
        assert data.shape == (N, 2 + 3 + 40 + 1)
        assert data.frame is not None
        assert "Sex" not in data.frame
        assert data.options["drop"] == ["Sex", "Name"]
        with pytest.raises(cgscore.CGScoreError, match=r"no column 'sex'\. Did you mean 'Sex'\?"):
            cgscore.read(source, label_column="Survived", drop="sex")
        with pytest.raises(cgscore.CGScoreError, match="'Survived' holds the labels; keep it"):
            cgscore.read(source, label_column="Survived", drop="Survived")


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_numbers_of_rows_that_were_drawn_are_no_inputs(form: str, tmp_path: Path) -> None:
    rows = RNG.permutation(500)[:40]
    table = pd.DataFrame({"": rows, "x": RNG.standard_normal(40), "label": [0, 1] * 20})
    path = tmp_path / f"t.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    else:
        write_workbook(path, [[None, "x", "label"], *table.astype(object).to_numpy().tolist()])
    data = cgscore.read(path)
    assert data.X.shape == (40, 2)
    assert "left out: a column without a name (a different number in every row)" in data.notes
