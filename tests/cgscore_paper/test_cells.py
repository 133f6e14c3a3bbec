"""Cells are computed once, read again, and computed in parallel."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import CGScoreWarning, ResultError, SourceError
from cgscore_paper import sources
from cgscore_paper.cells import Work
from cgscore_paper.datasets import fingerprint
from cgscore_paper.jobs import Cell, Job, job
from cgscore_paper.plans import Plan
from cgscore_paper.trainings import examples_cell

NUMBERS: list[int] = []  # with which `count` was called


@job("tests.count", version=1, sample={})
def count(work: Work, number: int) -> dict[str, Any]:
    if number < 0:
        raise KeyboardInterrupt
    NUMBERS.append(number)
    return {"double": 2 * number, "row": np.arange(number), "mask": np.arange(3) > 1}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers with which `count` is called in a test."""
    monkeypatch.setattr(sources, "digest", lambda module: "of the tests")
    NUMBERS.clear()
    return NUMBERS


def counted(*numbers: int, alone: bool = False) -> list[Cell]:
    same = Job(count.function, count.name, count.version, alone, {}, None)
    return [Cell(same, {"number": number}) for number in numbers]


@pytest.fixture
def here(tmp_path: Path, data: Path) -> Work:
    """Cells of a folder that is empty."""
    return Work(tmp_path / "cells", data)


@pytest.mark.parametrize("alone", [False, True])
def test_what_is_done_is_found_again(here: Work, calls: list[int], alone: bool) -> None:
    first = here.all(counted(3, 4, 3, alone=alone))
    assert calls == [3, 4]  # once, though asked for twice
    again = Work(here.folder, here.data)
    second = again.all(counted(4, 3, 5, alone=alone))
    assert calls == [3, 4, 5]
    assert [one["double"] for one in second] == [8, 6, 10]
    np.testing.assert_array_equal(second[1]["row"], first[0]["row"])
    assert second[1]["mask"].dtype == bool
    assert second[1].seconds == first[0].seconds  # of the run, not of reading
    assert set(again.used) == {again.stem(cell) for cell in counted(3, 4, 5)}


def test_a_killed_run_goes_on(here: Work, calls: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt):
        here.all(counted(1, 2, -1, 3))
    assert calls == [1, 2]
    assert len(list(here.folder.glob("*.json"))) == 2
    Work(here.folder, here.data).all(counted(1, 2, 3))
    assert calls == [1, 2, 3]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"value": {}}', '"text"'])
def test_damaged_json_counts_as_missing(here: Work, calls: list[int], damage: str) -> None:
    (cell,) = counted(3)
    here(cell)
    (here.folder / f"{here.stem(cell)}.json").write_text(damage)
    with pytest.warns(CGScoreWarning, match=f"computed again: {here.stem(cell)}"):
        assert Work(here.folder, here.data)(cell)["double"] == 6
    assert calls == [3, 3]
    Work(here.folder, here.data)(cell)
    assert calls == [3, 3]  # mended


@pytest.mark.parametrize(
    "damage",
    [
        "gone",
        "empty",
        "no archive",
        "other arrays",
        "half",
        "bytes",
    ],
)
def test_damaged_arrays_count_as_missing(here: Work, calls: list[int], damage: str) -> None:
    (cell,) = counted(3)
    here(cell)
    path = here.folder / f"{here.stem(cell)}.npz"
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "other arrays":
        np.savez(path, other=np.zeros(3))
    else:
        middle = len(whole) // 2
        turned = whole.replace(np.arange(3).tobytes(), np.arange(3, 6).tobytes())
        assert turned != whole
        changed = {"empty": b"", "half": whole[:middle], "no archive": b"text", "bytes": turned}
        path.write_bytes(changed[damage])
    with pytest.warns(CGScoreWarning, match="computed again"):
        found = Work(here.folder, here.data)(cell)
    assert found["row"].tolist() == [0, 1, 2]
    assert calls == [3, 3]


def test_a_cell_is_no_other_cell(here: Work, calls: list[int]) -> None:
    one, other = counted(3, 4)
    here.all([one, other])
    for suffix in ("json", "npz"):
        for cell in (one, other):
            path = here.folder / f"{here.stem(cell)}.{suffix}"
            path.rename(path.with_suffix(f".{suffix}.kept"))
        for cell, from_cell in ((one, other), (other, one)):
            source = here.folder / f"{here.stem(from_cell)}.{suffix}.kept"
            source.rename(here.folder / f"{here.stem(cell)}.{suffix}")
    with pytest.warns(CGScoreWarning, match="computed again"):
        found = Work(here.folder, here.data).all([one, other])
    assert [cell["double"] for cell in found] == [6, 8]


def test_other_data_have_cells_of_their_own(here: Work, calls: list[int], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(here.data, other)
    (cell,) = counted(3)
    here(cell)
    Work(here.folder, other)(cell)
    assert calls == [3]  # a copy is the same
    labels = other / "fashion-mnist" / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(labels.read_bytes()[:-1] + b"x")
    fingerprint.cache_clear()
    Work(here.folder, other)(cell)
    assert calls == [3, 3]
    cifar = Cell(cell.job, {"dataset": "cifar-10"})
    assert here.stem(cifar) == Work(here.folder, other).stem(cifar)  # whose files are the same


def test_a_cell_without_a_result(here: Work) -> None:
    (cell,) = counted(3)
    with pytest.raises(ResultError, match=cell.name):
        here.load(cell)


def test_nothing_half_written_stays(here: Work, calls: list[int]) -> None:
    here.all(counted(3))
    (cell,) = counted(3)
    assert {path.name for path in here.folder.iterdir()} == {
        f"{here.stem(cell)}.json",
        f"{here.stem(cell)}.npz",
    }
    told = json.loads((here.folder / f"{here.stem(cell)}.json").read_text())
    assert told["job"] == "tests.count"
    assert told["version"] == 1
    assert told["options"] == {"number": 3}
    assert told["value"] == {"double": 6}
    assert told["sources"] == "of the tests"


def test_side_by_side_in_processes(tmp_path: Path, data: Path, plan: Plan) -> None:
    work = Work(tmp_path, data, jobs=2)
    cells = [
        examples_cell(replace(plan, name="paper"), name) for name in ("fashion-mnist", "cifar-10")
    ]
    start = time.time()
    found = work.all([*cells, cells[0]])
    assert [one["X"].shape for one in found] == [(300, 28, 28), (300, 32, 32, 3), (300, 28, 28)]
    made = [(tmp_path / f"{work.stem(cell)}.npz").stat().st_mtime for cell in cells]
    assert min(made) >= start - 1
    alone = Work(tmp_path / "alone", data)
    np.testing.assert_array_equal(alone(cells[1])["X"], found[1]["X"])


def test_errors_in_processes_name_the_cell(tmp_path: Path) -> None:
    work = Work(tmp_path / "cells", tmp_path, jobs=2)
    cells = [examples_cell(Plan.named("paper"), name) for name in ("mnist", "cifar-10")]
    with pytest.raises(SourceError, match=r"trained\.examples \{.*'dataset': .*--data"):
        work.all(cells)
