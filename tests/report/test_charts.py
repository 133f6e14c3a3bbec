"""Charts in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
    X = load_digits().data
    scores = cgscore.score(X[:200], X[:200, 20], task="regression", ridge="auto")
    path = tmp_path / "regression.html"
    scores.report(path)
    with opened(browser, path) as page:
        assert "regression" in page.locator("#verdict").inner_text()
        assert ink(page, "#histogram") > 1000
