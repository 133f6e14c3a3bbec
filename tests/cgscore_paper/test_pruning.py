"""Items that prune, and those that show the same scores: figures 2 and 4, appendices E, F, H."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore_paper import trainings
from cgscore_paper.cells import Work
from cgscore_paper.items import do
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import Curves, Experiment, run
from cgscore_paper.results import Result, rounded
from cgscore_paper.trainings import accuracy_cells, epochs_cell, values

LOSS = {"cg": 0.1, "el2n": 0.2, "forgetting": 0.3, "c_score": 0.4, "tracin": 0.5}


def pretended(work: Work, **options: Any) -> dict[str, Any]:
    """What `trainings.accuracy` could give: a number that says which training it is."""
    lost = LOSS.get(options["by"], 0.6) * (1 - options["fraction"])
    if options["order"] == "high-first":
        lost *= 1.5
    return {"accuracy": 0.9 - lost - 0.002 * options["repeat"]}


@pytest.fixture(scope="module")
def own_cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for cells that no other test may find."""
    return tmp_path_factory.mktemp("pretended")


@pytest.fixture
def quick(work: Work, own_cells: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Trainings on parts are pretended; those for scores are not."""
    monkeypatch.setattr(trainings.accuracy, "function", pretended)
    return replace(work, folder=own_cells)


def made(name: str, work: Work, plan: Plan, folder: Path) -> Result:
    """An item, written to a folder, with what holds for all of them checked."""
    done = do(name, work, plan, folder)
    for suffix, (_, caption) in done.result.figures.items():
        assert plan.description in caption
        for kind in ("png", "svg"):
            assert 2_000 < (folder / f"{name}{suffix}.{kind}").stat().st_size < 300_000
    text = (folder / f"{name}.json").read_text()
    assert len(text) < 60_000
    numbers = json.loads(text)["numbers"]
    assert numbers == json.loads(json.dumps(rounded(done.result.numbers)))
    assert "NaN" not in text
    assert not done.result.compared
    return done.result


def test_pruning_in_both_orders(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("figure-2", quick, plan, tmp_path)
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
                assert curve["deviation"] == pytest.approx([0.001] * 3)
                assert np.shape(curve["each"]) == (3, plan.repeats)
                assert curve["lasting"] == 0
        assert numbers["low-first"]["random"] == numbers["high-first"]["random"]
        assert numbers["examples"] == 200
    assert "can be removed, lowest scores first" in found.text
    assert "holds up to 0 % by the CG-score and up to 0 % at random" in found.text


def test_trainings_are_real(work: Work, plan: Plan) -> None:
    (found,) = run(work, plan, [Experiment("fashion-mnist", ("cg", "random"), (0.5,), 1)])
    (cell,) = accuracy_cells(
        plan, "fashion-mnist", "cg", order="high-first", fraction=0.5, repeats=1
    )
    assert found.found["high-first"]["cg"] == [found.full, [work.load(cell)["accuracy"]]]
    assert found.found["low-first"]["cg"] != found.found["high-first"]["cg"]
    assert found.numbers()["full"]["deviation"] == [0]


def curves() -> Curves:
    experiment = Experiment("cifar-10", ("cg", "random"), (0.8, 0.6, 0.4), 2)
    cg = [[0.8, 0.9], [0.85, 0.844], [0.83, 0.83], [0.85, 0.85]]
    random = [[0.8, 0.9], [0.7, 0.8], [0.7, 0.7], [0.6, 0.6]]
    found = {"low-first": {"cg": cg, "random": random}, "high-first": {"cg": cg, "random": random}}
    return Curves(experiment, 100, [0.8, 0.9], found)


def test_a_share_lasts_up_to_the_first_loss() -> None:
    found = curves()
    assert found.removed == [0, 0.2, 0.4, 0.6]
    assert (
        found.harmless_share("low-first", "cg") == 0.2
    )  # the third share recovers and does not count
    assert found.harmless_share("low-first", "random") == 0


def test_sentences_follow_the_numbers() -> None:
    text = curves().text("Some")
    assert "is highest for CG-score (0.842), followed by random (0.683)." in text
    assert "is lowest for random (0.683), followed by CG-score (0.842)." in text
    assert "| random | any | 0.750 ± 0.050 | 0.700 ± 0.000 | 0.600 ± 0.000 | 0 % |" in text


def check_detection(numbers: dict[str, Any], scores: set[str]) -> None:
    assert set(numbers["scores"]) == scores
    assert numbers["wrong"] == 40
    for one in numbers["scores"].values():
        assert len(one["found"]) == 101
        assert (one["found"][0], one["found"][-1]) == (0, 1)
        assert (np.diff(one["found"]) >= 0).all()
        assert 0 <= one["found_among_as_many"] <= 1
        assert 0 <= one["auroc"] <= 1


def test_two_more_baselines(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("appendix-f", quick, plan, tmp_path)
    for name in ("fashion-mnist", "cifar-10"):
        pruning = found.numbers[name]["pruning"]
        assert set(pruning["low-first"]) == {"cg", "tracin", "craig", "random"}
        assert set(pruning["high-first"]) == {"cg", "tracin", "random"}
        check_detection(found.numbers[name]["detection"], {"partial", "cg", "self_influence"})
    assert "CIFAR-10 stands where the paper shows CIFAR-100." in found.figures["-2"][1]


def test_scores_of_features(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("appendix-h", quick, plan, tmp_path)
    scores = {"feature_cg", "cg", "el2n", "forgetting"}
    for name in ("fashion-mnist", "cifar-10"):
        pruning = found.numbers[name]["pruning"]
        assert set(pruning["low-first"]) == set(pruning["high-first"]) == scores | {"random"}
        check_detection(found.numbers[name]["detection"], scores | {"partial"})
    followed = found.numbers["cifar-10"]["correlation"]
    assert followed["epochs"] == [1, 2]
    assert set(followed["spearman"]) == {"cg", "c_score", "el2n", "forgetting"}
    assert all(-1 <= one <= 1 for rho in followed["spearman"].values() for one in rho)
    assert "after epoch 1 of a training planned for 2 epochs" in found.figures[""][1]


def test_other_networks(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("appendix-e", quick, plan, tmp_path)
    dense, vision = (found.numbers[net] for net in ("densenet", "vit"))
    assert dense["removed"] == pytest.approx([0, 0.7])
    assert vision["removed"] == pytest.approx([0, 0.4, 0.7])
    assert (dense["trainings"], vision["trainings"]) == (1, plan.repeats)
    for numbers in (dense, vision):
        for order in ("low-first", "high-first"):
            assert set(numbers[order]) == {"cg", "el2n", "random"}
    assert found.numbers["pretrained"]["images"] == 100  # those that are not trained on
    caption = found.figures[""][1]
    assert "growth rate of 3" in caption
    assert "trained before on 100 other images" in caption


def test_dynamics_by_score(quick: Work, plan: Plan, tmp_path: Path) -> None:
    found = made("figure-4", quick, plan, tmp_path)
    along = quick(epochs_cell(plan, "cifar-10"))
    for name in ("loss", "accuracy", "velocity"):
        assert np.shape(found.numbers[name]) == (2, 10)
    assert np.mean(found.numbers["loss"], axis=1) == pytest.approx(along["loss"].mean(axis=1))
    assert np.mean(found.numbers["accuracy"], axis=1) == pytest.approx(
        along["correct"].mean(axis=1)
    )
    lowest = np.argsort(values(quick, plan, "cifar-10", "cg"), kind="stable")[:20]
    assert found.numbers["loss"][1][0] == pytest.approx(along["loss"][1, lowest].mean())
    assert all(-1 <= one <= 1 for one in found.numbers["spearman"].values())


@pytest.mark.parametrize("name", ["figure-4", "appendix-e"])
def test_what_is_not_there_is_said(work: Work, plan: Plan, tmp_path: Path, name: str) -> None:
    found = do(name, replace(work, data=tmp_path / "empty"), plan, tmp_path).result
    assert [one.split(":")[0] for one in found.not_run] == ["CIFAR-10"]
