"""Phases that are heard, shown and timed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import cgscore
from cgscore.execution import progress


def test_a_function_hears_every_phase() -> None:
    heard: list[tuple[str, float]] = []
    X = np.random.default_rng(0).standard_normal((50, 4))
    cgscore.score(X, np.arange(50) % 2, progress=lambda name, done: heard.append((name, done)))
    assert {name for name, _ in heard} == {"kernel", "factor", "inverse", "judging"}
    assert heard[-1] == ("judging", 1.0)


def test_bars_only_where_somebody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = np.random.default_rng(0).standard_normal((50, 4)), np.arange(50) % 2
    cgscore.score(X, y)
    assert capsys.readouterr().err == ""
    cgscore.score(X, y, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert shown.count("\n") == 2  # one bar for all phases, and one for judging
    assert "judging" in shown
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert isinstance(progress.reporter(None), progress.Bars)
    assert isinstance(progress.reporter(False), progress.Silent)


def test_time_left_is_by_work_done_in_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 10.0, 12.0, 14.0, 15.0])
    monkeypatch.setattr("cgscore.execution.progress.time.perf_counter", lambda: next(clock))
    bar = progress._Bar(1000.0)
    advance = bar.mover("factor")
    left = []
    for amount, before in ((400.0, True), (100.0, False), (100.0, False)):
        advance(amount, before=before)
        left.append(bar._display.tasks[0].fields["time_left"])
    # 400 were there at the start; then 100 in 2 s leave 500 for 10 s, and 100 more leave 400
    assert left == ["", "10 s left", "8.0 s left"]
    assert bar._display.tasks[0].percentage == pytest.approx(60)
    assert bar._display.tasks[0].description == "factor"


def test_phases_that_take_turns_are_timed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 0.0, 2.0, 5.0, 6.0, 6.0, 6.0])
    monkeypatch.setattr("cgscore.execution.progress.time.perf_counter", lambda: next(clock))
    timed = progress.Timed(progress.Silent())
    with timed.phase("kernel", 2) as one, timed.phase("factor", 2) as two:
        one(1)
        two(2)
        one(1)
    assert timed.seconds == {"kernel": 3.0, "factor": 3.0}
