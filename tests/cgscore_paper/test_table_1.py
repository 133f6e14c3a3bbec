"""Table 1: correlations with scores of trainings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from cgscore_paper import table_1
from cgscore_paper.cells import Work
from cgscore_paper.datasets import c_scores, load
from cgscore_paper.plans import Plan
from cgscore_paper.scores import estimated, shared_runs, subset_cell
from cgscore_paper.trainings import values
from tests.cgscore_paper.made import made


def test_table_1(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("table-1", work, plan, tmp_path)
    numbers = document["numbers"]["cifar-10"]
    hard = 1 - np.asarray(c_scores(work.data, "cifar-10", load(work.data, "cifar-10").codes))
    cg = estimated(work, shared_runs(plan, "cifar-10"))["cg"]
    assert numbers["plain"]["examples"] == 300
    assert numbers["plain"]["runs"] == plan.runs
    expected = spearmanr(cg, hard).statistic
    assert numbers["plain"]["cg"]["c_score"] == pytest.approx(expected, abs=1e-3)
    assert numbers["augmented"]["cg"]["c_score"] != numbers["plain"]["cg"]["c_score"]
    prime = work(subset_cell(plan, "cifar-10"))["cg_prime"]
    el2n = values(work, plan, "cifar-10", "el2n")
    assert numbers["trained_on"]["examples"] == 200
    assert numbers["trained_on"]["cg_prime"]["el2n"] == pytest.approx(
        spearmanr(prime, el2n).statistic, abs=1e-5
    )
    assert [one.paper for one in result.compared] == [
        value
        for of_dataset in table_1.PAPER.values()
        for row in of_dataset.values()
        for value in row.values()
    ]
    assert [one.ours is None for one in result.compared] == [False] * 6 + [True] * 6
    assert result.compared[0].ours == pytest.approx(numbers["plain"]["cg"]["c_score"], abs=1e-5)
    assert "nearer to the paper's" in result.text
    assert "ridge 0.02" in result.trials
    assert "ridge" not in result.text
    assert result.not_run == ["CIFAR-100: there is no CIFAR-100 in cifar100/ of the data"]


@pytest.mark.slow
def test_other_datasets_are_taken_where_they_are(more_work: Work, plan: Plan) -> None:
    result = table_1.make(more_work, plan)
    assert len(result.compared) == 12
    assert not result.not_run
    found = result.numbers["cifar-100"]
    assert found["plain"] == result.numbers["cifar-10"]["plain"]  # the same images
