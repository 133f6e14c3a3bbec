"""Appendix C: examples with high and low scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper import appendix_c
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.plans import Plan
from cgscore_paper.scores import estimated, shared_runs
from tests.cgscore_paper.made import made


def test_appendix_c(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("appendix-c", work, plan, tmp_path)
    numbers = document["numbers"]
    assert list(result.figures) == ["", "-2", "-3", "-4"]
    codes = load(work.data, "fashion-mnist").codes
    cg = estimated(work, shared_runs(plan, "fashion-mnist"))["cg"]
    shown = numbers["shown"]["fashion-mnist"]
    assert len(shown) == 10
    mine = np.flatnonzero(codes == 3)
    ranked = mine[np.argsort(-cg[mine])]
    assert shown["dress"]["highest"]["rows"] == ranked[:3].tolist()
    assert shown["dress"]["lowest"]["rows"] == ranked[-3:].tolist()
    assert shown["dress"]["highest"]["scores"] == pytest.approx(cg[ranked[:3]], rel=1e-5)
    assert list(numbers["shown"]["cifar-10"]) == ["3", "5", "6", "9"]
    assert all(len(one["lowest"]["rows"]) == 10 for one in numbers["shown"]["cifar-10"].values())
    classes = numbers["classes"]["cifar-10"]
    assert classes["means"] == sorted(classes["means"])
    cg = estimated(work, shared_runs(plan, "cifar-10"))["cg"]
    mine = load(work.data, "cifar-10").codes == int(classes["names"][0])
    assert classes["means"][0] == pytest.approx(cg[mine].mean(), rel=1e-5)
    assert classes["deviations"][0] == pytest.approx(cg[mine].std(), rel=1e-5)
    four = numbers["four_classes"]["cifar-10"]["classes"]
    assert list(four) == [classes["names"][at] for at in (0, 1, -2, -1)]
    assert result.not_run == [
        f"{name}: there is no {name} in {folder}/ of the data"
        for name, folder in (
            ("MNIST", "mnist"),
            ("CIFAR-100", "cifar100"),
            ("ImageNet", "imagenet"),
        )
    ]


def test_a_mosaic_keeps_every_image() -> None:
    X = np.arange(12, dtype=np.uint8)[:, None, None] * np.ones((1, 3, 5), np.uint8)
    picked = np.arange(12).reshape(4, 3)
    made, across, down = appendix_c._mosaic(X, picked)
    at = made[np.ix_(down.astype(int), across.astype(int))]
    np.testing.assert_array_equal(at, picked)
    assert (made != 255).sum() == X.size


@pytest.mark.slow
def test_other_datasets_are_taken_where_they_are(more_work: Work, plan: Plan) -> None:
    result = appendix_c.make(more_work, plan)
    assert list(result.numbers["shown"]) == ["mnist", "fashion-mnist", "cifar-10"]
    assert list(result.numbers["classes"]) == ["cifar-100"]
    assert len(result.not_run) == 1
