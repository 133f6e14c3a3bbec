"""Figure 4: the dynamics of training by score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cgscore_paper.cells import Work
from cgscore_paper.items import do
from cgscore_paper.plans import Plan
from cgscore_paper.trainings import epochs_cell, values
from tests.cgscore_paper.made import made


def test_dynamics_by_score(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("figure-4", quick, plan, tmp_path)
    assert not found.compared
    along = quick(epochs_cell(plan, "cifar-10"))
    for name in ("loss", "accuracy", "velocity"):
        assert np.shape(found.numbers[name]) == (2, 10)
    assert np.mean(found.numbers["loss"], axis=1) == pytest.approx(along["loss"].mean(axis=1))
    assert np.mean(found.numbers["accuracy"], axis=1) == pytest.approx(
        along["correct"].mean(axis=1)
    )
    lowest = np.argsort(values(quick, plan, "cifar-10", "cg"), kind="stable")[:20]
    assert found.numbers["loss"][1][0] == pytest.approx(along["loss"][1, lowest].mean())
    assert all(-1 <= one <= 1 for one in found.numbers["spearman"].values())


def test_what_is_not_there_is_said(work: Work, plan: Plan, tmp_path: Path) -> None:
    found = do("figure-4", replace(work, data=tmp_path / "empty"), plan, tmp_path).result
    assert [one.split(":")[0] for one in found.not_run] == ["CIFAR-10"]
