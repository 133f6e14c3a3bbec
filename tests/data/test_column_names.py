"""Names of columns in messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import cgscore
from cgscore.data.column_names import similar_name
from cgscore.errors import SourceError

NAMES = ["PassengerId", "Survived", "Name", "Sex", " Age "]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("survived", "Survived"),
        ("Survivd", "Survived"),
        ("passengerid", "PassengerId"),
        ("Age", " Age "),
        ("colour", None),
        (3, None),
    ],
)
def test_what_may_be_meant(name: Any, meant: str | None) -> None:
    assert similar_name(name, NAMES) == meant


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("option", ["label_column", "id_column", "text_column"])
def test_every_option_says_what_may_be_meant(form: str, option: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"Survived": [0, 1] * 4, "x": range(8), "y": list("abcdefgh")})
    source: Any = frame
    if form == "csv":
        frame.to_csv(source := tmp_path / "t.csv", index=False)
    elif form == "parquet":
        frame.to_parquet(source := tmp_path / "t.parquet")
    options: dict[str, Any] = {"label_column": "x", option: "survived"}
    with pytest.raises(SourceError, match=r"no column 'survived'\. Did you mean 'Survived'\?"):
        cgscore.read(source, **options)


@pytest.mark.parametrize(
    ("names", "suggested"),
    [
        (["a", "Label", "b"], "Label"),
        (["a", "class", "b"], "class"),
        (["a", "Survived", "b"], "Survived"),
        (["a", "my label", "b"], "my label"),
        (["a", "b", "c"], "c"),
    ],
)
def test_the_column_that_may_hold_labels(names: list[str], suggested: str, tmp_path: Path) -> None:
    frame = pd.DataFrame([[1, 2, 3], [3, 2, 1]], columns=names)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(SourceError, match=f"Say which one: label_column={suggested!r}$"):
            cgscore.read(tmp_path / name)
