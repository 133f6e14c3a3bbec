"""Results in a terminal and in a notebook."""

from __future__ import annotations

from typing import Any

import cgscore


def test_shown_in_a_terminal_and_a_notebook(cloud: tuple[Any, Any]) -> None:
    s = cgscore.score(*cloud)
    assert repr(s).startswith("Scores of 60 examples in 3 classes: exact, ridge 0, ")
    assert f"accuracy {100 * s.accuracy():.1f} %" in repr(s)
    html = s._repr_html_()
    assert html.count("<rect") == 40
    assert "Scores of 60 examples" in html
