"""Curves of accuracies after pruning, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import Curves, Experiment, draw, harmless_comparison, run
from cgscore_paper.trainings import accuracy_cells


def test_trainings_are_real(work: Work, plan: Plan) -> None:
    (found,) = run(work, plan, [Experiment("fashion-mnist", ("cg", "random"), (0.5,), 1)])
    (cell,) = accuracy_cells(
        plan, "fashion-mnist", "cg", order="high-first", fraction=0.5, repeats=1
    )
    assert found.found["high-first"]["cg"] == [found.full, [work.load(cell)["accuracy"]]]
    assert found.found["low-first"]["cg"] != found.found["high-first"]["cg"]
    assert found.numbers()["full"]["deviation"] == [None]


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
    shares = "With the lowest scores removed first, the mean over 20 %, 40 % and 60 % removed"
    assert f"{shares} is highest for CG-score (0.8423), followed by random (0.6833)." in text
    assert "is lowest for random (0.6833), followed by CG-score (0.8423)." in text
    assert "| random | any | 0.7500 | 0.7000 | 0.6000 | 0 % |" in text


def partly() -> Curves:
    """Some of the trainings of `curves` are not finished."""
    experiment = Experiment("cifar-10", ("cg", "el2n", "random"), (0.8, 0.6, 0.4), 3)
    full = [0.9, 0.902, 0.904]
    low = {
        "cg": [full, [], [0.9, 0.9, 0.906], []],
        "el2n": [full, [], [], []],
        "random": [full, [0.9], [0.88], []],
    }
    return Curves(
        experiment,
        100,
        full,
        {"low-first": low, "high-first": {by: [full, [], [], []] for by in low}},
    )


def test_what_is_not_finished_is_called_not_tested() -> None:
    found = partly()
    assert found.started
    assert found.scores("low-first") == ["cg", "random"]
    assert found.common("low-first") == [2]
    assert found.harmless_share("low-first", "cg") == 0.4
    assert found.harmless_share("low-first", "random") == 0.2
    assert found.harmless_share("low-first", "el2n") is None
    assert found.overall("low-first", "el2n") is None
    numbers = found.numbers()
    assert numbers["low-first"]["cg"]["mean"][1] is None
    assert numbers["low-first"]["cg"]["deviation"][2] == pytest.approx(0.0034641)
    text = found.text("Some")
    assert "| all examples |  | 0.9020 ± 0.0020 |  |  |  |" in text
    assert "| CG-score | low | not tested | 0.9020 ± 0.0035 | not tested | 40 % |" in text
    assert "| EL2N | low | not tested | not tested | not tested | not tested |" in text
    assert "the mean over 40 % removed is highest for CG-score (0.9020)" in text
    assert "highest scores removed first, the mean" not in text


def test_points_have_bars_only_of_three_trainings() -> None:
    figure = draw({"Some": partly()})
    low, high = figure.axes
    assert low.get_ylim() == high.get_ylim()
    assert [axes.get_title(loc="left") for axes in (low, high)] == ["a", "b"]
    containers: Any = low.containers
    bars = {bar.get_label(): bar.lines[2][0].get_segments() for bar in containers}
    assert set(bars) == {"CG-score", "random"}
    assert np.ptp(np.array(bars["CG-score"][0])[:, 1]) == pytest.approx(2 * 0.0034641)
    assert not any(len(one) and np.isfinite(np.array(one)).all() for one in bars["random"])
    assert not high.containers


@pytest.mark.parametrize(("paper", "ours"), [(0.2, 0.2), (0.4, 0.4), (0.6, None)])
def test_a_share_of_the_paper_is_compared_where_it_was_tested(
    paper: float, ours: float | None
) -> None:
    assert harmless_comparison("Some", paper, partly()).ours == ours
    assert harmless_comparison("Some", paper, None).ours is None
