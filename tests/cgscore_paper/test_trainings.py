"""Cells that train networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper.cells import Work
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.trainings import (
    BY_TRAINING,
    WITHOUT_TRAINING,
    accuracy_cells,
    epochs_cell,
    examples_cell,
    scoring_cells,
    values,
)


@pytest.mark.parametrize("by", [*WITHOUT_TRAINING, *BY_TRAINING, "c_score"])
def test_every_score_has_a_value_for_every_example(work: Work, plan: Plan, by: str) -> None:
    found = values(work, plan, "cifar-10", by)
    assert found.shape == (200,)
    assert np.isfinite(found).all()
    assert len(np.unique(found)) > 1


@pytest.mark.parametrize("net", ["resnet", "vit", pytest.param("densenet", marks=pytest.mark.slow)])
def test_networks_learn(work: Work, plan: Plan, net: str) -> None:
    cells = accuracy_cells(plan, "cifar-10", "full", net=net)
    found = [one["accuracy"] for one in work.all(cells)]
    assert len(found) == plan.repeats
    assert all(0.05 < one <= 1 for one in found)


@pytest.mark.parametrize("by", ["cg", "random", "craig"])
def test_training_on_parts(work: Work, plan: Plan, by: str) -> None:
    (cell, *_) = accuracy_cells(plan, "fashion-mnist", by, rate=0.2, fraction=0.5)
    assert 0 <= work(cell)["accuracy"] <= 1


def test_trainings_in_less_precision_have_the_same_name(
    tmp_path: Path, data: Path, plan: Plan
) -> None:
    (cell, *_), found = scoring_cells(plan, "fashion-mnist", 0.2), {}
    for precision in ("float32", "bfloat16"):
        work = Work(tmp_path / precision, data, precision=precision)
        found[precision] = work(cell)["el2n"]
        assert work.trained_in("bfloat16", [work.stem(cell)]) == (precision == "bfloat16")
    assert not np.array_equal(found["float32"], found["bfloat16"])


def test_one_training_along_its_epochs(work: Work, plan: Plan) -> None:
    found = work(epochs_cell(plan, "cifar-10"))
    assert found["loss"].shape == found["correct"].shape == (2, 200)
    assert found["velocity"].shape == (2, 10)
    assert (found["velocity"] > 0).all()
    assert found["epochs"] == [1, 2]
    assert found["features-1"].shape == (200,)


def test_wrong_labels_are_low_in_the_label_score(work: Work, plan: Plan) -> None:
    codes = work(examples_cell(plan, "fashion-mnist"))["own"]
    wrong = wrong_labels(codes, 0.2, plan.seed) != codes
    found = values(work, plan, "fashion-mnist", "posterior", 0.2)
    assert found[wrong].mean() > found[~wrong].mean()
