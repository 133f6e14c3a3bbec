"""Appendix G: other rates of wrong labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore_paper import detection
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made


@pytest.mark.filterwarnings("ignore:Predictions from the other examples")  # at 80 %
def test_appendix_g(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("appendix-g", work, plan, tmp_path)
    numbers = document["numbers"]
    assert list(result.figures) == ["", "-2"]
    assert list(numbers["densities"]) == ["fashion-mnist", "cifar-10"]
    assert list(numbers["detection"]) == ["50%", "80%"]
    for told in numbers["detection"].values():
        assert tuple(told["cifar-10"]["trained_on"]["scores"]) == detection.SUBSET_SCORES
    assert not result.compared  # the counts of a class are settings of our own noise
    # easier at a lower rate
    areas = [
        numbers["detection"][rate]["fashion-mnist"]["whole"]["scores"]["cg"]["auroc"]
        for rate in ("50%", "80%")
    ]
    assert areas[0] > areas[1] > 0.5
    assert len(numbers["densities"]["fashion-mnist"]["density"]["right"]) == 60
