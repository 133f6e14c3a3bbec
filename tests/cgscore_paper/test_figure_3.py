"""Figure 3: wrong labels among the highest scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cgscore_paper import detection, figure_3
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import estimated, shared_runs
from tests.cgscore_paper.made import made


def test_figure_3(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, document = made("figure-3", work, plan, tmp_path)
    numbers = document["numbers"]
    assert list(result.figures) == ["", "-2"]
    for part, size, scores in (
        ("whole", 300, detection.DATASET_SCORES),
        ("trained_on", 200, detection.SUBSET_SCORES),
    ):
        assert list(numbers[part]) == ["fashion-mnist", "cifar-10"]
        for found in numbers[part].values():
            assert (found["examples"], found["wrong"]) == (size, size // 5)
            assert tuple(found["scores"]) == scores
            for one in found["scores"].values():
                curve = one["found"]
                assert len(curve) == 101
                assert (curve[0], curve[-1]) == (0, 1)
                assert (np.diff(curve) >= 0).all()
                assert one["found_among_as_many"] == pytest.approx(curve[20], abs=1e-3)
            assert len(found["density"]["right"]) == len(found["density"]["wrong"]) == 60
    codes = load(work.data, "fashion-mnist").codes
    wrong = wrong_labels(codes, 0.2, plan.seed) != codes
    partial = estimated(work, shared_runs(plan, "fashion-mnist"), 0.2)["partial"]
    found = numbers["whole"]["fashion-mnist"]["scores"]
    assert found["partial"]["auroc"] == pytest.approx(roc_auc_score(wrong, partial), abs=1e-5)
    assert min(found["cg"]["auroc"], found["partial"]["auroc"]) > 0.8  # digits are easy


@pytest.mark.slow
def test_other_datasets_are_taken_where_they_are(more_work: Work, plan: Plan) -> None:
    found = figure_3.make(more_work, plan)
    assert list(found.numbers["whole"]) == ["fashion-mnist", "cifar-10", "cifar-100"]
