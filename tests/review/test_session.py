"""The review application: a real server, a real browser, a real file of decisions."""

from __future__ import annotations

import contextlib
import csv
import http.client
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

import cgscore
from cgscore.errors import OptionError, StorageError
from cgscore.review import Decisions, Review
from cgscore.review.decisions import Overtaken
from tests.command import invoke
from tests.review.server import Server, opened, other_example, saved, write_photos


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder of digits as images, some in the wrong class, and its result."""
    root = tmp_path_factory.mktemp("review")
    return (root, *write_photos(root))


@pytest.fixture
def folder(photos: Any, tmp_path: Path) -> Path:
    """The result alone in a folder, without decisions."""
    root, _, _ = photos
    copy = tmp_path / "s.parquet"
    copy.write_bytes((root / "s.parquet").read_bytes())
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    started = Server(folder / "s.parquet")
    yield started
    if started.process.poll() is None:
        started.stop()


def test_keys_and_buttons(server: Server, browser: Browser, photos: Any, folder: Path) -> None:
    _, _, truth = photos
    page = opened(browser, server)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    queue = server.json("GET", "/api/review")["queue"]
    assert page.locator("#one .shown img").first.evaluate("image => image.naturalWidth") == 8
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
    assert ids == cgscore.load(folder / "s.parquet").table["id"].tolist()
    changed = {row["id"]: row["label"] for row in rows if row["changed"] == "True"}
    accepted = [key for key, label in changed.items() if label == truth[key]]
    assert len(changed) >= 4
    assert len(accepted) >= 4  # digits are easy: the suggestions are right
    assert server.stop() == 0


def test_who_is_let_in(server: Server) -> None:
    status, headers, page = server.ask("GET", "/")
    assert status == 200
    assert b"cgscore review" in page
    assert "script-src 'self'" in headers["content-security-policy"]
    assert server.ask("GET", "/", Cookie="")[0] == 403
    assert server.ask("GET", "/api/review", Cookie="")[0] == 403
    assert server.ask("GET", "/api/review?token=" + server.token, Cookie="")[0] == 403
    assert server.ask("GET", "/?token=wrong", Cookie="")[0] == 403
    assert server.ask("GET", "/", Host="evil.example")[0] == 403
    assert server.ask("GET", "/", Host="127.0.0.1.evil.example:80")[0] == 403
    port = server.host.split(":")[1]
    assert server.ask("GET", "/", Host=f"localhost:{port}")[0] == 200  # through ssh
    body = {"at": 0, "action": "keep"}
    assert server.ask("POST", "/api/decisions", body, Origin="http://evil.example")[0] == 403
    assert server.ask("POST", "/api/decisions", body, Origin="null")[0] == 403
    assert server.ask("POST", "/api/decisions", body, Origin=f"http://{server.host}")[0] == 200
    for path in (
        "/pictures/../../../../etc/passwd",
        "/pictures/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/pictures/-1",
        "/pictures/500",
        "/static/../server.py",
        "/static/server.py",
        "/docs",
        "/openapi.json",
    ):
        assert server.ask("GET", path)[0] in (404, 422), path
    assert server.ask("GET", "/pictures/499")[1]["content-type"] == "image/png"
    assert server.ask("POST", "/api/decisions", {"at": 10**9, "action": "keep"})[0] == 422
    assert (
        server.ask("POST", "/api/decisions", {"at": 1, "action": "change", "label": 99})[0] == 422
    )
    assert server.ask("POST", "/api/decisions", {"at": 1, "action": "delete"})[0] == 422


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


def test_nothing_is_lost_when_killed(server: Server, folder: Path) -> None:
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
    kept = sqlite3.connect(folder / "s.parquet.review")
    there = [number for (number,) in kept.execute("SELECT number FROM decisions ORDER BY number")]
    kept.close()
    assert set(told) <= set(there)
    assert len(there) <= len(told) + 1  # one may have been on disk and not been told
    again = Server(folder / "s.parquet")
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
def test_accessible(server: Server, browser: Browser, scheme: Any) -> None:
    page = opened(browser, server, color_scheme=scheme, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for view in ("one", "grid"):
        if view == "grid":
            page.keyboard.press("g")
            page.locator("#grid .card").first.wait_for()
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.context.close()


def test_exports_from_the_command_line(folder: Path, photos: Any) -> None:
    root, scores, _ = photos
    decisions = Decisions(folder / "s.parquet.review", scores.meta["fingerprint"])
    review = Review(scores, None, decisions)
    worst = review.queue()[:2]
    first, second = (row["at"] for row in worst)
    review.decide(first, "accept", worst[0]["to"], None)
    review.decide(second, "skip", None, None)
    decisions.close()
    done = invoke(
        *(
            "review",
            "s.parquet",
            "--labels-to",
            "l.parquet",
            "--changes-to",
            "c.csv",
            "--folder-to",
            "new",
        ),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    labels = pd.read_parquet(folder / "l.parquet")
    assert labels["id"].tolist() == scores.table["id"].tolist()
    assert np.flatnonzero(labels["changed"]).tolist() == [first]
    changes = pd.read_csv(folder / "c.csv")
    assert changes.columns.tolist() == ["id", "old_label", "new_label", "when"]
    assert changes["new_label"].tolist() == [labels["label"][first]]
    links = sorted((folder / "new").glob("*/*.png"))
    assert len(links) == len(scores)
    moved = folder / "new" / labels["label"][first] / Path(labels["id"][first]).name
    assert moved.is_symlink()
    assert moved.resolve() == (root / "photos" / labels["id"][first]).resolve()
    again = invoke("review", "s.parquet", "--folder-to", "new", folder=folder)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    inside = invoke(
        "review", "s.parquet", "--folder-to", str(root / "photos" / "new"), folder=folder
    )
    assert inside.returncode == 2
    copied = invoke("review", "s.parquet", "--folder-to", "copies", "--copy", folder=folder)
    assert copied.returncode == 0, copied.stderr
    assert not any(path.is_symlink() for path in (folder / "copies").glob("*/*.png"))


def test_decisions(tmp_path: Path) -> None:
    decisions = Decisions(tmp_path / "d", "one")
    first = decisions.add(5, "accept", 2, None)
    with pytest.raises(Overtaken) as other:
        decisions.add(5, "keep", 1, None)
    assert other.value.decision == first
    second = decisions.add(5, "keep", 1, first.number)
    assert decisions.current() == {5: second}
    with pytest.raises(Overtaken):
        decisions.take_back(first.number)
    assert decisions.take_back(second.number) == second
    assert decisions.current() == {5: first}
    decisions.take_back(first.number)
    assert decisions.current() == {}
    third = decisions.add(5, "skip", 1, None)
    decisions.close()
    again = Decisions(tmp_path / "d", "one")
    assert again.current() == {5: third}
    again.close()
    with pytest.raises(OptionError, match="other data"):
        Decisions(tmp_path / "d", "two")
    (tmp_path / "no").write_bytes(b"something else entirely, and long enough")
    with pytest.raises(StorageError, match="not a file of decisions"):
        Decisions(tmp_path / "no", "one")
    with contextlib.closing(sqlite3.connect(tmp_path / "app.db")) as other_file:
        other_file.execute("CREATE TABLE theirs (a)")
    with pytest.raises(StorageError, match="another program"):
        Decisions(tmp_path / "app.db", "one")
    with pytest.raises(StorageError, match="cannot be opened"):
        Decisions(tmp_path / "nowhere" / "d", "one")


def test_what_was_seen_is_what_is_recorded(photos: Any, tmp_path: Path) -> None:
    _, scores, _ = photos
    review = Review(scores, None, Decisions(tmp_path / "d", scores.meta["fingerprint"]))
    row = review.queue()[0]
    others = [c for c in range(10) if c not in (row["from"], row["to"])]
    assert review.decide(row["at"], "accept", others[0], None).label == others[0]
    first = review.decisions.current()[row["at"]].number
    assert review.decide(row["at"], "change", row["to"], first).action == "accept"
    second = review.decisions.current()[row["at"]].number
    assert review.decide(row["at"], "change", row["from"], second).action == "keep"
    review.decisions.close()
