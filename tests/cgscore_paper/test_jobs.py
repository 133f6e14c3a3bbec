"""Names of cells, and the registry of jobs."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

import cgscore
from cgscore_paper import plans
from cgscore_paper.jobs import Cell, Job, all_jobs
from cgscore_paper.plans import Plan
from cgscore_paper.scores import shared_runs, subset_cell, subset_scores
from cgscore_paper.trainings import accuracy, examples


def test_names_depend_on_job_and_settings(plan: Plan) -> None:
    cell = subset_cell(plan, "cifar-10", 0.2)
    others = [
        subset_cell(plan, "cifar-10", 0.5),
        subset_cell(plan, "fashion-mnist", 0.2),
        subset_cell(replace(plan, seed=1), "cifar-10", 0.2),
        subset_cell(Plan.named("paper"), "cifar-10", 0.2),
        Cell(examples, cell.options),
        *shared_runs(plan, "cifar-10"),
    ]
    names = [cell.name, *(other.name for other in others)]
    assert len(set(names)) == len(names)
    assert cell.name == Cell(cell.job, dict(reversed(list(cell.options.items())))).name
    assert cell.name.startswith("scores-subset-")


def test_names_depend_on_the_version_of_the_job(plan: Plan) -> None:
    cell = subset_cell(plan, "cifar-10")
    raised = Job(subset_scores.function, "scores.subset", 2, True, {}, None)
    assert Cell(raised, cell.options).name != cell.name


def test_names_do_not_depend_on_code(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = subset_cell(plan, "cifar-10")
    before = cell.name
    monkeypatch.setattr(cgscore, "__version__", "9.9.9")
    moved = Job(lambda work: {}, "scores.subset", subset_scores.version, False, {}, None)
    assert cell.name == Cell(moved, cell.options).name == before


def test_names_stay() -> None:
    """Stored cells are found by them."""
    names = [subset_cell(Plan.named(name), "cifar-10", 0.2).name for name in ("desk", "paper")]
    assert names == ["scores-subset-29a9669e7d76c0d3", "scores-subset-8178fb7788b388db"]
    (name, _) = (cell.name for cell in shared_runs(Plan.named("desk"), "cifar-10"))
    assert name == "scores-shared_run-dbf9f0e6f8cb82ba"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"kept": (0.5,)}, True),
        ({"repeats": 7}, True),
        ({"offsets": (0,)}, True),
        ({"runs": 5}, True),
        ({"examples": 100}, False),
        ({"subset_runs": 3}, False),
        ({"halved": False}, False),
        ({"group": 9}, False),
        ({"score_training": plans.SAMPLE.score_training}, False),
        ({"prune_training": plans.SAMPLE.prune_training}, False),
    ],
)
def test_names_depend_on_sizes_of_the_plan(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], same: bool
) -> None:
    desk = Plan.named("desk")
    cells = [subset_cell(desk, "cifar-10"), *shared_runs(desk, "cifar-10")]
    before = [cell.name for cell in cells]
    monkeypatch.setitem(plans.PLANS, "desk", replace(desk, **changed))
    assert (cells[0].name == before[0]) is same
    assert [cell.name for cell in cells[1:]] == before[1:]  # whole datasets: no plan in them


def test_jobs_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(accuracy)) is accuracy
    cell = accuracy.cell(repeat=1)
    assert pickle.loads(pickle.dumps(cell)) == cell


def test_jobs_have_their_own_names() -> None:
    jobs = all_jobs()
    assert jobs["trained.accuracy"] is accuracy
    assert len(jobs) >= 17
    assert all(name == job.name for name, job in jobs.items())
