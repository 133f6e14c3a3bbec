"""Items that prune, and those that show the same scores: figures 2 and 4, appendices E, F, H."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cgscore.paper.cells import Work
from cgscore.paper.items import do
from cgscore.paper.plans import Plan
from cgscore.paper.pruning_curves import Curves, Experiment
from cgscore.paper.results import Result, rounded


def made(name: str, work: Work, plan: Plan, folder: Path) -> Result:
    """An item, written to a folder, with what holds for all of them checked."""
    done = do(name, work, plan, folder)
    for suffix, (_, caption) in done.result.figures.items():
        assert plan.told in caption
        for kind in ("png", "svg"):
            assert 2_000 < (folder / f"{name}{suffix}.{kind}").stat().st_size < 300_000
    text = (folder / f"{name}.json").read_text()
    assert len(text) < 60_000
    numbers = json.loads(text)["numbers"]
    assert numbers == json.loads(json.dumps(rounded(done.result.numbers)))
    assert "NaN" not in text
    assert not done.result.compared
    return done.result


def test_pruning_in_both_orders(work: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("figure-2", work, plan, tmp_path)
    assert set(found.numbers) == {"fashion-mnist", "cifar-10"}
    assert [one.split(":")[0] for one in found.not_run] == ["CIFAR-100"]
    scores = ["cg", "el2n", "forgetting", "random"]
    assert sorted(found.numbers["fashion-mnist"]["low-first"]) == scores
    assert sorted(found.numbers["cifar-10"]["low-first"]) == ["c_score", *scores]
    for numbers in found.numbers.values():
        assert numbers["removed"] == pytest.approx([0, 0.4, 0.7])
        for order in ("low-first", "high-first"):
            for curve in numbers[order].values():
                assert np.shape(curve["each"]) == (3, plan.repeats)
                assert curve["each"][0] == numbers["full"]["each"][0]
                assert curve["mean"] == pytest.approx(np.mean(curve["each"], axis=1))
                assert curve["lasting"] in numbers["removed"]
                assert all(0 <= one <= 1 for one in curve["mean"])
        assert numbers["low-first"]["random"] == numbers["high-first"]["random"]
        assert numbers["low-first"]["cg"] != numbers["high-first"]["cg"]
        assert numbers["examples"] == 200


def curves() -> Curves:
    experiment = Experiment("cifar-10", ("cg", "random"), (0.8, 0.6, 0.4), 2)
    cg = [[0.8, 0.9], [0.85, 0.844], [0.83, 0.83], [0.85, 0.85]]
    random = [[0.8, 0.9], [0.7, 0.8], [0.7, 0.7], [0.6, 0.6]]
    found = {"low-first": {"cg": cg, "random": random}, "high-first": {"cg": cg, "random": random}}
    return Curves(experiment, 100, [0.8, 0.9], found)


def test_a_share_lasts_up_to_the_first_loss() -> None:
    found = curves()
    assert found.removed == [0, 0.2, 0.4, 0.6]
    assert found.lasting("low-first", "cg") == 0.2  # the third share recovers and does not count
    assert found.lasting("low-first", "random") == 0


def test_sentences_follow_the_numbers() -> None:
    text = curves().told("Some")
    assert "is highest for CG-score (0.842), followed by random (0.683)." in text
    assert "is lowest for random (0.683), followed by CG-score (0.842)." in text
    assert "| random | any | 0.750 ± 0.050 | 0.700 ± 0.000 | 0.600 ± 0.000 | 0 % |" in text
