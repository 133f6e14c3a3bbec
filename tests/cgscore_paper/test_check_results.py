"""Stored results are computed again and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cgscore_paper import check_results, figure_1
from cgscore_paper.cells import CellResult, Work, write_result
from cgscore_paper.items import do
from cgscore_paper.plans import Plan


@pytest.fixture
def results(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the cell and the file of figure 1, which is made of few examples."""
    monkeypatch.setattr(figure_1, "DIMENSIONS", 60)
    monkeypatch.setattr(figure_1, "PER_CLASS", 110)
    work = Work(tmp_path / "cells", data)
    plan = Plan.named("full")
    work(figure_1.cell(plan))
    do("figure-1", work, plan, tmp_path / "paper")
    return tmp_path


def check(results: Path, data: Path) -> int:
    return check_results.main(["--results", str(results), "--data", str(data)])


def test_results_that_are_as_stored(
    results: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(results, data) == 0
    printed = capsys.readouterr().out
    assert printed.count(": the same") == 2  # a cell and a file
    assert "0 files of an earlier version" in printed
    assert "All that was checked is as stored." in printed


def test_a_changed_number_is_found(
    results: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = results / "paper" / "figure-1.json"
    document = json.loads(path.read_text())
    document["numbers"]["inverse"]["diagonal"] *= 1.001
    del document["commit"]
    path.write_text(json.dumps(document))
    assert check(results, data) == 1
    printed = capsys.readouterr().out
    assert "figure-1.json: differs in /inverse/diagonal" in printed
    assert "1 files of an earlier version" in printed


def test_a_changed_cell_is_found(
    results: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = Work(results / "cells", data)
    cell = figure_1.cell(Plan.named("full"))
    result = work(cell)
    value = {**result.value, "cg": result["cg"] * 1.01}
    write_result(work.folder, work.stem(cell), cell, CellResult(value, 1.0), "sources", {})
    assert check(results, data) == 1
    assert f"{work.stem(cell)}: differs in cg" in capsys.readouterr().out
