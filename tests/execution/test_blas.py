"""Threads of BLAS: work of two kinds in one process takes turns, and a fork waits for both."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy
from threadpoolctl import threadpool_info, threadpool_limits

import cgscore
from cgscore.execution import blas
from cgscore.execution.blas import all_blas_threads, libraries, one_blas_thread
from tests.waiting import until


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def in_thread(function: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_kinds_take_turns() -> None:
    seen: list[str] = []
    with threadpool_limits(limits=2, user_api="blas"):
        first, go = threading.Event(), threading.Event()

        def one() -> None:
            with one_blas_thread():
                first.set()
                go.wait()
                seen.append(f"one {threads()}")

        def every() -> None:
            with all_blas_threads():
                seen.append(f"all {threads()}")

        running = in_thread(one)
        first.wait()
        waiting = in_thread(every)
        waiting.join(0.2)
        assert waiting.is_alive()  # as long as the other kind is inside
        go.set()
        waiting.join()
        running.join()
    assert seen == ["one {1}", "all {2}"]


def test_a_thread_keeps_the_one_thread_it_has() -> None:
    with threadpool_limits(limits=2, user_api="blas"), one_blas_thread():
        with all_blas_threads():  # as a task does whose solver would use all
            assert threads() == {1}
        assert threads() == {1}
    with (
        pytest.raises(RuntimeError, match="one_blas_thread was entered inside"),
        all_blas_threads(),
        one_blas_thread(),
    ):
        pass
    with all_blas_threads():  # nothing was left behind
        pass


def test_an_interrupted_wait_leaves_no_trace() -> None:
    inside, go = threading.Event(), threading.Event()

    def one() -> None:
        with one_blas_thread():
            inside.set()
            go.wait()

    running = in_thread(one)
    inside.wait()

    def late(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt), all_blas_threads():
            pass
    finally:
        signal.signal(signal.SIGALRM, before)
    go.set()
    running.join()
    with all_blas_threads():
        pass


def problem(seed: int, n: int = 700) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 20)), rng.integers(0, 3, n)


@pytest.mark.parametrize("method", ["exact", "iterative", "partition"])
def test_scores_in_several_threads_are_those_of_one_alone(method: str) -> None:
    problems = [problem(seed, 500 + 61 * seed) for seed in range(4)]

    def bits(data: tuple[Any, Any]) -> bytes:
        found = cgscore.score(*data, method=method, judge=False)
        return bytes(found.d.tobytes() + found.loo.tobytes() + found.alpha.tobytes())

    with threadpool_limits(limits=2, user_api="blas"):  # what one thread would change
        alone = [bits(data) for data in problems]
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(bits, problems)) == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_another_thread_scores() -> None:
    X, y = problem(0)
    alone = cgscore.score(X, y, method="exact").d
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            cgscore.score(X, y, method="exact")

    running = in_thread(go_on)
    try:
        for _ in range(6):
            child = os.fork()
            if not child:  # nothing of pytest may run here
                same = np.array_equal(cgscore.score(X, y, method="exact").d, alone)
                os._exit(0 if same else 1)
            ended: list[int] = []

            def over(child: int = child, ended: list[int] = ended) -> bool:
                pid, status = os.waitpid(child, os.WNOHANG)
                if pid:
                    ended.append(os.waitstatus_to_exitcode(status))
                return bool(pid)

            try:
                until(over, 60)
            except AssertionError:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise
            assert ended == [0]
    finally:
        stop.set()
        running.join()


def test_the_last_user_of_one_blas_thread_restores_what_was_before() -> None:
    X, y = problem(0, 50)
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


def test_a_library_without_controls_is_named_by_its_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apple's Accelerate, whose threads threadpoolctl does not see."""
    monkeypatch.setattr(blas, "_controller", lambda: SimpleNamespace(info=lambda: []))
    monkeypatch.setattr("platform.mac_ver", lambda: ("26.1", ("", "", ""), "arm64"))
    (name,) = libraries()
    assert name.endswith(" 26.1")
    assert name.split()[0] in str(scipy.show_config(mode="dicts"))
