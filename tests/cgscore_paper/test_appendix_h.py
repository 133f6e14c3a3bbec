"""Appendix H: scores of features."""

from __future__ import annotations

from pathlib import Path

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import check_detection, made


def test_scores_of_features(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("appendix-h", quick, plan, tmp_path)
    assert not found.compared
    scores = {"feature_cg", "exact_cg", "el2n", "forgetting"}
    for name in ("fashion-mnist", "cifar-10"):
        pruning = found.numbers[name]["pruning"]
        assert set(pruning["low-first"]) == set(pruning["high-first"]) == scores | {"random"}
        check_detection(found.numbers[name]["detection"], scores | {"partial", "cg"})
    followed = found.numbers["cifar-10"]["correlation"]
    assert followed["epochs"] == [1, 2]
    assert set(followed["spearman"]) == {"exact_cg", "c_score", "el2n", "forgetting"}
    assert all(-1 <= one <= 1 for rho in followed["spearman"].values() for one in rho)
    assert "after epoch 1 of a training planned for 2 epochs" in found.figures[""][1]
