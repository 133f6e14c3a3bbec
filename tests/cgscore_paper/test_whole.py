"""Summaries of whole datasets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from cgscore_paper import whole
from cgscore_paper.cells import NotFinished, Work, if_finished
from cgscore_paper.datasets import c_scores, load
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import estimated, shared_runs


def test_a_summary_has_what_the_runs_have(work: Work, plan: Plan) -> None:
    found = whole.summary_of(work, plan, "cifar-10")
    codes = load(work.data, "cifar-10").codes
    terms = estimated(work, shared_runs(plan, "cifar-10"))
    expected = spearmanr(terms["third_term"], terms["cg"]).statistic
    assert found["terms"]["4"]["third_term"] == pytest.approx(expected)
    hard = 1 - np.asarray(c_scores(work.data, "cifar-10", codes))
    assert found["c_score"]["4"]["cg"] == pytest.approx(spearmanr(terms["cg"], hard).statistic)
    given = wrong_labels(codes, 0.5, plan.seed)
    noisy = estimated(work, shared_runs(plan, "cifar-10"), 0.5)
    counted = found["rates"]["50"]["counts"]
    assert counted["wrong"]["positive"] == (noisy["partial"][given != codes] > 0).sum()
    assert found["rates"]["50"]["wrong"] == (given != codes).sum()
    mine = np.flatnonzero(codes == 3)
    ranked = mine[np.argsort(-terms["cg"][mine])]
    assert found["shown"]["3"]["highest"]["rows"] == ranked[:10].tolist()
    assert found["classes"]["means"][3] == pytest.approx(terms["cg"][mine].mean())


def test_the_most_runs_that_are_stored_are_taken(work: Work, plan: Plan, tmp_path: Path) -> None:
    stored = Work(tmp_path, work.data, stored_only=True)
    with pytest.raises(NotFinished, match="background run"):
        whole.summary_of(stored, plan, "fashion-mnist")
    own = Work(tmp_path, work.data)
    own(whole.summary_cell(plan, "fashion-mnist", 1))
    assert whole.summary_of(stored, plan, "fashion-mnist")["runs"] == 1
    own(whole.summary_cell(plan, "fashion-mnist", 3))
    assert whole.summary_of(stored, plan, "fashion-mnist")["runs"] == 3
    assert if_finished(lambda: whole.estimate_of(stored, plan, "fashion-mnist", True)) is None
    assert stored.finished([whole.summary_cell(plan, "cifar-10")]) == []
