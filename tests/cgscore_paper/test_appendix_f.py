"""Appendix F: two more baselines."""

from __future__ import annotations

from pathlib import Path

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import check_detection, made


def test_two_more_baselines(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("appendix-f", quick, plan, tmp_path)
    assert not found.compared
    for name in ("fashion-mnist", "cifar-10"):
        pruning = found.numbers[name]["pruning"]
        assert set(pruning["low-first"]) == {"cg", "tracin", "craig", "random"}
        assert set(pruning["high-first"]) == {"cg", "tracin", "random"}
        check_detection(found.numbers[name]["detection"], {"partial", "cg", "self_influence"})
    assert "CIFAR-10 stands where the paper shows CIFAR-100." in found.figures["-2"][1]
