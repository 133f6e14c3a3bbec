"""The page of columns, against tables of every kind."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "columns.md"
STANDARD_ERROR = "_std_error"

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def described() -> set[str]:
    """Names in the first column of the page's first table."""
    section = PAGE.read_text(encoding="utf-8").split("## `Scores.table`")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def produced() -> set[str]:
    """Columns of results with repeated rows, runs, sources, groups, annotators and ranks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[1] = X[0]
    y = np.arange(60) % 3
    y[1] = y[0]
    frame = pd.DataFrame(X, columns=list("vwxyz")).assign(a=y, b=y, c=(y + 1) % 3)
    results = [
        cgscore.score(X, y, source_column=y, group_column=y),
        cgscore.score(X, y, method="subsample", runs=3),
        cgscore.score(X, y, method="partition", runs=2),
        cgscore.score(frame, annotator_columns=["a", "b", "c"]),
    ]
    results[0].add_rank(data=X)
    return {name for scores in results for name in scores.table.columns}


def test_every_column_is_described_and_exists() -> None:
    expected, found = described(), produced()
    errors = {name for name in found if name.endswith(STANDARD_ERROR)}
    assert errors
    assert {name for name in expected if name.endswith(STANDARD_ERROR)} <= errors
    assert {name for name in expected if not name.endswith(STANDARD_ERROR)} == found - errors
