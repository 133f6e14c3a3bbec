"""``cgscore import``; what comes back from each tool is in `tests.exchange`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.review.decisions import Decisions
from tests.command import Done, invoke
from tests.exchange.data import CLASSES, N, Source, table


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result and an export in which nothing is filled in."""
    folder = tmp_path_factory.mktemp("import")
    table(folder).scored()
    done = invoke("export", "scores.parquet", "--to", "csv", "-o", "e.csv", "--all", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(scored: Path, tmp_path: Path) -> Path:
    """A copy of it; the source stays where it is."""
    for name in ("scores.parquet", "e.csv"):
        shutil.copy(scored / name, tmp_path / name)
    return tmp_path


def fill(folder: Path, labels: dict[int, str]) -> None:
    frame = pd.read_csv(folder / "e.csv", dtype=str)
    frame["corrected_label"] = pd.Series(labels)
    frame.to_csv(folder / "e.csv", index=False)


def run(folder: Path, *more: str) -> Done:
    return invoke("import", "scores.parquet", "e.csv", *more, folder=folder)


def decisions(folder: Path) -> dict[int, str]:
    fingerprint = cgscore.load(folder / "scores.parquet").meta["fingerprint"]
    log = Decisions(folder / "scores.parquet.review", fingerprint)
    found = {at: decision.action for at, decision in log.current().items()}
    log.close()
    return found


def true_and_given(folder: Path) -> tuple[list[str], list[str]]:
    given = cgscore.load(folder / "scores.parquet").table["given_label"].tolist()
    return [CLASSES[i % 3] for i in range(N)], given


def test_what_was_decided_and_what_follows(folder: Path) -> None:
    true, given = true_and_given(folder)
    other = next(name for name in CLASSES if name not in (true[2], given[2]))
    fill(folder, {0: true[0], 1: given[1], 2: other})
    done = run(folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "3 decisions from a spreadsheet: 1 suggested label accepted, 1 changed to another, 1 kept."
    )
    assert lines[1].startswith("4 labels were flagged before, ")
    assert lines[2:] == [
        "Written:  scores-corrected.parquet, 90 rows",
        "Written:  scores-corrected.labels.csv, 90 labels, 2 changed",
        "Written:  scores.parquet.review, 3 decisions",
        "Next:     cgscore review scores-corrected.parquet",
    ]
    assert decisions(folder) == {0: "accept", 1: "keep", 2: "change"}
    again = run(folder, "--json")
    document = json.loads(again.stdout)
    assert (document["known"], document["accepted"], document["decisions"]) == (3, 0, 3)
    fill(folder, {0: given[0]})
    document = json.loads(run(folder, "--json").stdout)
    assert (document["kept"], document["replaced"], document["decisions"]) == (1, 1, 3)
    after = cgscore.load(folder / "scores-corrected.parquet")
    assert after.table["given_label"][2] == other  # what was decided before still stands


def test_the_new_result_goes_on(folder: Path) -> None:
    true, _ = true_and_given(folder)
    fill(folder, {0: true[0]})
    assert run(folder, "-o", "second.parquet").returncode == 0
    stale = invoke("import", "second.parquet", "e.csv", folder=folder)
    assert stale.returncode == 2
    assert "e.csv was not exported from this result" in stale.stderr
    arguments = ("export", "second.parquet", "--to", "csv", "-o", "e.csv", "--all", "-q")
    assert invoke(*arguments, folder=folder).returncode == 0
    fill(folder, {1: true[1]})
    done = invoke("import", "second.parquet", "e.csv", "-o", "third.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    third = cgscore.load(folder / "third.parquet")
    assert third.table["given_label"][:2].tolist() == true[:2]
    assert third.data().y.tolist()[:2] == true[:2]  # type: ignore[union-attr]
    assert invoke("issues", "third.parquet", "--why", folder=folder).returncode == 0


def test_without_the_data_labels_are_written_all_the_same(folder: Path) -> None:
    scores = cgscore.load(folder / "scores.parquet")
    source = scores.meta["source"]
    scores.meta["source"] = "gone.parquet"
    scores.save(folder / "scores.parquet")
    true, _ = true_and_given(folder)
    fill(folder, {0: true[0]})
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert "Scores were not updated: " in done.stdout
    assert done.stdout.count("--source") == 1
    assert "data=" not in done.stdout
    assert not (folder / "scores-corrected.parquet").exists()
    labels = pd.read_csv(folder / "scores-corrected.labels.csv")
    assert np.flatnonzero(labels["changed"]).tolist() == [0]
    assert decisions(folder) == {0: "accept"}
    assert json.loads(run(folder, "--json").stdout)["renewed"] is False
    done = run(folder, "--source", source)
    assert done.returncode == 0, done.stderr
    assert (folder / "scores-corrected.parquet").exists()
    assert run(folder, "--source", "nowhere.parquet").returncode == 2


def test_the_result_is_never_overwritten(folder: Path) -> None:
    true, _ = true_and_given(folder)
    fill(folder, {0: true[0]})
    before = (folder / "scores.parquet").read_bytes()
    (folder / "link.parquet").symlink_to("scores.parquet")
    os.link(folder / "scores.parquet", folder / "hard.parquet")
    for name in ("scores.parquet", "./scores.parquet", "link.parquet", "hard.parquet"):
        done = run(folder, "-o", name)
        assert done.returncode == 2
        assert "is the input itself" in done.stderr
    for flag, name in (("--labels-to", "e.csv"), ("--decisions", "scores.parquet")):
        assert run(folder, flag, name).returncode == 2
    assert run(folder, "-o", "x.parquet", "--labels-to", "x.parquet").returncode == 2
    assert (folder / "scores.parquet").read_bytes() == before
    assert not (folder / "scores.parquet.review").exists()


def test_spreadsheets_change_numbers_and_case(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((60, 4))
    frame = pd.DataFrame(X).add_prefix("x").assign(label=["01", "02", "True"] * 20)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert invoke("score", "t.csv", "-q", folder=tmp_path).returncode == 0
    arguments = ("export", "scores.parquet", "--to", "csv", "-o", "e.csv", "--all")
    assert invoke(*arguments, folder=tmp_path).returncode == 0
    fill(tmp_path, {0: "2", 1: "TRUE", 2: " 1.0 "})
    assert ";" not in (tmp_path / "e.csv").read_text().splitlines()[0]
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    labels = pd.read_csv(tmp_path / "scores-corrected.labels.csv", dtype=str)["label"]
    assert labels[:3].tolist() == ["02", "True", "01"]


def test_an_export_without_corrections(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 2
    assert "e.csv holds no corrected labels. Fill in the column corrected_label" in done.stderr
    assert not (folder / "scores.parquet.review").exists()


def test_what_does_not_fit_is_named(folder: Path) -> None:
    true, _ = true_and_given(folder)
    fill(folder, {0: true[0], 1: "no such class"})
    done = run(folder)
    assert done.returncode == 2
    assert "line 3: 'no such class' is not one of the 3 classes" in done.stderr
    assert not (folder / "scores.parquet.review").exists()
    done = run(folder, "--skip-bad")
    assert done.returncode == 0
    assert "left out: line 3: 'no such class'" in done.stderr
    assert decisions(folder) == {0: "accept"}
    assert run(folder, "--from", "excel").returncode == 2


def test_annotators_groups_and_options_stay(tmp_path: Path) -> None:
    source: Source = table(tmp_path)
    frame = pd.read_parquet(source.path)
    frame["who"] = np.arange(N) % 2
    frame.to_parquet(source.path)
    arguments = ("score", "t.parquet", "--source-column", "who", "--ridge", "auto", "-q")
    assert invoke(*arguments, folder=tmp_path).returncode == 0
    arguments = ("export", "scores.parquet", "--to", "csv", "-o", "e.csv", "--all")
    assert invoke(*arguments, folder=tmp_path).returncode == 0
    fill(tmp_path, {0: source.truth[0]})
    assert run(tmp_path).returncode == 0
    before = cgscore.load(tmp_path / "scores.parquet")
    after = cgscore.load(tmp_path / "scores-corrected.parquet")
    assert after.meta["ridge_choice"] is not None
    assert after.meta["method"] == before.meta["method"]
    assert after.table["source"].tolist() == before.table["source"].tolist()
    assert after.meta["source_fingerprint"] == before.meta["fingerprint"]


def test_without_the_packages_of_the_web_application(folder: Path) -> None:
    true, _ = true_and_given(folder)
    fill(folder, {0: true[0]})
    program = (
        "import sys; sys.modules['fastapi'] = sys.modules['uvicorn'] = None\n"
        "from cgscore.cli import main; sys.argv = ['cgscore', *sys.argv[1:]]; main()"
    )
    calls = (["import", "scores.parquet", "e.csv"], ["review", "scores.parquet"])
    done = [
        subprocess.run(
            [sys.executable, "-c", program, *call], cwd=folder, capture_output=True, text=True
        )
        for call in calls
    ]
    assert [one.returncode for one in done] == [0, 2], done[0].stderr
    assert 'pip install "cgscore[review]"' in done[1].stderr
