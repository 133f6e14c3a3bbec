"""Search, filters in the address, the enlarged example and the map, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

import cgscore
from tests.report.pages import HOSTILE, document, opened

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def count(page: Page) -> str:
    return page.locator("#count").inner_text().split(" shown")[0]


def test_search_and_filters_are_kept_in_the_address(digits: Any, browser: Browser) -> None:
    _, path = digits
    rows = document(path)["suspects"]
    with opened(browser, path) as page:
        page.locator("#search").fill(rows[3]["id"])
        named = [row for row in rows if rows[3]["id"] in row["id"]]
        assert count(page) == f"{len(named)} of {len(named)}"
        assert f"q={rows[3]['id']}" in page.url
        page.locator("#reset").click()
        assert "#" not in page.url
        page.locator("#least").fill("60")
        page.locator("#most").fill("90")
        between = [row for row in rows if 0.6 <= row["sure"] <= 0.9]
        assert 0 < len(between) < len(rows)
        assert page.locator("#kind").is_hidden()  # there is one kind only
        page.locator("#sort").select_option("id")
        wrong = sorted(int(row["id"]) for row in between)
        assert count(page).endswith(f"of {len(wrong)}")
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        assert count(page).endswith(f"of {len(wrong)}")
        assert page.locator("#least").input_value() == "60"
        assert page.locator(".card .name").first.inner_text() == str(wrong[0])
        page.locator("#search").fill("nothing like that")
        assert "Nothing fits" in page.locator("#gallery").inner_text()
        # an address that somebody made up
        page.evaluate("location.hash = '#pair=99-99&sort=up&least=1&q='")
        page.wait_for_function(f"() => /of {len(rows)} /.test(document.body.innerText)")


def test_examples_are_enlarged_by_pointer_and_keys(digits: Any, browser: Browser) -> None:
    _, path = digits
    rows = document(path)["suspects"]
    with opened(browser, path) as page:
        page.locator(".card .zoom").first.focus()
        page.keyboard.press("Enter")
        box = page.locator("#box")
        assert box.locator("#box-title").inner_text() == rows[0]["id"]
        assert box.locator(".large img").count() == 1
        assert box.locator(".strip img").count() == 6
        assert box.locator(".strip li").first.inner_text().endswith(" %")
        assert Axe().run(page).response["violations"] == []
        page.keyboard.press("ArrowRight")
        assert box.locator("#box-title").inner_text() == rows[1]["id"]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Escape")
        assert not box.is_visible()
        assert page.evaluate("document.activeElement.className") == "zoom"
        page.locator("#sort").select_option("id")
        page.locator(".card .zoom").nth(2).click()
        assert page.locator("#box-count").inner_text() == f"3 of {len(rows)}"
        page.locator("#box-close").click()


def test_the_map_is_pointed_at_and_drawn_on(digits: Any, browser: Browser) -> None:
    _, path = digits
    found = document(path)
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, path, permissions=permissions) as page:
        canvas = page.locator("#map-canvas")
        canvas.scroll_into_view_if_needed()
        assert "1,797 of 1,797 examples" in page.locator("#map-caption").inner_text()
        assert page.locator("#map-legend li").count() == 11
        canvas.focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#map-tip").is_visible()
        assert "flagged" in page.locator("#map-caption").inner_text()
        page.keyboard.press("Enter")
        assert page.locator("#box").is_visible()
        page.keyboard.press("Escape")
        box = canvas.bounding_box()
        assert box is not None
        corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98)]
        page.mouse.move(box["x"] + 0.02 * box["width"], box["y"] + 0.5 * box["height"])
        page.mouse.down()
        for x, y in corners:
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        page.mouse.up()
        chosen = page.locator("#map-count").inner_text()
        assert int(chosen.split(" ")[0].replace(",", "")) > 1700
        page.locator("#map-copy").click()
        page.locator("#map-count", has_text="copied").wait_for()
        assert len(page.evaluate("navigator.clipboard.readText()").split("\n")) > 1700
        page.locator("#map-show").click()
        assert "from the map" in page.locator("#count").inner_text()
        page.locator("#reset").click()
        assert count(page).endswith(f"of {len(found['suspects'])}")
        page.locator("#map-only").select_option("marked")
        page.locator("#map-colour").select_option("cg")
        assert "highest CG" in page.locator("#map-legend").inner_text()
        page.locator("#map-clear").click()
        assert page.locator("#map-chosen").is_hidden()


def test_the_first_picture_is_above_the_fold(digits: Any, browser: Browser) -> None:
    _, path = digits
    with opened(browser, path, viewport={"width": 390, "height": 844}) as page:
        box = page.locator(".card img").first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 844
        assert page.locator("#pair").is_hidden()
        page.locator("#filter-toggle").click()
        assert page.locator("#pair").is_visible()


def test_values_of_tables_are_compared_with_both_classes(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    frame = pd.DataFrame(rng.standard_normal((90, 4)), columns=["a", "b", "c", HOSTILE[0]])
    frame["a"] += 6.0 * (y == 1)
    frame["b"] += 6.0 * (y == 2)
    frame["kind"] = np.where(y == 1, "round", HOSTILE[1])
    frame["label"] = np.array(["x", "y", HOSTILE[0]])[y]
    frame.loc[1, "label"] = "x"  # and it is like "y"
    path = tmp_path / "table.html"
    cgscore.score(cgscore.read(frame), ridge="auto").report(path)
    with opened(browser, path, viewport={"width": 390, "height": 844}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        row = page.locator("#gallery tbody tr").filter(has=page.locator("th", has_text="1")).first
        assert row.locator("td.for").count() >= 2
        assert "typical of y: " in str(row.locator("td.for").first.get_attribute("title"))
        assert page.locator("#fits-hint").is_visible()
        row.locator("th button").click()
        assert page.locator("#box td.for").count() >= 2
        assert page.locator("#box th", has_text="typical of y").count() == 1
        assert "a: " in page.locator("#box .strip .cells").first.inner_text()
        assert page.evaluate("window.hacked") is None
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_reduced_motion(digits: Any, browser: Browser) -> None:
    _, path = digits
    with opened(browser, path, reduced_motion="reduce") as page:
        behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
        assert page.evaluate(behaviour) == "auto"
        assert page.evaluate("getComputedStyle(document.querySelector('button')).transition") in (
            "all",
            "all 0s ease 0s",
            "none",
        )


def test_nothing_is_fetched_and_no_path_is_shown(digits: Any) -> None:
    _, path = digits
    text = Path(path).read_text()
    assert "/home/" not in text
    assert "/tmp/" not in text
