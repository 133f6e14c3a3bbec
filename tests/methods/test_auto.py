"""The choice among methods, and exact scores where the iterative method refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import ConvergenceError, MemoryLimitError, SingularKernelError
from cgscore.execution import machine
from cgscore.methods import auto as choice
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.iterative import solve as iterative
from tests.unjudged import score


def test_auto_takes_exact_where_that_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice.choose(Sizes(1000, 10, 3), Options.checked(), None).method == "exact"
    monkeypatch.setattr(choice, "product_rate", lambda: 80e9)
    monkeypatch.setattr(machine, "available_memory", lambda: 20 * 10**9)
    assert choice.choose(Sizes(10_000, 784, 10), Options.checked(), None).method == "exact"
    large = choice.choose(Sizes(60_000, 784, 10), Options.checked(), None)
    assert large.method == "iterative"
    assert large.costs["seconds"]["exact"] > 2 * large.costs["seconds"]["iterative"]
    assert (
        choice.choose(Sizes(60_000, 784, 10), Options.checked(dtype="float32"), None).method
        == "exact"
    )
    tight = choice.choose(
        Sizes(20_000, 10, 3), Options.checked(memory_limit="100MB"), None
    )  # with narrow panels it still fits on disk
    assert tight.method == "exact"
    with pytest.raises(MemoryLimitError, match="with any method"):
        choice.choose(Sizes(3_000_000, 784, 10), Options.checked(), None)


def test_auto_falls_back_to_exact(refused: tuple[Any, Any], tmp_path: Path) -> None:
    exact = score(*refused, method="exact")
    for _ in range(2):  # the second time from the checkpoint
        found = score(*refused, checkpoint=tmp_path / "work", target=0.99)
        assert found.meta["method"] == found.meta["choice"]["method"] == "exact"
        assert "the iterative method refused: Two lower bounds" in found.meta["choice"]["why"]
        np.testing.assert_array_equal(found.d, exact.d)
    assert (tmp_path / "work" / "exact").is_dir()


def test_auto_says_why_it_does_not_fall_back(
    refused: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(choice, "memory_room", lambda limit: machine.Room(1000))
        with pytest.raises(ConvergenceError, match=r"Two lower bounds.*does not fall.*of memory"):
            score(*refused)
    monkeypatch.setattr(choice, "MAX_SMALL_N", 10)
    monkeypatch.setattr(choice, "product_rate", lambda: 1.0)
    with pytest.raises(ConvergenceError, match=r"which would take about \d+ hours"):
        score(*refused)


def test_auto_falls_back_from_a_singular_part(
    refused: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise SingularKernelError("nearly identical rows")

    monkeypatch.setattr(iterative, "solve", fail)
    found = score(*refused)
    assert found.meta["choice"]["why"] == "the iterative method refused: nearly identical rows"
    with pytest.raises(SingularKernelError):
        score(*refused, method="iterative")
