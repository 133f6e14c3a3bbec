"""The review application: a real server, a real browser, a real file of decisions."""

from __future__ import annotations

import contextlib
import csv
import http.client
import http.server
import json
import signal
import socket
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

import cgscore
from tests.review.server import KEEP, Server, opened, other_example, ready, saved, serving


def test_keys_and_buttons(server: Server, browser: Browser, photos: Any, result: Path) -> None:
    _, _, truth = photos
    page = opened(browser, server)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    queue = server.json("GET", "/api/review")["queue"]
    page.wait_for_function("() => document.querySelector('#one .shown img').naturalWidth === 8")
    assert page.locator("#one .strip img").count() == 6
    for key, action in (("a", "accept"), ("k", "keep"), ("s", "skip")):
        title = page.locator("#one-title").inner_text()
        page.keyboard.press(key)
        saved(page, f"Saved: {action}")
        other_example(page, title)
    title = page.locator("#one-title").inner_text()
    page.keyboard.press("c")
    assert page.evaluate("document.activeElement.className") == "another"
    page.keyboard.press("ArrowDown")  # looking through the classes decides nothing
    row = queue[3]
    another = next(c for c in range(10) if c not in (row["from"], row["to"]))
    page.locator("#one .another").select_option(str(another))
    assert page.locator("#progress").inner_text().startswith("3 decided")
    page.keyboard.press("Enter")
    saved(page, "Saved: change")
    other_example(page, title)
    assert (
        page.locator("#progress")
        .inner_text()
        .startswith("4 decided (1 accepted, 1 changed to another class, 1 kept, 1 skipped)")
    )
    page.locator("#undo").click()
    saved(page, "Undone")
    assert page.locator("#progress").inner_text().startswith("3 decided")
    page.locator("#one-title", has_text=title).wait_for()
    page.locator("#one .accept").click()
    saved(page, "Saved: accept")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.locator("#which").select_option("decided")
    page.locator("#one .decided").wait_for()
    page.locator("#which").select_option("open")
    page.locator("#view").click()
    cards = page.locator("#grid .card")
    assert cards.count() == len(queue) - 4
    for number in range(3):  # quickly, and cards stay where they are
        cards.nth(number).locator(".accept").click()
    page.wait_for_function("() => document.querySelectorAll('#grid .decided').length === 3")
    assert cards.count() == len(queue) - 4
    assert "So far" in page.locator("#taught").inner_text()
    pair = page.locator("#pair option").nth(1).get_attribute("value")
    page.locator("#pair").select_option(pair)
    assert 0 < cards.count() < len(queue) - 7
    page.locator("#pair").select_option("")
    cards.first.locator(".look").click()
    page.locator("#one .another").wait_for()
    assert wrong == []
    page.context.close()
    rows = list(csv.DictReader(server.ask("GET", "/export/labels.csv")[2].decode().splitlines()))
    ids = [row["id"] for row in rows]
    assert ids == cgscore.load(result.parent / "s.parquet").table["id"].tolist()
    changed = {row["id"]: row["label"] for row in rows if row["changed"] == "True"}
    accepted = [key for key, label in changed.items() if label == truth[key]]
    assert len(changed) >= 4
    assert len(accepted) >= 4  # digits are easy: the suggestions are right
    assert server.stop() == 0


def test_two_tabs(server: Server, browser: Browser) -> None:
    one, two = opened(browser, server), opened(browser, server)
    one.keyboard.press("k")
    saved(one, "Saved: keep")
    two.keyboard.press("a")  # the same example, which this tab believes to be open
    saved(two, "Another tab has decided")
    assert two.locator("#one .decided").inner_text().startswith("Decided: kept")
    two.keyboard.press("a")  # having seen it
    saved(two, "Saved: accept")
    one.keyboard.press("u")  # its own, which does not stand any more
    saved(one, "Not undone")
    one.keyboard.press("s")
    saved(one, "Saved: skip")
    found = server.json("GET", "/api/review")
    assert found["progress"]["counts"] == {"accept": 1, "keep": 0, "change": 0, "skip": 1}
    one.context.close()
    two.context.close()


def test_nothing_is_lost_when_killed(server: Server, result: Path) -> None:
    queue = [row["at"] for row in server.json("GET", "/api/review")["queue"]]
    told: list[int] = []

    def decide() -> None:
        for at in queue * 20:
            known = numbers.get(at)
            try:
                body = {"at": at, "action": "accept", "label": 0, "known": known}
                numbers[at] = server.json("POST", "/api/decisions", body)["decision"]["number"]
            except (OSError, http.client.HTTPException):
                return
            told.append(numbers[at])
            enough.set() if len(told) > 15 else None

    numbers: dict[int, int] = {}
    enough = threading.Event()
    thread = threading.Thread(target=decide)
    thread.start()
    assert enough.wait(30)
    server.stop(signal.SIGKILL)
    thread.join(30)
    kept = sqlite3.connect(result.parent / "s.parquet.review")
    there = [number for (number,) in kept.execute("SELECT number FROM decisions ORDER BY number")]
    kept.close()
    assert set(told) <= set(there)
    assert len(there) <= len(told) + 1  # one may have been on disk and not been told
    again = Server(result.parent / "s.parquet")
    progress = again.json("GET", "/api/review")["progress"]
    counts = progress["counts"]
    assert counts["accept"] + counts["keep"] == min(len(there), len(queue))
    again.stop()


def test_scoring_again_uses_the_corrections(server: Server, browser: Browser, photos: Any) -> None:
    _, scores, truth = photos
    page = opened(browser, server)
    before = server.json("GET", "/api/review")["queue"]
    for row in before[:12]:
        body = {"at": row["at"], "action": "accept", "label": row["to"]}
        server.json("POST", "/api/decisions", body)
    page.locator("#rescore").click()
    saved(page, "Scored and ranked again")
    after = server.json("GET", "/api/review")
    assert after["rescoring"]["state"] == "done"
    left = [row for row in after["queue"] if row["decision"] is None]
    assert {row["at"] for row in before[12:]} <= {row["at"] for row in left}  # nobody is forgotten
    ids = scores.table["id"].tolist()
    wrong = [row for row in left if truth[ids[row["at"]]] != ids[row["at"]].split("/")[0]]
    assert wrong  # and those that are wrong have been told what they are
    right = [after["classes"][row["to"]] == truth[ids[row["at"]]] for row in wrong]
    assert np.mean(right) > 0.8
    assert [row["sure"] for row in left] != [row["sure"] for row in before[12:]]
    assert len([row for row in after["queue"] if row["decision"]]) == 12
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(shared: Server, browser: Browser, scheme: Any) -> None:
    page = opened(browser, shared, color_scheme=scheme, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for view in ("one", "grid"):
        if view == "grid":
            page.keyboard.press("g")
            page.locator("#grid .card").first.wait_for()
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.context.close()


def test_downloads_and_pictures_of_a_tab(shared: Server, browser: Browser) -> None:
    page = opened(browser, shared)
    page.wait_for_function("() => document.querySelector('#one .shown img').naturalWidth === 8")
    with page.expect_download() as download:
        page.locator(".exports a", has_text="labels.csv").click()
    assert len(pd.read_csv(download.value.path())) == 500
    page.context.close()


@pytest.mark.parametrize(
    "body",
    [
        *(b'{"at": NaN, "action": "keep"}', b'{"at": Infinity, "action": "keep"}'),
        *(b'{"at": 0, "action": "keep", "known": -Infinity}', b'{"at": 1e999, "action": "keep"}'),
        *(b'{"at": true, "action": "keep"}', b'{"at": 0.5, "action": "keep"}', b"NaN", b""),
        *(b'{"at": 0, "action": "\\ud800"}', b'{"at": "\\ud800", "action": "keep"}', b'{"at": 0'),
        *(b"\xff\xfe", b"[" * 100_000, b'{"at": ' + b"9" * 5000 + b"}", b"null", b"[]", b'"x"'),
        *(b'{"at": -1, "action": "keep"}', b'{"at": 0, "action": "change", "label": -1}'),
    ],
)
def test_malformed_bodies(shared: Server, body: bytes) -> None:
    for path in ("/api/decisions", "/api/undo"):
        status, _, found = shared.ask("POST", path, body)
        assert status in (400, 422), found
        assert "detail" in json.loads(found)


def test_a_file_that_is_gone_acknowledges_nothing(
    server: Server, browser: Browser, result: Path
) -> None:
    page = opened(browser, server)
    title = page.locator("#one-title").inner_text()
    page.keyboard.press("k")
    saved(page, "Saved: keep")
    other_example(page, title)
    file = result.with_name("s.parquet.review")
    kept = file.rename(file.with_name("moved"))
    status, _, found = server.ask("POST", "/api/decisions", KEEP)
    assert status == 503
    assert "deleted or moved" in json.loads(found)["detail"]
    assert server.ask("POST", "/api/undo", {"number": 1})[0] == 503
    title = page.locator("#one-title").inner_text()
    page.keyboard.press("a")
    saved(page, "Not saved")
    assert "s.parquet.review was deleted or moved" in page.locator("#message").inner_text()
    assert page.locator("#one-title").inner_text() == title  # still there to be decided
    assert page.locator("#one .unsaved").inner_text().startswith("Not saved yet: accepted")
    assert page.locator("#progress").inner_text().startswith("1 decided")
    assert b"True" not in server.ask("GET", "/export/labels.csv")[2]
    page.on("dialog", lambda dialog: dialog.accept())  # leave although something is unsaved
    page.reload()
    ready(page)
    assert page.locator("#resend").inner_text() == "Save 1 unsaved decision"
    file.write_bytes(kept.read_bytes())  # a copy is another file
    page.locator("#resend").click()
    saved(page, "was replaced by another file")
    kept.rename(file)
    page.locator("#resend").click()
    saved(page, "Saved: 1 more")
    assert page.locator("#resend").is_hidden()
    assert page.locator("#progress").inner_text().startswith("2 decided (1 accepted")
    page.context.close()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        actions = connection.execute("SELECT action FROM decisions ORDER BY number").fetchall()
    assert actions == [("keep",), ("accept",)]


def test_unsaved_decisions_outlive_the_server(result: Path, browser: Browser) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with serving(result, "--port", port) as server:
        page = opened(browser, server)
        result.with_name("s.parquet.review").unlink()
        page.keyboard.press("a")
        saved(page, "Not saved")
    page.on("dialog", lambda dialog: dialog.accept())
    with serving(result, "--port", port) as server:
        page.goto(server.next_address())
        ready(page)
        page.locator("#resend").click()
        saved(page, "Saved: 1 more")
        assert server.json("GET", "/api/review")["progress"]["counts"]["accept"] == 1
    page.context.close()


def test_a_locked_file(server: Server, browser: Browser, result: Path) -> None:
    page = opened(browser, server)
    file = result.with_name("s.parquet.review")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        status, _, found = server.ask("POST", "/api/decisions", KEEP)
        assert status == 503
        assert "another program is using it" in json.loads(found)["detail"]
        assert server.ask("GET", "/api/review")[0] == 503
        assert server.ask("GET", "/export/labels.csv")[0] == 503
        page.keyboard.press("k")
        saved(page, "another program is using it")
        page.locator("#one .unsaved").wait_for()
        other.execute("ROLLBACK")
    page.keyboard.press("k")
    saved(page, "Saved: keep")
    assert page.locator("#resend").is_hidden()
    assert server.json("GET", "/api/review")["progress"]["counts"]["keep"] == 1
    page.context.close()


def test_numbers(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    y = 100 + 10 * X[:, 0] + rng.standard_normal(120)
    y[[5, 17]] = 1000.5, -800.0
    frame = pd.DataFrame(X, columns=["width", "height"]).assign(price=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    cgscore.score(tmp_path / "t.csv", "price").save(tmp_path / "s.parquet")
    with serving(tmp_path / "s.parquet") as server:
        page = opened(browser, server)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        queue = server.json("GET", "/api/review")["queue"]
        title = page.locator("#one-title").inner_text()
        assert title == str(queue[0]["at"])
        assert "95 %:" in page.locator("#one p", has_text="sure").inner_text()
        assert page.locator("#one .sides .strip li").count() == 3
        page.keyboard.press("a")
        saved(page, "Saved: accept")
        other_example(page, title)
        page.locator("#one .another").fill("98.5")
        page.locator("#one .another").press("Enter")
        saved(page, "Saved: change")
        assert wrong == []
        labels = {row["at"]: row["decision"] for row in server.json("GET", "/api/review")["queue"]}
    assert labels[queue[0]["at"]]["label"] == queue[0]["predicted"]
    assert labels[queue[1]["at"]]["label"] == 98.5
