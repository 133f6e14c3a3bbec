"""Trainings in the background: a real process, paused and resumed, that benches notice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cgscore.errors import DataError
from cgscore_paper import background, background_process
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.queue import stages
from cgscore_paper.trainings import examples
from tests.waiting import until


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A process that is noted as the one in the background, with a child."""
    monkeypatch.setenv("CGSCORE_CACHE", str(tmp_path))
    program = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(600)']); print(child.pid, flush=True); child.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as opened:
        assert opened.stdout is not None
        child = psutil.Process(int(opened.stdout.readline()))
        process = psutil.Process(opened.pid)
        state = {"pid": process.pid, "started": process.create_time()}
        (tmp_path / "background.json").write_text(json.dumps(state))
        yield process
        child.kill()
        opened.kill()


def test_pause_halts_all_processes_and_resume_lets_them_go_on(running: psutil.Process) -> None:
    members = [running, *running.children()]
    assert len(members) == 2
    assert background_process.active()
    with pytest.raises(SystemExit, match="background pause"):
        background_process.require_quiet()
    assert background.main(["pause"]) == 0
    until(lambda: all(member.status() == psutil.STATUS_STOPPED for member in members))
    background_process.require_quiet()
    assert background.main(["resume"]) == 0
    until(lambda: all(member.status() != psutil.STATUS_STOPPED for member in members))
    assert background_process.active()


def test_another_process_with_the_same_number_is_not_it(
    running: psutil.Process, tmp_path: Path
) -> None:
    state = {"pid": running.pid, "started": running.create_time() - 100}
    (tmp_path / "background.json").write_text(json.dumps(state))
    assert background_process.process() is None
    assert background.main(["pause"]) == 1
    background_process.require_quiet()


def test_stages_name_distinct_cells_and_the_pilot_comes_first(tmp_path: Path) -> None:
    plan = Plan.named("full")
    listed = list(stages(plan))
    assert listed[0][0] == "pilot"
    for name, cells in listed:
        names = [cell.name for cell in cells]
        assert len(set(names)) == len(names) > 0, name
    lines = background.progress_lines(Work(tmp_path, tmp_path), plan)
    assert lines[0] == f"pilot: 0 of {4 * plan.repeats}"
    assert len({name for name, _ in listed}) == len(listed)


@pytest.mark.parametrize("fault", [DataError("copies"), RuntimeError("copies")])
def test_a_stage_that_fails_does_not_stop_the_others(
    fault: Exception,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CGSCORE_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "environ", environment := dict(os.environ))
    monkeypatch.setattr(background, "lower_priority", lambda: None)
    monkeypatch.setattr(background, "stages", lambda plan: [("first", []), ("second", [])])
    seen = []

    def compute(cells: object, name: str) -> None:
        seen.append(name)
        if name == "first":
            raise fault

    work = Work(tmp_path, tmp_path)
    monkeypatch.setattr(Work, "all", lambda self, cells, name: compute(cells, name))
    background.run(work, Plan.named("full"))
    assert seen == ["first", "second"]
    text = capsys.readouterr().out
    assert "first: failed." in text
    assert "copies" in text
    assert background.KEEP_MEMORY.items() <= environment.items()


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path: Path, data: Path) -> None:
    work = Work(tmp_path, data, jobs=2)
    names = ("nothing", "cifar-10", "fashion-mnist")
    cells = [examples.cell(plan="sample", dataset=name, seed=0) for name in names]
    with pytest.raises(KeyError, match="nothing"):
        work.all(cells)
    assert len(list(tmp_path.glob("*.json"))) == 2
