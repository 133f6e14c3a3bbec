"""Table 1: correlations with scores of trainings."""

from __future__ import annotations

import shutil
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
    numbers = document["numbers"]
    hard = 1 - np.asarray(c_scores(work.data, "cifar-10", load(work.data, "cifar-10").codes))
    cells = shared_runs(plan, "cifar-10")
    found = numbers["cifar-10"]
    cg = estimated(work, cells)["cg"]
    assert found["whole"]["examples"] == 300
    assert found["whole"]["cg"]["c_score"] == pytest.approx(spearmanr(cg, hard).statistic, abs=1e-5)
    prime = work(subset_cell(plan, "cifar-10"))["cg_prime"]
    el2n = values(work, plan, "cifar-10", "el2n")
    assert found["trained_on"]["examples"] == 200
    assert found["trained_on"]["cg_prime"]["el2n"] == pytest.approx(
        spearmanr(prime, el2n).statistic, abs=1e-5
    )
    counted = found["trained_on"]["cg_and_forgetting_of_one_training"]
    assert all(f"{rho:.3f}" in result.compared[1].cause for rho in counted.values())
    assert counted["zero"] != counted["last"]
    assert {one.paper for one in result.compared} == {
        value for row in table_1.PAPER["cifar-10"].values() for value in row.values()
    }
    (ways,) = numbers["what_it_depends_on"].values()
    assert list(ways) == ["2 runs", "1 run"]
    both, one = ways.values()
    assert both["cg"][-1] == found["whole"]["cg"]["c_score"]
    assert both["cg_prime"][-1] == found["whole"]["cg_prime"]["c_score"]
    assert {len(at) for at in both.values()} == {4}
    assert one != both
    scaled = numbers["scalings"]["cifar-10"]
    assert scaled["examples"] == 300
    assert len(scaled["ways"]) == 6
    runs = [scaled["ways"][f"channels standardised, {many}"]["cg"] for many in ("1 run", "10 runs")]
    assert runs[0] == pytest.approx(one["cg"][-1], abs=0.01)  # the same draw of the same examples
    assert runs[0] != runs[1]
    assert result.not_run == ["CIFAR-100: there is no CIFAR-100 in cifar100/ of the data"]


@pytest.mark.slow
def test_table_1_without_c_scores(work: Work, plan: Plan, data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "cifar10", tmp_path / "cifar10")
    result = table_1.make(Work(work.folder, tmp_path), plan)
    assert {one.paper for one in result.compared} == {0.432, 0.365, 0.110, 0.136}
    assert "cscores/ of the data" in result.not_run[-1]


@pytest.mark.slow
def test_other_datasets_are_taken_where_they_are(more_work: Work, plan: Plan) -> None:
    result = table_1.make(more_work, plan)
    assert len(result.compared) == 12
    assert not result.not_run
    found = result.numbers["cifar-100"]
    assert found["whole"] == result.numbers["cifar-10"]["whole"]  # the same images
