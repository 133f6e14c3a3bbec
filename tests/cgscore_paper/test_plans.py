"""Presets of the experiments."""

from __future__ import annotations

import json

import pytest

from cgscore.errors import OptionError
from cgscore_paper.plans import PLANS, Plan


def test_unknown_plans() -> None:
    with pytest.raises(OptionError, match="must be one of desk, full, paper"):
        Plan.named("table")


@pytest.mark.parametrize("name", [*PLANS, "sample"])
def test_sizes_are_json(name: str) -> None:
    plan = Plan.named(name, seed=3)
    assert plan.seed == 3
    assert json.loads(json.dumps(plan.sizes))["examples"] == plan.examples
