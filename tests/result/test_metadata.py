"""``Scores.meta`` has the keys that its documentation describes, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.methods import METHODS
from cgscore.result.metadata import COMMON, PARTICULAR

PAGE = Path(__file__).parents[2] / "docs" / "metadata.md"


@pytest.mark.parametrize("method", METHODS)
def test_keys_of_every_method(method: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 6)), np.arange(90) % 3
    ridge = 0.1 if method == "lowrank" else 0.0
    meta = cgscore.score(X, y, method=method, ridge=ridge).meta
    assert set(COMMON) <= set(meta)
    assert set(meta) <= {*COMMON, *PARTICULAR}
    json.dumps(meta)


def test_keys_of_a_factor() -> None:
    X = np.random.default_rng(0).standard_normal((20, 6))
    meta = cgscore.factor(X).score(np.arange(20) % 2).meta
    assert set(meta) == set(COMMON)


def test_every_key_is_described() -> None:
    described = set()
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            described |= set(re.findall(r"`(\w+)`", line.split("|")[1]))
    assert described == {*COMMON, *PARTICULAR}


def test_meta_says_how(cloud: tuple[Any, Any]) -> None:
    meta = cgscore.score(*cloud, seed=3).meta
    expected = {
        "method": "exact",
        "ridge": 0.0,
        "seed": 3,
        "n": 60,
        "p": 8,
        "classes": 3,
        "source": "arrays",
        "audit": None,
        "warnings": [],
        "version": cgscore.__version__,
    }
    assert {name: meta[name] for name in expected} == expected
    assert meta["peak_memory"] > 10**7
    assert meta["digits"] > 10
    assert {"kernel", "factor", "inverse", "solve", "total"} == set(meta["timings"])
    json.dumps(meta)
