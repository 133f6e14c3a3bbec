"""Learning rates and the number of steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cgscore.training.loop.schedule import learning_rate, step_count
from cgscore.training.loop.settings import Settings
from tests.training.short_runs import QUICK


def test_schedules() -> None:
    cosine = replace(QUICK, learning_rate=0.2)
    assert [learning_rate(cosine, t, 4) for t in range(4)] == pytest.approx(
        [0.2, 0.1 * (1 + 0.5**0.5), 0.1, 0.1 * (1 - 0.5**0.5)]
    )
    constant = replace(cosine, schedule="constant")
    assert {learning_rate(constant, t, 4) for t in range(4)} == {0.2}
    triangular = replace(cosine, schedule="triangular")
    rates = [learning_rate(triangular, t, 9) for t in range(9)]
    assert rates == pytest.approx(
        [0.1, 0.2, 0.175, 0.15, 0.125, 0.1, 0.075, 0.05, 0.025]  # highest after a fifth
    )
    assert step_count(Settings(200, 0.05), 50_000) == 200 * 391
