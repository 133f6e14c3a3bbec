"""Appendix E: other networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cgscore_paper.cells import Work
from cgscore_paper.items import do
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made


def test_other_networks(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("appendix-e", quick, plan, tmp_path)
    assert not found.compared
    dense, vision = (found.numbers[net] for net in ("densenet", "vit"))
    assert dense["removed"] == pytest.approx([0, 0.7])
    assert vision["removed"] == pytest.approx([0, 0.4, 0.7])
    assert (dense["trainings"], vision["trainings"]) == (1, plan.repeats)
    for numbers in (dense, vision):
        for order in ("low-first", "high-first"):
            assert set(numbers[order]) == {"cg", "el2n", "random"}
    assert found.numbers["pretrained"]["images"] == 100  # those that are not trained on
    caption = found.figures[""][1]
    assert "growth rate of 3" in caption
    assert "trained before on 100 other images" in caption


def test_what_is_not_there_is_said(work: Work, plan: Plan, tmp_path: Path) -> None:
    found = do("appendix-e", replace(work, data=tmp_path / "empty"), plan, tmp_path).result
    assert [one.split(":")[0] for one in found.not_run] == ["CIFAR-10"]
