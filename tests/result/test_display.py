"""Results in a terminal and in a notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.result.histogram import Histogram


def test_shown_in_a_terminal_and_a_notebook(cloud: tuple[Any, Any]) -> None:
    s = cgscore.score(*cloud)
    assert repr(s).startswith("Scores of 60 examples in 3 classes: exact, ridge 0, ")
    assert f"accuracy {100 * s.accuracy():.1f} %" in repr(s)
    html = s._repr_html_()
    assert html.count("<rect") == 40
    assert "Scores of 60 examples" in html


def test_plot_shows_the_scores_and_the_label_issues(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = cloud
    s = cgscore.score(X, y)
    plot = s.plot()
    assert plot.logarithmic
    np.testing.assert_array_equal(plot.values, s.table["cg"])
    assert plot.flagged is not None
    assert plot.flagged.sum() == s.label_issues()["is_label_issue"].sum()
    plot.save(tmp_path / "cg.svg")
    assert ElementTree.parse(tmp_path / "cg.svg").getroot().tag.endswith("svg")
    assert plot._repr_html_() == (tmp_path / "cg.svg").read_text()
    assert s.plot("margin").name == "margin"
    assert not s.plot("margin").logarithmic
    assert not s.plot(np.arange(60.0)).logarithmic
    with pytest.raises(OptionError, match="nothing"):
        s.plot("nothing")


def test_bars_count_every_value_that_is_shown() -> None:
    values = np.r_[np.geomspace(0.1, 100, 30), 0.0, np.inf]
    flagged = values > 50
    plot = Histogram("<CG>", values, flagged, logarithmic=True)
    lines = repr(plot).splitlines()
    assert sum(int(line.split()[-1]) for line in lines[1:]) == 30
    assert lines[0] == (
        "<CG> from 0.1 to 1e+02, logarithmic; 3 label issues in another colour (#); "
        "2 values not shown"
    )
    assert "#" in lines[-1]
    assert "#" not in "".join(lines[1:-1])
    assert "<CG>" not in plot.svg()  # escaped
    linear = Histogram("margin", values[:-1])
    assert "2 values" not in linear.caption
    assert len(repr(linear).splitlines()) == 13


def test_equal_scores_are_one_bar() -> None:
    s = cgscore.score(np.eye(40), np.arange(40) % 2)  # CG = 2 but for rounding
    assert s._repr_html_().count("<rect") == 40
    counts = [int(line.split()[-1]) for line in repr(s.plot()).splitlines()[1:]]
    assert sum(counts) == max(counts) == (s.table["cg"] > 0).sum()


def test_nothing_to_show() -> None:
    plot = Histogram("CG", np.array([0.0, np.inf]), logarithmic=True)
    assert repr(plot) == "CG: no values to show"
    assert plot.svg() == ""
