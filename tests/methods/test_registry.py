"""The registry of methods, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.methods import METHODS, SUMMARIES
from cgscore.methods.cost import Sizes
from cgscore.methods.options import PARTICULAR, Options
from tests.command import invoke

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_the_contract(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    assert method.accepts <= {*PARTICULAR, "client"}
    cost = method.cost(Sizes(5000, 20, 4), Options.checked(), 2)
    assert cost.flops > 0
    assert cost.min_bytes <= cost.bytes
    assert method.keeps


@pytest.mark.parametrize("name", METHODS)
def test_options_of_other_methods_are_rejected(name: str) -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 4)), np.arange(30) % 2
    others = {"dtype": "float32", "target": 0.9, "ratio": 2, "runs": 3}
    for option in others.keys() - METHODS[name].accepts:
        with pytest.raises(OptionError, match=f"{option}=.* has no effect on method='{name}'"):
            cgscore.score(X, y, method=name, **{option: others[option]})  # type: ignore[arg-type]


def test_documentation_and_help_have_every_method() -> None:
    text = " ".join(invoke("score", "--help", folder=Path.cwd()).stdout.split())
    page = (DOCS / "methods.md").read_text()
    for name, summary in SUMMARIES.items():
        assert f"{name}: {summary}" in text
        assert f"| `{name}` | {summary} |" in page


def test_unknown_methods() -> None:
    assert "magic" not in METHODS
    with pytest.raises(KeyError):
        METHODS["magic"]
