"""Cells of cgscore 0.1 are found under their present names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cgscore.execution.sealed import seal
from cgscore_paper.cells import Work
from cgscore_paper.jobs import all_jobs
from cgscore_paper.move_cells import FORMER_NAMES, former_name, main
from cgscore_paper.plans import Plan
from cgscore_paper.scores import subset_cell

OPTIONS = {"plan": "desk", "dataset": "cifar-10", "rate": 0.2, "seed": 0}
OLD_STEM = "scored-subset_scores-b495106cd2c13e18-{}"  # as cgscore 0.1 named it


def write_old_cell(folder: Path, stem: str) -> None:
    """A cell as cgscore 0.1 wrote it."""
    folder.mkdir()
    np.savez(folder / f"{stem}.npz", cg=np.arange(3.0))
    record = {
        "function": "scored.subset_scores",
        "options": OPTIONS,
        "version": "0.1.0",
        "seconds": 7.5,
        "value": {"ridge": 0.5},
        "arrays": ["cg"],
        "arrays_seal": seal((folder / f"{stem}.npz").read_bytes(), stem, "arrays"),
    }
    record["seal"] = seal(json.dumps(record, sort_keys=True).encode(), stem)
    (folder / f"{stem}.json").write_text(json.dumps(record, indent=1))


def test_moved_cells_are_not_computed_again(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell, work = subset_cell(Plan.named("desk"), "cifar-10", 0.2), Work(tmp_path / "new", data)
    fingerprint = work.stem(cell).rpartition("-")[2]
    write_old_cell(tmp_path / "old", OLD_STEM.format(fingerprint))
    assert main([str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert "1 cells moved" in capsys.readouterr().out
    result = work.load(cell)
    assert result["cg"].tolist() == [0, 1, 2]
    assert result["ridge"] == 0.5
    assert result.seconds == 7.5


@pytest.mark.parametrize("damage", ["name", "arrays", "record"])
def test_damaged_cells_stay(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, stem = tmp_path / "old", OLD_STEM.format("12345678")
    write_old_cell(old, stem if damage != "name" else stem.replace("b49", "a00"))
    if damage != "name":
        (old / f"{stem}.{'npz' if damage == 'arrays' else 'json'}").write_text("{}")
    assert main([str(old), str(tmp_path / "new")]) == 0
    assert "Not moved" in capsys.readouterr().out
    assert list((tmp_path / "new").iterdir()) == []


def test_former_names() -> None:
    assert former_name("scored.subset_scores", "0.1.0", OPTIONS) == OLD_STEM[:-3]
    paper = {**OPTIONS, "plan": "paper"}
    name = former_name("scored.subset_scores", "0.1.0", paper)
    assert name == "scored-subset_scores-40668e12317b83ba"
    whole = {"dataset": "cifar-10", "standardised": True, "seed": 0, "run": 0}
    name = former_name("scored.shared_run", "0.1.0", whole)
    assert name == "scored-shared_run-158043e05c4f1fbd"


def test_every_job_of_the_time_has_a_name() -> None:
    assert set(FORMER_NAMES.values()) <= set(all_jobs())


@pytest.mark.parametrize("arguments", [[], ["nowhere", "new"]])
def test_mistakes(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "OLD" in capsys.readouterr().out
