"""Curves of accuracies after pruning, and what is said of them."""

from __future__ import annotations

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import Curves, Experiment, run
from cgscore_paper.trainings import accuracy_cells


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
