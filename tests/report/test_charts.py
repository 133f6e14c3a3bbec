"""Charts in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser
from sklearn.datasets import load_digits

import cgscore
from tests.report.pages import ink, opened

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_charts_are_drawn(digits: Any, browser: Browser) -> None:
    _, path = digits
    with opened(browser, path) as page:
        for chart, least in (("#histogram", 5000), ("#class-plot", 500), ("#pruning-plot", 3000)):
            assert ink(page, chart) > least
        every = ink(page, "#scatter-plot")
        assert every > 3000
        page.locator("#scatter-class").select_option("0")
        page.wait_for_timeout(100)
        assert 0 < ink(page, "#scatter-plot") < every / 3
        page.locator("#scatter-class").select_option("")
        page.locator("#scatter-plot").scroll_into_view_if_needed()
        over = page.locator("#scatter-plot .u-over")
        box = over.bounding_box()
        assert box is not None
        for part in (0.7, 0.75, 0.8, 0.85):
            page.mouse.move(box["x"] + part * box["width"], box["y"] + 0.75 * box["height"])
        page.locator("#scatter-caption", has_text="partial").wait_for()
        assert re.match(
            r"\d+: \d, CG [\d.]+, partial -?[\d.]+", page.locator("#scatter-caption").inner_text()
        )
        page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.99 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
        page.mouse.up()
        page.wait_for_timeout(200)
        zoomed = ink(page, "#scatter-plot")
        assert zoomed != every
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        page.wait_for_timeout(200)
        assert ink(page, "#scatter-plot") == pytest.approx(every, rel=0.02)


def test_a_regression_has_a_page_too(browser: Browser, tmp_path: Path) -> None:
    X = load_digits().data[:200]
    y = X[:, 20] + 0.5 * X[:, 21]
    y[[4, 9]] = 300.25, -200.0
    scores = cgscore.score(pd.DataFrame(np.delete(X, 20, axis=1)).add_prefix("x"), y)
    path = tmp_path / "regression.html"
    scores.report(path)
    with opened(browser, path) as page:
        assert "values look wrong" in page.locator("#verdict").inner_text()
        rows = page.locator("#gallery tbody tr")
        cells = rows.first.locator("td").all_inner_texts()
        assert rows.first.locator("th").inner_text() == "4"
        assert cells[0] == "300.3"
        assert cells[3] == "> 99 %"
        rows.first.locator("summary").click()
        rows.first.locator(".strip li").last.wait_for()
        assert rows.first.locator(".strip li").count() == 3
        page.locator("#sort").select_option("from")
        assert rows.first.locator("th").inner_text() == "9"
        for hidden in ("#map", "#pruning", "#class-table", "#pair"):
            assert not page.locator(hidden).is_visible()
        assert ink(page, "#histogram") > 1000
        assert ink(page, "#scatter-plot") > 100
        assert "pruning" not in page.locator("#contents").inner_text()
