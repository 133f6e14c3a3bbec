"""Figure 2: accuracies after pruning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made
from tests.cgscore_paper.pretended import LOSS


def test_pruning_in_both_orders(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found, _ = made("figure-2", quick, plan, tmp_path)
    assert [one.ours for one in found.compared] == [0, None]  # CIFAR-10, CIFAR-100
    assert set(found.numbers) == {"fashion-mnist", "cifar-10"}
    assert [one.split(":")[0] for one in found.not_run] == ["CIFAR-100"]
    scores = ["cg", "el2n", "forgetting", "random"]
    assert sorted(found.numbers["fashion-mnist"]["low-first"]) == scores
    assert sorted(found.numbers["cifar-10"]["low-first"]) == ["c_score", *scores]
    for numbers in found.numbers.values():
        assert numbers["removed"] == pytest.approx([0, 0.4, 0.7])
        assert numbers["full"]["each"] == [pytest.approx([0.9, 0.898])]
        for order, slope in (("low-first", 1), ("high-first", 1.5)):
            for by, curve in numbers[order].items():
                loss = LOSS[by] * slope if by != "random" else 0.6
                expected = 0.899 - loss * np.array(numbers["removed"])
                assert curve["mean"] == pytest.approx(expected)
                assert curve["deviation"] == [None] * 3  # of two trainings
                assert np.shape(curve["each"]) == (3, plan.repeats)
                assert curve["lasting"] == 0
        assert numbers["low-first"]["random"] == numbers["high-first"]["random"]
        assert numbers["examples"] == 200
    assert "The paper removes 40 % of CIFAR-10, lowest scores first" in found.text
    assert "holds up to 0 % by CG-score and up to 0 % at random" in found.text
