from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.execution import machine, progress
from cgscore.execution.blas import one_blas_thread


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 10**9),
        ("512 MiB", 512 * 2**20),
        ("1.5k", 1500),
        (10, 10),
        ("7", 7),
        ("2tb", 2 * 10**12),
    ],
)
def test_sizes_are_understood(text: str | int, size: int) -> None:
    assert machine.parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4XB", "-1GB", 0, float("nan")])
def test_other_texts_are_not_sizes(text: str | float) -> None:
    with pytest.raises(OptionError, match="is not a size"):
        machine.parse_bytes(text)


def test_sizes_and_durations_for_people() -> None:
    assert machine.show_bytes(14.4e9) == "14.4 GB"
    assert machine.show_bytes(1500) == "1.5 kB"
    assert [machine.show_seconds(s) for s in (0.64, 42, 600, 10_000)] == [
        "0.6 s",
        "42 s",
        "10 min",
        "2.8 h",
    ]


def test_the_machine_is_plausible() -> None:
    assert 0 < machine.available_memory() < 2**50
    assert 1 <= machine.cores() < 10_000
    assert 10**7 < machine.peak_memory() < 2**50
    assert machine.product_rate(256) > 1e8


def test_peak_memory_sees_an_allocation() -> None:
    program = """
import numpy as np
from cgscore.execution.machine import peak_memory
before = peak_memory()
held = np.ones(10**8 // 8 + before // 8)
print(held[0], peak_memory() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    one, more = done.stdout.split()
    assert one == "1.0"
    assert float(more) >= 10**8


def test_a_function_hears_every_phase() -> None:
    heard: list[tuple[str, float]] = []
    X = np.random.default_rng(0).standard_normal((50, 4))
    cgscore.score(X, np.arange(50) % 2, progress=lambda name, done: heard.append((name, done)))
    assert {name for name, _ in heard} == {"kernel", "factor", "inverse"}
    assert heard[-1] == ("inverse", 1.0)


def test_bars_only_where_somebody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = np.random.default_rng(0).standard_normal((50, 4)), np.arange(50) % 2
    cgscore.score(X, y)
    assert capsys.readouterr().err == ""
    cgscore.score(X, y, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert shown.count("\n") == 1  # one bar for all phases
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


def test_the_last_user_of_one_blas_thread_restores_what_was_before() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    X, y = np.random.default_rng(0).standard_normal((50, 4)), np.arange(50) % 2
    cgscore.score(X, y)  # OpenBLAS sets its number anew when its threads start
    with threadpool_limits(limits=2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert threads() == {1}
        first.__exit__(None, None, None)  # as two scores that overlap
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}
        cgscore.score(X, y)
        assert threads() == {2}
