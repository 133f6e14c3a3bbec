"""Appendix B: signs of scores of wrong labels, and windows of scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper import appendix_b, whole
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import estimated, shared_runs
from tests.cgscore_paper.made import made


def test_counts_add_up_and_tell_signs_apart() -> None:
    wrong = np.array([True, True, False, False, False])
    found = whole.counts(np.array([3.0, -1.0, 2.0, -2.0, 1.0]), wrong)
    assert found["wrong"] == {"positive": 1, "negative": 1, "highest": 1}
    assert found["right"] == {"positive": 2, "negative": 1, "highest": 1}


def test_appendix_b(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, _ = made("appendix-b", work, plan, tmp_path)
    numbers, compared = result.numbers, result.compared
    paper = [11796 / 12000, 3462 / 48000, 10776 / 12000, 0.7146, 8331 / 40000, 0.5619]
    assert [one.paper for one in compared] == pytest.approx(paper)
    assert all(one.ours is not None and 0 <= one.ours <= 1 for one in compared)
    assert all(one.cause for one in compared if one.what.startswith("CIFAR-10"))
    for name, windows in numbers["windows"].items():
        assert windows["examples"] == 200
        for reading in appendix_b.READINGS:
            found = windows[reading]
            assert np.shape(found["accuracy"]) == (2, plan.appendix_repeats), name
            # both halves together hold every example once, a fifth of them wrong
            assert np.mean(found["wrong"]) == pytest.approx(0.2)
            assert found["wrong"][0] < found["wrong"][1]
    for name, kinds in numbers["counts"].items():
        assert list(kinds) == (
            ["1:3, 2 runs"] if name == "fashion-mnist" else ["1:4, 2 runs", "1:1, one run"]
        )
        for found in kinds.values():
            for group, count in (("wrong", 60), ("right", 240)):
                assert found[group]["positive"] + found[group]["negative"] == count
            assert found["wrong"]["highest"] + found["right"]["highest"] == 60
    codes = load(work.data, "cifar-10").codes
    wrong = wrong_labels(codes, 0.2, plan.seed) != codes
    partial = estimated(work, shared_runs(plan, "cifar-10"), rate=0.2)["partial"]
    assert numbers["counts"]["cifar-10"]["1:4, 2 runs"]["wrong"]["positive"] == (
        (partial[wrong] > 0).sum()
    )
    assert compared[3].ours == pytest.approx((partial[wrong] > 0).mean())
    assert "300 of 300 examples" in result.figures[""][1]


def test_more_others_make_more_partial_scores_positive(work: Work, plan: Plan) -> None:
    even = work(appendix_b.even_cell(plan, "cifar-10"))["partial"]
    many = estimated(work, shared_runs(plan, "cifar-10"), rate=0.2)["partial"]
    assert np.isfinite(even).all()
    assert (even > 0).mean() < (many > 0).mean()
