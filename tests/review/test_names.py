"""What screen readers are told in the review."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.report.pages import announced, silent
from tests.review.server import Server, opened


def test_an_example_the_grid_and_the_classes(shared: Server, browser: Browser) -> None:
    page = opened(browser, shared)
    page.locator("#one .accept").wait_for()
    assert silent(page) == []
    roles = {role for role, _ in announced(page)}
    assert {"button", "combobox", "image", "link", "progressbar"} <= roles
    page.keyboard.press("c")
    page.wait_for_timeout(200)
    assert silent(page) == []
    page.keyboard.press("Escape")
    page.locator("#view").click()
    page.locator("#grid .card").first.wait_for()
    assert silent(page) == []
    boxes = [name for role, name in announced(page) if role == "checkbox"]
    assert len(boxes) == len(set(boxes)) > 1
    page.context.close()
