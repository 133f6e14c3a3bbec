"""Sources, groups and annotators at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_digits

import cgscore
from cgscore.cli.origins import print_groups, print_sources
from tests.command import invoke
from tests.report.pages import document

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digits with a careless source, and with three annotators."""
    path = tmp_path_factory.mktemp("origins")
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    rng = np.random.default_rng(0)
    who = rng.choice(["ann", "[red]bob", "<i>cy"], 400)
    z = np.where((who == "ann") & (rng.random(400) < 0.5), (y + 1) % 10, y)
    frame = pd.DataFrame(X).add_prefix("x")
    frame.assign(label=z, who=who, batch=np.arange(400) // 20).to_csv(path / "s.csv", index=False)
    rates = {"p": 0.9, "q": 0.8, "r": 0.4}
    labels = {a: np.where(rng.random(400) < r, y, (y + 1) % 10) for a, r in rates.items()}
    frame.assign(**labels).to_csv(path / "a.csv", index=False)
    return path


def test_sources_and_groups(folder: Path) -> None:
    flags = ("--source-column", "who", "--group-column", "batch")
    done = invoke("score", "s.csv", *flags, "-o", "s.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "Of 3 sources, 1 has more wrong labels than the others" in done.stdout
    assert "20 groups, by how much the complexity falls" in done.stdout
    issues = invoke("issues", "s.parquet", folder=folder)
    assert "The worst sources:" in issues.stdout
    assert "ann " in issues.stdout
    found = json.loads(invoke("issues", "s.parquet", "--json", folder=folder).stdout)
    assert found["sources"][0]["source"] == "ann"
    assert {row["source"] for row in found["sources"]} == {"ann", "[red]bob", "<i>cy"}
    assert found["annotators"] is None
    assert invoke("report", "s.parquet", "-o", "r.html", folder=folder).returncode == 0
    rows = document(folder / "r.html")["sources"]
    assert rows[0]["name"] == "ann"
    assert rows[0]["differs"] == "more"
    assert "<i>cy" in {row["name"] for row in rows}
    again = cgscore.load(folder / "s.parquet").data(folder / "s.csv")
    assert set(again.columns["source"]) == {"ann", "[red]bob", "<i>cy"}


def test_groups_without_a_factor(folder: Path) -> None:
    flags = ("--group-column", "batch", "--drop", "who", "--method", "partition")
    done = invoke("score", "s.csv", *flags, "-o", "p.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "add --method exact" in done.stderr


def test_annotators(folder: Path) -> None:
    flags = ("--annotator-columns", "p,q", "--annotator-columns", "r")
    done = invoke("issues", "a.csv", *flags, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "the consensus of 3 annotators and the inputs. The least reliable:" in done.stdout
    found = json.loads(invoke("issues", "a.csv", *flags, "--json", folder=folder).stdout)
    assert [row["annotator"] for row in found["annotators"]] == ["r", "q", "p"]
    assert found["sources"] is None
    assert invoke("info", "a.csv", *flags, folder=folder).returncode == 0


def test_one_row_per_label_is_not_cut(folder: Path) -> None:
    long = pd.read_csv(folder / "a.csv").assign(id=np.arange(400))
    long = long.melt([*long.columns[:-4], "id"], list("pqr"), "who", "label")
    long.to_csv(folder / "l.csv", index=False)
    arguments = ("prune", "l.csv", "--annotator-columns", "who", "--keep", "0.5")
    done = invoke(*arguments, "-o", "k.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert len((folder / "k.csv").read_text().splitlines()) == 201
    done = invoke(*arguments, "-o", "k.csv", "--data-to", "cut.csv", folder=folder)
    assert done.returncode == 2
    assert "has one row per label" in done.stderr


def test_misspelt_flags(folder: Path) -> None:
    done = invoke("issues", "s.csv", "--source-column", "wo", folder=folder)
    assert done.returncode == 2
    assert "Did you mean 'who'?" in done.stderr
    done = invoke("score", "sklearn:digits", "--group-column", "x", folder=folder)
    assert done.returncode == 2
    assert "--group-column x is not used for sklearn:digits" in done.stderr


def test_what_is_printed_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=80)
    groups = pd.DataFrame({"group": [*range(30), None], "examples": 2, "gap": np.arange(31.0)})
    print_groups(console, groups)
    text = capsys.readouterr().out
    assert "(missing)" in text
    assert len(text.splitlines()) == 2 + 5 + 1 + 5
    same = pd.DataFrame(
        {"source": ["a"], "examples": 3, "rate": 0.1, "low": 0.0, "high": 0.2, "differs": ""}
    )
    print_sources(console, same)
    assert "None of 1 source has more wrong labels" in capsys.readouterr().out
