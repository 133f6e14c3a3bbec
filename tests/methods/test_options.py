"""Options that are refused."""

from __future__ import annotations

from typing import Any

import pytest

import cgscore
from cgscore.errors import OptionError
from tests.solvers.iterative.rows import around_centres


@pytest.mark.needs("torch")
def test_options_of_other_methods_are_refused() -> None:
    X, y = around_centres(100)
    with pytest.raises(OptionError, match=r"target=0\.9 has no effect on method='exact'"):
        cgscore.score(X, y, method="exact", target=0.9)
    with pytest.raises(OptionError, match="device='cuda' cannot be used here"):
        cgscore.score(X, y, device="cuda")
    with pytest.raises(OptionError, match="dtype='float32' has no effect on method='iterative'"):
        cgscore.score(X, y, method="iterative", dtype="float32")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ratio": 0}, "ratio must be a positive number; got 0"),
        ({"ratio": float("nan")}, "ratio must be .* got nan"),
        ({"runs": 0}, "runs must be a whole number, 1 or larger; got 0"),
        ({"runs": 2.5}, "runs must be .* got 2.5"),
        ({"seed": -1}, "seed must be .* 0 or larger; got -1"),
    ],
)
def test_numbers_out_of_range(wrong: Any, says: str, uneven: Any) -> None:
    with pytest.raises(OptionError, match=says):
        cgscore.score(*uneven, method="subsample", **wrong)
