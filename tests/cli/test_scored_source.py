"""Commands that take a result or a source."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tests.command import invoke

COMMANDS = {
    "report": ("-o", "r.html"),
    "prune": ("--keep", "0.6", "-o", "k.csv"),
    "review": ("--changes-to", "c.csv"),
}


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    data = load_iris(as_frame=True).frame
    data["target"] = data["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    data.loc[[3, 80], "target"] = ["virginica", "setosa"]
    data.rename(columns={"target": "species"}).to_csv(tmp_path / "flowers.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_source_is_scored_first(flowers: Path, command: str) -> None:
    if command == "review":
        pytest.importorskip("fastapi")
    arguments = (command, "flowers.csv", "--label-column", "species", *COMMANDS[command])
    done = invoke(*arguments, folder=flowers)
    assert done.returncode == 0, done.stderr
    assert (flowers / COMMANDS[command][-1]).exists()


def test_report_and_issues_give_one_answer(flowers: Path) -> None:
    source = ("flowers.csv", "--label-column", "species")
    first = json.loads(invoke("issues", *source, "--json", folder=flowers).stdout)
    assert invoke("score", *source, folder=flowers).returncode == 0
    second = json.loads(invoke("issues", "scores.parquet", "--json", folder=flowers).stdout)
    for name in ("suspects", "estimated_wrong", "ridge"):
        assert first[name] == second[name], name
    assert first["suspects"] >= 2


def test_flags_of_reading_are_for_sources(flowers: Path) -> None:
    invoke("score", "flowers.csv", "--label-column", "species", folder=flowers)
    done = invoke("report", "scores.parquet", "--label-column", "species", folder=flowers)
    assert done.returncode == 2
    assert "--label-column says how a source is read" in done.stderr


def test_outputs_are_refused_by_their_own_flag(flowers: Path) -> None:
    pytest.importorskip("fastapi")
    arguments = ("review", "flowers.csv", "--label-column", "species", "--labels-to", "l.xlsx")
    done = invoke(*arguments, folder=flowers)
    assert done.returncode == 2
    assert "--labels-to l.xlsx: expected a name that ends in" in done.stderr
    assert not list(flowers.glob("*.review"))
    assert len(pd.read_csv(flowers / "flowers.csv")) == 150
