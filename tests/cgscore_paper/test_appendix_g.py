"""Appendix G: other rates of wrong labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore_paper import detection
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made


@pytest.mark.filterwarnings("ignore:What the other examples predict")  # at 80 %
def test_appendix_g(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("appendix-g", work, plan, tmp_path)
    numbers = document["numbers"]
    assert list(result.figures) == ["", "-2"]
    assert list(numbers["densities"]) == ["fashion-mnist", "cifar-10"]
    assert list(numbers["detection"]) == ["50%", "80%"]
    for told in numbers["detection"].values():
        assert tuple(told["cifar-10"]["trained_on"]["scores"]) == detection.SUBSET_SCORES
    # 24 of 30 of a class are wrong, from nine others
    assert numbers["counts"] == {
        "class": 30,
        "right": [6, 6],
        "wrong": [24, 24],
        "from_each_other": [2, 3],
    }
    assert [one.paper for one in result.compared] == [0.2, 0.8, 0.089]
    assert [one.ours for one in result.compared] == pytest.approx([0.2, 0.8, 2.5 / 30])
    # easier at a lower rate
    areas = [
        numbers["detection"][rate]["fashion-mnist"]["whole"]["scores"]["cg"]["auroc"]
        for rate in ("50%", "80%")
    ]
    assert numbers["densities"]["fashion-mnist"]["auroc"] > areas[0] > areas[1] > 0.5
