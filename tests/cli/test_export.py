"""``cgscore export``; what tools make of it is in `tests.exchange`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from tests.command import invoke
from tests.exchange.data import Source, numbers, table


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    source = table(tmp_path_factory.mktemp("export"))
    source.scored()
    return source


def test_the_answer_then_the_file_then_the_next_command(source: Source) -> None:
    folder = source.path.parent
    done = invoke("export", "scores.parquet", "--to", "csv", "-o", "e.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "Exported 4 suspects with suggestion, score and reason for a spreadsheet."
    assert lines[0] == "Written:  e.csv, 4 rows"
    assert lines[-1] == "Next:     cgscore import scores.parquet e.csv"
    exported = pd.read_csv(folder / "e.csv")
    assert sorted(exported["cgscore_position"]) == sorted(source.truth)
    assert exported["label_score"].is_monotonic_increasing
    assert exported["corrected_label"].isna().all()
    assert "the other examples say" in exported["reason"][0]


def test_names_with_spaces_are_quoted_in_the_next_command(source: Source) -> None:
    folder = source.path.parent
    done = invoke("export", "scores.parquet", "--to", "csv", "-o", "my e.csv", folder=folder)
    assert done.stdout.splitlines()[-1] == "Next:     cgscore import scores.parquet 'my e.csv'"


def test_all_or_a_few(source: Source) -> None:
    folder = source.path.parent
    arguments = ("export", "scores.parquet", "--to", "csv", "-o", "e.csv", "--json")
    done = invoke(*arguments, "--all", folder=folder)
    assert json.loads(done.stdout)["examples"] == 90
    assert pd.read_csv(folder / "e.csv")["cgscore_position"].tolist() == list(range(90))
    done = invoke(*arguments, "--count", "2", folder=folder)
    document = json.loads(done.stdout)
    assert (document["examples"], document["suspects"]) == (2, 2)
    assert document["next"] == ["cgscore import scores.parquet e.csv"]


def test_a_source_is_scored_first(source: Source) -> None:
    folder = source.path.parent
    done = invoke("export", "t.parquet", "--to", "csv", "-o", "e.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    commands = done.stdout.splitlines()[-2:]
    assert commands[0] == "Next:     cgscore score t.parquet -o scores.parquet"
    assert commands[1].strip() == "cgscore import scores.parquet e.csv"
    stamp = pd.read_csv(folder / "e.csv")["cgscore_stamp"][0]
    assert stamp.endswith(cgscore.load(folder / "scores.parquet").meta["fingerprint"])


def test_without_the_data_only_names_are_exported(source: Source, tmp_path: Path) -> None:
    scores = cgscore.load(source.path.parent / "scores.parquet")
    scores.meta["source"] = "gone.parquet"
    scores.save(tmp_path / "s.parquet")
    done = invoke("export", "s.parquet", "--to", "csv", "-o", "e.csv", folder=tmp_path)
    assert done.returncode == 0
    assert "only ids and labels are exported" in done.stderr
    assert not any("column_" in str(name) for name in pd.read_csv(tmp_path / "e.csv"))
    done = invoke("export", "s.parquet", "--to", "label-studio", "-o", "x", "-q", folder=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    arguments = ("--source", "nowhere.parquet")
    done = invoke("export", "s.parquet", "--to", "csv", *arguments, folder=tmp_path)
    assert done.returncode == 2


def test_nothing_to_correct(tmp_path: Path) -> None:
    y = np.arange(60) % 2
    X = np.random.default_rng(0).standard_normal((60, 3)) + 9 * np.eye(2, 3)[y]
    cgscore.score(X, y, ridge=0.1).save(tmp_path / "s.parquet")
    done = invoke("export", "s.parquet", "--to", "csv", "-o", "e.csv", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("No label looks wrong")
    assert not len(pd.read_csv(tmp_path / "e.csv"))
    done = invoke("import", "s.parquet", "e.csv", folder=tmp_path)
    assert "e.csv holds no corrected labels" in done.stderr


def test_numbers_have_an_interval_as_reason(tmp_path: Path) -> None:
    source = numbers(tmp_path)
    source.scored()
    done = invoke("export", "scores.parquet", "--to", "csv", "-o", "e.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    exported = pd.read_csv(tmp_path / "e.csv").set_index("cgscore_position")
    for at, value in source.truth.items():
        assert abs(exported.loc[at, "suggested_label"] - value) < 1
        assert "95 %" in exported.loc[at, "reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "excel"], "--to must be one of csv, label-studio"),
        (["--to", "csv", "-o", "e.txt"], "expected a name that ends in .csv"),
        (["--to", "csv", "-o", "no/e.csv"], "the folder no does not exist"),
        (["--to", "label-studio", "-o", "t.parquet"], "exists. Expected the name of a new folder"),
        (["--to", "label-studio", "-o", "no/e"], "the folder no does not exist"),
        (["--to", "csv", "--label-column", "x"], "says how a source is read"),
    ],
)
def test_mistakes(source: Source, arguments: list[str], words: str) -> None:
    done = invoke("export", "scores.parquet", *arguments, folder=source.path.parent)
    assert done.returncode == 2
    assert words in done.stderr
