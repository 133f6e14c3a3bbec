"""Appendix D: seconds of every score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore_paper import appendix_d
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.scores import exact_cell, shared_runs, subset
from tests.cgscore_paper.made import made


def test_appendix_d(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("appendix-d", work, plan, tmp_path)
    numbers = document["numbers"]
    assert list(numbers["seconds"]) == ["fashion-mnist", "cifar-10"]
    fashion, cifar = numbers["seconds"].values()
    assert set(cifar) - set(fashion) == {"cg-4"}
    assert set(cifar) == set(appendix_d.ROWS)
    assert all(one > 0 for seconds in (fashion, cifar) for one in seconds.values())
    assert numbers["sizes"]["cifar-10"] == {"examples": 200, "whole": 300}
    assert "exact scores would take" not in result.text
    assert document["not_run"] == ["CIFAR-100: there is no CIFAR-100 in cifar100/ of the data"]
    assert document["compared"] == []
    assert "| EL2N |" in result.text
    assert "| 370 | 1.00 |" in result.text
    assert "4,388" in result.text


def test_training_for_el2n_stops_early(
    work: Work, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cgscore.training import shared_runs as scores
    from cgscore.training.loop import trainer

    stopped = []

    def train(*given: Any, **options: Any) -> Any:
        stopped.append(options["until"])
        return trainer.train(*given, **options)

    monkeypatch.setattr(scores, "train", train)
    early = replace(plan, score_training=replace(plan.score_training, epochs=3))  # type: ignore[type-var]
    assert early.scoring("cifar-10").early == 2
    _, images = subset(early, work, "cifar-10")
    timers = appendix_d._timers(work, early, "cifar-10", images)
    timers["el2n"]()
    timers["forgetting"]()
    assert stopped == [2, 3]


def test_full_size_seconds_are_those_of_cells_that_were_run(
    work: Work, plan: Plan, tmp_path: Path
) -> None:
    cells = shared_runs(plan, "cifar-10")
    seconds = [one.seconds for one in work.all(cells)]
    exact = work(exact_cell("cifar-10")).seconds
    found = appendix_d._full_size(work, plan, "cifar-10")
    assert found == {
        "shared_run": pytest.approx(np.mean(seconds)),
        "exact": pytest.approx(exact),
    }
    elsewhere = Work(tmp_path, work.data)
    assert appendix_d._full_size(elsewhere, plan, "cifar-10") == {}
    assert list(tmp_path.iterdir()) == []  # nothing was run
