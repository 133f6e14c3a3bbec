"""Appendix J: the three terms of the score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from cgscore_paper import appendix_j
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.scores import RATIOS, column, shared_runs
from tests.cgscore_paper.made import made


def test_terms(work: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("appendix-j", work, plan, tmp_path)
    assert [one.paper for one in found.compared] == [
        value
        for of_dataset in appendix_j.PAPER.values()
        for term in of_dataset.values()
        for value in term
    ]
    assert [one.ours is None for one in found.compared] == [False] * 12 + [True] * 12
    assert "CIFAR-100" in found.not_run[0]
    ways = found.numbers["spearman"]["cifar-10"]
    assert list(ways) == ["plain", "augmented"]
    assert [one.ours for one in found.compared[:12]] == [
        value for term in appendix_j.TERMS for value in ways["plain"][term]
    ]
    assert {one.size for one in found.compared[:12]} == {"300; images as they are, 2 runs"}
    assert "ridge 0.05" in found.trials
    assert "ridge" not in found.text + found.figures[""][1]
    spearman = {term: ways["plain"][term] for term in appendix_j.TERMS}
    assert all(-1 < value < 1 for term in spearman.values() for value in term)
    runs = [work.load(cell) for cell in shared_runs(plan, "cifar-10")]
    for place, ratio in enumerate(RATIOS):
        terms = {
            name: np.mean([run[column(name, 0.0, ratio)] for run in runs], axis=0)
            for name in appendix_j.TERMS
        }
        for name, values in terms.items():
            expected = spearmanr(values, sum(terms.values())).statistic
            assert spearman[name][place] == pytest.approx(expected)
