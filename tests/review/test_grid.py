"""Deciding on many examples at once, number keys and names, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

import cgscore
from tests.report.pages import HOSTILE
from tests.review.server import Server, opened, other_example, saved, serving


def test_a_filtered_set_is_accepted_and_undone_as_one_step(
    server: Server, browser: Browser
) -> None:
    page = opened(browser, server)
    total = len(server.json("GET", "/api/review")["queue"])
    page.keyboard.press("g")
    cards = page.locator("#grid .card")
    assert cards.count() == total
    assert page.locator("#many-accept").is_disabled()
    cards.nth(1).locator("input").click()
    cards.nth(4).locator("input").click(modifiers=["Shift"])
    assert page.locator("#many-count").inner_text() == "4 selected"
    cards.nth(2).locator("input").focus()
    page.keyboard.press("Space")
    assert page.locator("#many-count").inner_text() == "3 selected"
    page.locator("#many-keep").click()
    saved(page, "Saved: 3 kept")
    assert cards.count() == total - 3
    page.locator("#many-all").click()
    page.keyboard.press("a")
    saved(page, f"Saved: {total - 3} accepted")
    progress = server.json("GET", "/api/review")["progress"]
    assert progress["counts"] == {"accept": total - 3, "keep": 3, "change": 0, "skip": 0}
    assert progress["open"] == 0
    page.keyboard.press("u")
    saved(page, f"Undone: {total - 3} decisions")
    page.keyboard.press("u")
    saved(page, "Undone: 3 decisions")
    assert server.json("GET", "/api/review")["progress"]["open"] == total
    page.context.close()


def test_all_or_nothing(server: Server) -> None:
    first, second = server.json("GET", "/api/review")["queue"][:2]
    server.json("POST", "/api/decisions", {"at": first["at"], "action": "keep"})
    both = {"decisions": [{"at": row["at"], "action": "keep"} for row in (second, first)]}
    assert server.ask("POST", "/api/decisions/many", both)[0] == 409
    assert server.json("GET", "/api/review")["progress"]["counts"]["keep"] == 1
    twice = {"decisions": [{"at": second["at"], "action": "keep"}] * 2}
    assert server.ask("POST", "/api/decisions/many", twice)[0] == 422
    bodies: list[dict[str, Any]] = [{}, {"numbers": []}, {"numbers": ["x"]}]
    for body in bodies:
        assert server.ask("POST", "/api/undo", body)[0] == 422
    for count in (0, -1, 10**6):
        assert server.ask("POST", "/api/further", {"count": count})[0] == 422


def test_number_keys_choose_classes_and_names_are_saved(result: Path, browser: Browser) -> None:
    with serving(result, "--reviewer", HOSTILE[0]) as server:
        page = opened(browser, server)
        assert page.locator("#reviewer").inner_text() == f"Reviewer: {HOSTILE[0]}"
        assert page.locator(".class-key").count() == 10
        row = server.json("GET", "/api/review")["queue"][0]
        another = next(c for c in range(10) if c not in (row["from"], row["to"]))
        title = page.locator("#one-title").inner_text()
        page.keyboard.press(str(another))  # classes are called digit 0 to digit 9
        saved(page, "Saved: change")
        other_example(page, title)
        page.locator("#which").select_option("decided")
        page.locator("#one .decided", has_text=f"digit {another} by {HOSTILE[0]}").wait_for()
        assert page.evaluate("window.hacked") is None
        page.context.close()
        changes = server.ask("GET", "/export/changes.csv")[2].decode()
        assert HOSTILE[0] in changes
        decided = server.json("GET", "/api/review")["queue"]
        assert [one["decision"]["reviewer"] for one in decided if one["decision"]] == [HOSTILE[0]]


def test_progress_towards_clean_labels(server: Server, browser: Browser) -> None:
    page = opened(browser, server)
    assert "more decisions" in page.locator("#clean").inner_text()
    assert page.locator("#further").is_hidden()
    queue = server.json("GET", "/api/review")["queue"]
    rows = [{"at": row["at"], "action": "accept", "label": row["to"]} for row in queue]
    server.json("POST", "/api/decisions/many", {"decisions": rows})
    clean = server.json("GET", "/api/review")["progress"]["clean"]
    assert clean["share"] > 0.98
    assert clean["low"] <= clean["share"]
    added = server.json("POST", "/api/further", {"count": 5, "at_random": True})["added"]
    assert len(added) == 5
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("#progress").inner_text().endswith("5 open")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_tables_are_read_on_a_phone(
    browser: Browser, tmp_path: Path, scheme: Any
) -> None:
    subjects = {"weather": ["rain", "snow", "wind"], "music": ["drum", "choir", "flute"]}
    labels = ["weather", "music"] * 40
    texts = [
        f"Number {i}, on {' and '.join(np.random.default_rng(i).permutation(subjects[label]))}"
        for i, label in enumerate(labels)
    ]
    labels[0] = "music"
    texts[0] = (
        f"Number 0, on snow and rain and snow \u05e9\u05dc\u05d5\u05dd {HOSTILE[1]} {'very ' * 300}"
    )
    frame = pd.DataFrame({"text": texts, "label": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    cgscore.score(tmp_path / "t.csv", encoder="tfidf", ridge="auto").save(tmp_path / "s.parquet")
    with serving(tmp_path / "s.parquet") as server:
        phone = {"width": 390, "height": 844}
        page = opened(browser, server, viewport=phone, color_scheme=scheme, has_touch=True)
        assert page.locator("#one .whole-text").inner_text().startswith("Number 0, on snow")
        assert page.locator("#one .strip .words").count() >= 4
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("window.hacked") is None
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        box = page.locator("#one .accept").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 844  # within reach
        page.locator("#one .accept").tap()
        saved(page, "Saved: accept")
        page.context.close()
        assert json.loads(server.ask("GET", "/api/live")[2])["state"] in ("preparing", "ready")
