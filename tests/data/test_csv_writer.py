"""CSV files without formulas, from which every value comes back."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.command import invoke

import cgscore
from cgscore.data.csv_writer import guarded, unguarded, without_guard, write_csv
from cgscore.errors import ResultError

RISKY = ("=", "+", "-", "@", "\t", "\r")
TEXTS = [
    "=HYPERLINK(1)", "+1+1", "-cmd", "@x", "\ttab", "\rreturn", "'=quoted", "''-twice", "'plain",
    "a=b", "", "ordinary", "a\rb", "a,b", 'a"b', "a\nb", "ü", " =space",
]  # fmt: skip


def written(frame: pd.DataFrame, **options: Any) -> str:
    file = io.BytesIO()
    write_csv(frame, file, **options)
    return file.getvalue().decode()


def read_back(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)


@pytest.mark.parametrize("text", TEXTS)
def test_one_quote_more_and_one_less(text: str) -> None:
    risky = text.lstrip("'").startswith(RISKY)
    assert guarded(text) == ("'" + text if risky else text)
    assert not guarded(text).startswith(RISKY)
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", ["-1", "+1", "-1.5e-3", "+.5"])
def test_numbers_as_texts_are_left_alone(text: str) -> None:
    assert guarded(text) == unguarded(text) == text


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_texts_come_back(kind: Any) -> None:
    frame = pd.DataFrame({"=name": pd.Series(TEXTS, dtype=kind), "x": np.arange(len(TEXTS))})
    back = read_back(written(frame))
    assert list(back) == ["'=name", "x"]
    assert not back["'=name"].str.startswith(RISKY).any()
    again = without_guard(back)
    assert list(again) == ["=name", "x"]
    assert again["=name"].tolist() == TEXTS
    assert list(frame) == ["=name", "x"]
    assert frame["=name"].tolist() == TEXTS


def test_off_on_request() -> None:
    frame = pd.DataFrame({"=a": TEXTS})
    back = read_back(written(frame, guard=False))
    assert back["=a"].tolist() == TEXTS


def test_numbers_and_gaps_stay() -> None:
    frame = pd.DataFrame(
        {
            "a": [-1.5, np.nan, -np.inf],
            "b": [-1, 2, -3],
            "c": pd.array([-1, None, 3], "Int64"),
            "d": [True, False, True],
            "e": [-1, "=x", None],
            3: [0.1, 1e-300, 1 / 3],
        }
    )
    assert written(frame) == (
        "a,b,c,d,e,3\n-1.5,-1,-1,True,-1,0.1\n,2,,False,'=x,1e-300\n-inf,-3,3,True,,"
        "0.3333333333333333\n"
    )
    assert written(pd.DataFrame({"a": []})) == "a\n"


def test_names_may_repeat_and_rows_be_in_any_order() -> None:
    frame = pd.DataFrame([["=a", "b"], ["c", "-d"]], columns=["x", "x"]).iloc[[1, 0]]
    assert written(frame) == "x,x\nc,'-d\n'=a,b\n"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(pd.DataFrame({"a": ["=1"]}), path)
    write_csv(pd.DataFrame({"a": ["=2"]}), str(path))
    assert path.read_text() == "a\n'=2\n"
    with pytest.raises(ResultError, match="not Unicode"):
        write_csv(pd.DataFrame({"a": ["\ud800"]}, dtype=object), path)
    assert path.read_text() == "a\n'=2\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


def test_every_command_guards_and_does_not_on_request(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["=a", "-b"], 10)
    frame = pd.DataFrame(rng.standard_normal((20, 3)) + (y == "=a")[:, None], columns=list("uvw"))
    frame.assign(id=[f"@{i}" for i in range(20)], label=y).to_csv(tmp_path / "d.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert invoke("score", "d.csv", folder=tmp_path).returncode == 0
    commands = {
        "score": ("score", "d.csv"),
        "issues": ("issues", "scores.parquet"),
        "prune": ("prune", "scores.parquet", "--keep", "1"),
    }
    for name, command in commands.items():
        for flags, mark in (((), "'"), (("--no-guard",), "")):
            done = invoke(*command, "-o", f"{name}.csv", *flags, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            table = pd.read_csv(tmp_path / f"{name}.csv")
            assert set(table["id"]) == {f"{mark}@{i}" for i in range(20)}
            assert set(table["given_label"]) == {f"{mark}=a", f"{mark}-b"}
            assert pd.api.types.is_float_dtype(table["cg"])
    scores = cgscore.load(tmp_path / "scores.parquet")
    scores.to_csv(tmp_path / "s.csv")
    assert pd.read_csv(tmp_path / "s.csv")["id"][0] == "'@0"
    scores.to_csv(tmp_path / "s.csv", guard=False)
    assert pd.read_csv(tmp_path / "s.csv")["id"][0] == "@0"
