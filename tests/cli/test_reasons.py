"""Why labels are suspected, as the command line prints it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import cgscore
from cgscore.cli.issues import _neighbours
from cgscore.cli.reasons import print_reasons
from tests.cli.test_suspects import long_names

WIDTH = 80


def printed(scores: Any, count: int = 2) -> list[str]:
    """The lines that are printed about the worst suspects."""
    stream = io.StringIO()
    suspects = scores.find_issues().worst_first().head(count)
    near, _ = _neighbours(scores, suspects, None)
    console = Console(file=stream, width=WIDTH, markup=False, emoji=False, highlight=False)
    assert near is not None
    print_reasons(console, scores, scores.data(), suspects, near)
    return stream.getvalue().splitlines()


def test_rows_of_a_table_show_the_columns_that_matter() -> None:
    lines = printed(cgscore.score(long_names(), "label", id_column="id"))
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith("folder with spaces/picture number 0000")
    assert lines[1].endswith(".jpg")
    assert lines[2].startswith("    given a rather long name")
    assert lines[3].startswith("    this: x")
    assert sum(line.startswith("    like a rather long name") for line in lines) == 4
    neighbours = [line for line in lines if line.startswith("        ")]
    assert len(neighbours) == 12
    assert all(" %  folder with" in line and "x" in line for line in neighbours)


def test_neighbours_of_a_number_show_their_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    y = 50 + 10 * X[:, 0] + rng.standard_normal(150)
    y[3] = 900.25
    frame = pd.DataFrame(X, columns=["width", "height"]).assign(price=y)
    lines = printed(cgscore.score(frame, "price"), 1)
    assert lines[1] == "3"
    assert lines[2].startswith("    given 900.25, predicted ")
    assert lines[3].startswith("    this: given 900.25, width ")
    assert lines[4] == "    like it:"
    assert len(lines) == 8
    assert all("given " in line and "height" in line for line in lines[5:])


def test_texts_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"fruit": "apple pear plum cherry", "tools": "hammer saw drill nails"}
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(60):
        name = ("fruit", "tools")[i % 2]
        texts.append(" ".join(rng.choice(words[name].split(), 6)))
        labels.append(name)
    labels[0] = "tools"
    data = cgscore.read(pd.DataFrame({"text": texts, "label": labels}), encoder="tfidf")
    lines = printed(cgscore.score(data), 1)
    assert max(map(len, lines)) <= WIDTH
    assert f'    this: "{texts[0]}"' in lines
    assert sum(line.endswith('"') and " %  " in line for line in lines) == 6
