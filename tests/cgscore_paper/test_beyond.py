"""What is beyond the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore_paper import beyond
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.trainings import WITHOUT_TRAINING
from tests.cgscore_paper.made import made


@pytest.mark.filterwarnings("ignore:Predictions from the other examples")  # with 80 % wrong labels
def test_beyond(work: Work, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond, "DATASETS", ("cifar-10",))  # half the trainings
    result, document = made("beyond", work, plan, tmp_path)
    numbers = document["numbers"]
    for name in beyond.DATASETS:
        for rate, found in numbers["detection"][name].items():
            assert set(found["scores"]) == set(WITHOUT_TRAINING)
            for one in found["scores"].values():
                assert len(one["curve"]) == 21
                assert one["curve"][0] == 0
                assert one["curve"][-1] == 1
                assert one["curve"] == sorted(one["curve"])
                # the point of the curve at the share of wrong labels is what is found there
                assert one["curve"][int(rate) // 5] == pytest.approx(one["found"], abs=1e-5)
            flagged = found["flagged"]
            assert flagged["wrong"] == 2 * int(rate)
            hits = flagged["recall"] * flagged["wrong"]
            if flagged["count"]:
                assert flagged["precision"] * flagged["count"] == pytest.approx(hits, abs=1e-3)
        exact = numbers["detection"][name]["20"]["scores"]["exact_cg"]["auroc"]
        nearly = numbers["detection"][name]["20"]["scores"]["iterative_cg"]["auroc"]
        assert exact == pytest.approx(nearly, abs=0.02)
        assert numbers["detection"][name]["20"]["scores"]["posterior"]["auroc"] > 0.8
        pruned = numbers["pruning"][name]
        for panel, (_, _, scores) in beyond.PRUNED.items():
            assert set(pruned[panel]) == {*scores, "random", "full"}
            assert all(len(pruned[panel][by]["0.6"]) == 1 for by in (*scores, "random"))
        assert pruned["low"]["full"] == pruned["high"]["full"]
    assert all("Beyond the paper" in caption for _, caption in result.figures.values())
    assert result.compared == ()
