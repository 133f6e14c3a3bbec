"""How the columns of a table become numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.data.columns import HASHED_COLUMNS, encode
from cgscore.errors import DataError


def test_numbers_and_booleans_are_standardised() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 6.0], "b": [True, False, True, True]})
    X, said, notes = encode(frame, "t", preprocess=True)
    assert X.shape == (4, 3)
    assert np.allclose(X[:, :2].mean(axis=0), 0)
    assert np.allclose(X[:, :2].std(axis=0), 1)
    assert (X[:, 2] == 1).all()
    assert said == "table: 2 columns standardised, 0 encoded one-hot, constant added"
    assert notes == ()


def test_missing_values_are_filled_and_marked() -> None:
    frame = pd.DataFrame(
        {
            "a": [1.0, np.nan, 3.0, 5.0],
            "b": pd.array([True, None, False, True], dtype="boolean"),
            "c": ["x", None, "y", "x"],
            "d": [None, True, False, None],
        }
    )
    X, said, notes = encode(frame, "t", preprocess=True)
    a, marked = X[:, 0], X[:, 1]
    assert a[1] == pytest.approx(a[2])  # the median
    assert marked[1] > 0 > marked[0]
    assert X.shape == (4, 2 + 2 + 2 + 3 + 1)  # c: x, y and missing
    one_hot = X[:, 6:9]
    assert (one_hot.sum(axis=1) == 1).all()
    assert one_hot[1].tolist() not in (one_hot[0].tolist(), one_hot[2].tolist())
    assert said == "table: 3 columns standardised, 1 encoded one-hot, constant added"
    assert notes == ("missing values replaced by the median, and marked: a, b, d",)


def test_dates_pass_and_come_round() -> None:
    days = pd.date_range("2020-01-01", periods=800, freq="D")
    X, said, _ = encode(pd.DataFrame({"day": days}), "t", preprocess=True)
    assert said == "table: 0 columns standardised, 0 encoded one-hot, 1 dates, constant added"
    assert X.shape == (800, 1 + 2 + 2 + 1)  # time passed, year, week; no times of day
    assert (np.diff(X[:, 0]) > 0).all()
    assert np.allclose(X[0, 3:5], X[7, 3:5])
    assert np.linalg.norm(X[0, 1:3] - X[366, 1:3]) < 0.03  # a year later
    assert np.linalg.norm(X[0, 1:3] - X[183, 1:3]) > 1.9
    hours = pd.DataFrame({"at": pd.date_range("2020-01-01", periods=60, freq="h", tz="Asia/Tokyo")})
    hours.loc[3, "at"] = pd.NaT
    Z, _, notes = encode(hours, "t", preprocess=True)
    assert Z.shape == (60, 2 + 2 + 1)  # with missing marked; within the week
    assert np.allclose(Z[0, 2:4], Z[24, 2:4])
    assert notes == ("missing values replaced by the median, and marked: at",)


def test_dates_of_a_csv_file(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=60)
    late = np.arange(60) >= 30
    frame = pd.DataFrame({"day": days, "label": np.where(late, "late", "early")})
    frame.to_csv(tmp_path / "d.csv", index=False)
    scores = cgscore.score(tmp_path / "d.csv", ridge="auto")
    assert scores.accuracy() > 0.9
    assert "1 dates" in scores.meta["preprocessing"]


def test_very_many_categories_are_hashed() -> None:
    words = [f"w{i % 1500}" for i in range(6000)]
    X, said, notes = encode(pd.DataFrame({"w": words, "x": range(5, 6005)}), "t", preprocess=True)
    assert X.shape == (6000, 1 + HASHED_COLUMNS + 1)
    assert (X[0] == X[1500])[1:].all()
    assert "1 hashed" in said
    assert notes == (f"hashed to {HASHED_COLUMNS} columns each because of their many values: w",)
    with pytest.raises(DataError, match=r"1,500 different texts, .* text_column='w'"):
        encode(pd.DataFrame({"w": words[:1600]}), "t", preprocess=True)


def test_numbers_that_are_texts() -> None:
    frame = pd.DataFrame({"a": ["1", " 2.5", "4"], "b": ["1", "?", "3"], "c": ["07", "7", "8"]})
    X, said, notes = encode(frame, "t", preprocess=True)
    assert said == "table: 2 columns standardised, 1 encoded one-hot, constant added"
    assert X.shape == (3, 1 + 2 + 3 + 1)
    assert notes[0] == "? in b counts as a missing number"


def test_names_that_repeat_and_other_indices() -> None:
    frame = pd.DataFrame(np.arange(8.0).reshape(4, 2), columns=["a", "a"], index=list("wxyz"))
    X, _, _ = encode(frame, "t", preprocess=True)
    assert X.shape == (4, 3)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1.0, np.inf]}), "row 1 .*column 'a' holds inf"),
        (pd.DataFrame({"a": [1j, 2j]}), "complex"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="D")}), "spans of time"),
        (pd.DataFrame({"a": ["1", "2", "x"]}), "row 2 .*'x'"),
        (pd.DataFrame({"a": [None, "1", "2", "x"]}), "row 3 .*'x'"),
        (pd.DataFrame({"a": [[1], [2]]}), "holds lists"),
    ],
)
def test_what_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode(frame, "t", preprocess=True)


def test_nothing_is_done_unless_asked() -> None:
    with pytest.raises(DataError, match=r"row 1 .*column 'a' holds nan"):
        encode(pd.DataFrame({"a": [1.0, np.nan]}), "t", preprocess=False)
    with pytest.raises(DataError, match="holds text"):
        encode(pd.DataFrame({"a": pd.date_range("2020", periods=2)}), "t", preprocess=False)


def test_an_empty_column_is_left_out() -> None:
    frame = pd.DataFrame({"a": [np.nan] * 4, "b": [1.0, 2, 3, 5], "c": [None] * 4})
    X, _, notes = encode(frame, "t", preprocess=True)
    assert X.shape == (4, 2)
    assert notes[-1] == "constant columns left out: a, c"
