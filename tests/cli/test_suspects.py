"""What is printed of suspects, and how wide it is."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

import cgscore
from cgscore.cli.suspects import MIN_WIDTH, fitted_widths, print_issues


def printed(scores: Any, width: int) -> list[str]:
    """The lines that are printed in a terminal of this width."""
    stream = io.StringIO()
    issues = scores.find_issues()
    console = Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
    print_issues(console, scores, issues.table, issues.worst_first().head(5))
    return stream.getvalue().splitlines()


def long_names(n: int = 120) -> pd.DataFrame:
    """Two classes with long names, and three labels of the wrong one."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 3)) + 4 * y[:, None]
    frame: pd.DataFrame = pd.DataFrame(X).add_prefix("x")
    y[:3] = 1 - y[:3]
    frame["label"] = np.array([f"a rather long name of class {c}, once more" for c in "ab"])[y]
    frame["id"] = [f"folder with spaces/picture number {i:05d}.jpg" for i in range(n)]
    return frame


def test_suspects_fit_80_columns() -> None:
    lines = printed(cgscore.score(long_names()), 80)
    table = lines[lines.index("The worst:") + 1 :]
    assert len(table) == 4
    assert max(map(len, table)) <= 80
    assert table[0].split()[:3] == ["id", "given", "suggested"]
    assert "CG" in table[0]  # no column is lost
    assert {row.split()[0].split("…")[0] for row in table[1:]} == {"folder"}
    assert all(".jpg" in row for row in table[1:])  # the end of an id tells more than its middle


def test_the_widest_columns_are_shortened_first() -> None:
    rows = [["a" * 50, "b" * 20, "c"]]
    assert fitted_widths(rows, 100) == [50, 20, 1]
    assert fitted_widths(rows, 50) == [23, 20, 1]
    assert fitted_widths(rows, 5) == [MIN_WIDTH, MIN_WIDTH, 1]


def test_numbers_have_an_interval() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = 100 + 10 * X[:, 0] + rng.standard_normal(200)
    y[7] = 1000.0
    lines = printed(cgscore.score(pd.DataFrame(X).assign(price=y), "price"), 80)
    assert "values look wrong (95 %:" in lines[0]
    assert lines[1].startswith("Half of the values are predicted to within ")
    assert lines[-2].split() == ["id", "given", "predicted", "95", "%", "interval", "P(wrong)"]
    assert lines[-1].split()[:2] == ["7", "1,000"]
    assert lines[-1].endswith("> 99 %")


def test_labels_that_nobody_can_tell() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    lines = printed(cgscore.score(rng.standard_normal((300, 5)) + 0.35 * y[:, None], y), 80)
    assert any("hard to tell from these inputs" in line for line in lines)
