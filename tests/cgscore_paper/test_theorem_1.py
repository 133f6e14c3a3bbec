"""Theorem 1 and the velocity of weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper import theorem_1
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made


def test_theorem(work: Work, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"WIDTH": 2000, "STEPS": 40, "PER_CLASS": 15, "NARROW": 300, "STARTS": 2, "MOMENTS": 4}
    for name, value in small.items():
        monkeypatch.setattr(theorem_1, name, value)
    found, _ = made("theorem-1", work, plan, tmp_path)
    assert "Beyond the paper" in found.figures[""][1]
    assert not found.compared  # the paper prints no number
    numbers = found.numbers
    assert numbers["steps"][0] == 1
    assert numbers["steps"][-1] == 40
    easy, _, random = numbers["problems"].values()
    assert easy["complexity"] < random["complexity"]
    assert easy["loss"][-1] < random["loss"][-1]
    for one in numbers["problems"].values():
        assert len(one["loss"]) == len(one["predicted_loss"]) == len(numbers["steps"])
        assert np.diff(one["loss"]).max() < 0
        assert one["loss_error"] < 0.15
        assert one["movement_error"] < 0.15
        # one start says little about width; test_theory compares widths over several
        assert 0 < one["narrow_loss_error"] < 0.3
        assert one["narrow_loss_error"] != one["loss_error"]
        assert 0 < one["movement"][-1] < 1.1 * one["movement_bound"]
        assert one["test_bound"] == pytest.approx((one["complexity"] / 30) ** 0.5)
    moved = numbers["velocity"]
    assert np.shape(moved["groups"]) == (10, 4)
    assert moved["steps"] == [10, 20, 30, 40]
    assert np.mean(moved["groups"], axis=1) == pytest.approx(moved["mean"])
    assert moved["cg"] == sorted(moved["cg"])
    assert moved["examples_of_a_group"] == 3
    assert np.min(moved["groups"]) >= 0


def test_velocity_of_a_narrow_network_is_higher(work: Work) -> None:
    def mean(width: int) -> float:
        how = {"per_class": 15, "steps": 20, "moments": 2, "starts": 2, "seed": 0}
        found = theorem_1.velocities(work, first=2, second=4, width=width, **how)
        return float(found["velocity"].mean())

    assert mean(3000) < mean(100) / 3
