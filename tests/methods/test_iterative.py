"""The iterative method: what it refuses, warns about and costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

from cgscore.errors import CGScoreWarning, ConvergenceError
from cgscore.execution.progress import ignore
from cgscore.kernel import unit_rows
from cgscore.methods import METHODS
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.iterative import solve as iterative
from tests.solvers.iterative.rows import few_columns
from tests.unjudged import score


def test_uncertain_examples_are_named_by_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((900, 20))
    X[100] = X[0]  # merged, so that solvers count differently from the caller
    X[450:480] = X[400:430] + 1e-3 * rng.standard_normal((30, 20))
    monkeypatch.setattr(iterative, "parts", lambda n: 4)
    with (
        pytest.warns(CGScoreWarning, match="1 rows are identical"),
        pytest.warns(CGScoreWarning, match=r"of \d+ examples are uncertain.*Rows 4\d\d"),
    ):
        found = score(X, np.arange(900) % 4, method="iterative")
    marked = found.meta["audit"]["uncertain"]
    assert marked["count"] == len(marked["positions"]) > 20
    assert set(marked["positions"]) <= {*range(400, 430), *range(450, 480)}
    assert any("uncertain" in note for note in found.meta["warnings"])


def test_bounds_that_disagree_are_refused(refused: tuple[Any, Any]) -> None:
    with pytest.raises(
        ConvergenceError, match=r"differ by more than a factor of 3 for \d\d%.*exact"
    ):
        score(*refused, method="iterative")
    assert score(*refused, method="iterative", ridge=0.3).meta["method"] == "iterative"


class _Totals:
    """Adds up the phases of a run."""

    def __init__(self) -> None:
        self.total = 0.0

    def whole(self, total: float) -> Any:
        return nullcontext()

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Any]:
        self.total += total
        yield ignore


def test_the_cost_counts_every_system_of_the_audit() -> None:
    X, y = few_columns(20, 3000)
    rows, Y = unit_rows(X), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    seen = _Totals()
    iterative.solve(rows, 0.0, Y, y, storage="memory", seed=0, target=None, progress=seen)
    cost = METHODS["iterative"].cost(Sizes(3000, 20, 3), Options.checked(), 1)
    assert cost.flops == pytest.approx(seen.total, rel=0.02)
