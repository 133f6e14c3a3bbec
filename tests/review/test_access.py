"""A review on a shared machine: who is let in, what is refused, and what is never lost."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser

import cgscore
from cgscore.review import Decisions, Review
from tests.command import invoke
from tests.review.server import Server, opened, other_example, ready, saved, write_photos
from tests.waiting import until

KEEP = {"at": 0, "action": "keep"}


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("review")
    write_photos(root)
    return root


@pytest.fixture
def result(photos: Path, tmp_path: Path) -> Path:
    """A result without decisions."""
    copy = tmp_path / "s.parquet"
    copy.write_bytes((photos / "s.parquet").read_bytes())
    return copy


@contextlib.contextmanager
def serving(result: Path, *more: str, browser: str | None = None) -> Iterator[Server]:
    started = Server(result, *more, browser=browser)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


@pytest.fixture
def server(result: Path) -> Iterator[Server]:
    with serving(result) as started:
        yield started


@pytest.fixture
def recording_browser(tmp_path: Path) -> tuple[str, Path]:
    """A browser that writes down its command line and stays, as browsers do."""
    record, program = tmp_path / "browser.txt", tmp_path / "browser"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {record}.part\nmv {record}.part {record}\nsleep 20\n'
    )
    program.chmod(0o755)
    return f"{program} %s &", record


def test_the_token_is_in_no_command_line(
    result: Path, browser: Browser, recording_browser: tuple[str, Path]
) -> None:
    command, record = recording_browser
    with serving(result, browser=command) as server:
        until(record.exists)
        address = record.read_text().strip()
        assert address.startswith("file:///")
        processes = subprocess.run(
            ["ps", "-ww", "-eo", "args"], capture_output=True, text=True
        ).stdout
        assert address in processes  # what others see
        assert "token=" not in address
        file = Path(unquote(urlsplit(address).path))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        token = file.read_text().split("token=")[1].split('"')[0]
        assert token not in processes
        assert server.token not in processes
        page = browser.new_context().new_page()
        page.set_default_timeout(15_000)
        page.goto(address)
        ready(page)
        assert page.url == f"http://{server.host}/"
        until(lambda: not file.parent.exists())
        page.reload()  # the tab stays what it is
        ready(page)
        page.keyboard.press("k")
        saved(page, "Saved: keep")
        assert server.ask("GET", f"/?token={token}", Cookie="")[0] == 403  # a second time
        page.context.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_file_is_removed_at_the_end(
    result: Path, recording_browser: tuple[str, Path], how: signal.Signals
) -> None:
    command, record = recording_browser
    with serving(result, browser=command) as server:
        until(record.exists)
        file = Path(unquote(urlsplit(record.read_text().strip()).path))
        assert file.exists()
        assert server.stop(how) == (0 if how == signal.SIGINT else 128 + how)
    assert not file.parent.exists()


def test_a_token_works_once(server: Server, browser: Browser) -> None:
    assert server.ask("GET", f"/?token={server.token}")[0] == 403
    assert server.ask("GET", f"/?token={server.token}", Cookie="")[0] == 403
    address = server.next_address()
    page = browser.new_context().new_page()
    page.goto(address)
    ready(page)
    another = browser.new_context().new_page()
    answer = another.goto(address)
    assert answer is not None
    assert answer.status == 403
    assert "used before" in another.inner_text("body")
    page.context.close()
    another.context.close()


def test_the_cookie(shared: Server) -> None:
    port = shared.host.split(":")[1]
    name, *attributes = shared.set_cookie.split("; ")
    assert name.split("=")[0] == f"cgscore-review-{port}"
    assert {one.lower() for one in attributes} == {"httponly", "path=/", "samesite=strict"}


def test_the_cookie_alone_opens_nothing(server: Server) -> None:
    overview = server.json("GET", "/api/review")
    key, at = overview["key"], overview["queue"][0]["at"]
    asked: list[tuple[str, str, Any]] = [
        ("GET", "/api/review", None),
        ("GET", f"/api/examples/{at}", None),
        ("GET", f"/pictures/{at}", None),
        ("GET", "/export/labels.csv", None),
        ("GET", "/api/rescore", None),
        ("POST", "/api/rescore", {}),
        ("POST", "/api/decisions", KEEP),
        ("POST", "/api/undo", {"number": 1}),
    ]
    for method, path, body in asked:
        for secret in ("", "wrong", key, server.tab[:-1], "\xfc"):
            assert server.ask(method, path, body, X_CGScore_Tab=secret)[0] == 403, (path, secret)
        assert server.ask(method, path, body, Cookie="")[0] == 403, path
    for path, wanted in (
        (f"/pictures/{at}", 200),
        ("/export/labels.csv", 200),
        ("/api/review", 403),  # the key is for what a page cannot send a header with
    ):
        assert server.ask("GET", f"{path}?key={key}", X_CGScore_Tab="")[0] == wanted, path
        assert server.ask("GET", f"{path}?key={key}", X_CGScore_Tab="", Cookie="")[0] == 403
        assert server.ask("GET", f"{path}?key=", X_CGScore_Tab="")[0] == 403
    _, _, page = server.ask("GET", "/", X_CGScore_Tab="")
    assert server.tab.encode() not in page  # or the cookie would be enough after all
    assert key.encode() not in page
    assert server.json("GET", "/api/review")["progress"]["counts"]["keep"] == 0


class Neighbour(http.server.BaseHTTPRequestHandler):
    """Another user's server on another port of this machine."""

    cookies: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>other</title>")

    def log_message(self, *_: object) -> None:
        pass


def test_a_neighbour_who_gets_the_cookie_gets_nothing(server: Server, browser: Browser) -> None:
    page = opened(browser, server)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as neighbour:
        threading.Thread(target=neighbour.serve_forever, daemon=True).start()
        visit = page.context.new_page()
        visit.goto(f"http://127.0.0.1:{neighbour.server_port}/")
        stolen = Neighbour.cookies[0]
        assert "cgscore-review-" in stolen  # browsers do not tell ports apart
        assert visit.evaluate("sessionStorage.length") == 0
        assert server.ask("GET", "/api/review", Cookie=stolen, X_CGScore_Tab="")[0] == 403
        neighbour.shutdown()
    # a tab of the same browser that nobody let in is told what to do
    stranger = page.context.new_page()
    stranger.goto(f"http://{server.host}/")
    saved(stranger, "this tab has no access")
    page.context.close()


def test_downloads_and_pictures_of_a_tab(server: Server, browser: Browser) -> None:
    page = opened(browser, server)
    page.wait_for_function("() => document.querySelector('#one .shown img').naturalWidth === 8")
    with page.expect_download() as download:
        page.locator(".exports a", has_text="labels.csv").click()
    assert len(pd.read_csv(download.value.path())) == 500
    page.context.close()


@pytest.mark.parametrize(
    "host",
    [
        *("[::1]evil", "[::1]", "[::1]:PORT", "127.0.0.1", "localhost", "127.0.0.1:1"),
        *("localhost:9", "localhost.:PORT", "evil@127.0.0.1:PORT", "127.0.0.1:PORT.evil"),
        *("127.0.0.1:PORTevil", "127.1:PORT", "127.0.0.1:0PORT", ""),
    ],
)
def test_host_is_exact(shared: Server, host: str) -> None:
    port = shared.host.split(":")[1]
    assert shared.ask("GET", "/api/review", Host=host.replace("PORT", port))[0] in (400, 403)


def test_other_sites_are_refused(server: Server) -> None:
    for site, wanted in (
        ("cross-site", 403),
        ("same-site", 403),
        ("something new", 403),
        ("same-origin", 200),
        ("none", 200),
    ):
        for method, path, body in (
            ("GET", "/", None),
            ("GET", "/api/review", None),
            ("GET", "/pictures/0", None),
            ("POST", "/api/rescore", {}),
        ):
            status = server.ask(method, path, body, Sec_Fetch_Site=site)[0]
            assert (status == 403) == (wanted == 403), (site, path, status)
    for origin in ("https://" + server.host, "http://127.0.0.1", "http://127.0.0.1:1", "null", ""):
        assert server.ask("POST", "/api/decisions", KEEP, Origin=origin)[0] == 403, origin


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


@pytest.fixture(scope="module")
def shared(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for requests that change nothing."""
    copy = tmp_path_factory.mktemp("shared") / "s.parquet"
    copy.write_bytes((photos / "s.parquet").read_bytes())
    with serving(copy) as started:
        yield started


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
    assert page.locator("#resend").inner_text() == "Save 1 unsaved"
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


def test_a_stranger_s_file_is_refused_by_the_command(result: Path) -> None:
    file = result.with_name("s.parquet.review")
    scores = cgscore.load(result)
    with contextlib.closing(Decisions(file, scores.meta["fingerprint"])) as decisions:
        decisions.add(500, "accept", 1, None)  # of 500: the first that does not exist
    done = invoke("review", "s.parquet", "--labels-to", "l.csv", folder=result.parent)
    assert done.returncode == 2
    assert "s.parquet.review" in done.stderr
    assert "position 500; it must be below 500" in done.stderr
    os.unlink(file)
    os.mkfifo(file)
    done = invoke("review", "s.parquet", "--labels-to", "l.csv", folder=result.parent)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


def test_exports_hold_no_formulas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    classes = np.array(['=HYPERLINK("http://evil.example")', "@SUM(1)", "-1"])
    codes = np.repeat([0, 1, 2], 20)
    starts = ["+1+1", "-2-3", "\tx", "\rx", "plain", "-5", "'quoted"]
    table = pd.DataFrame(
        rng.standard_normal((60, 4)) + 4 * np.eye(3, 4)[codes], columns=list("abcd")
    )
    table["id"] = [f"{starts[i % 7]}{'' if i < 7 else f' {i}'}" for i in range(60)]
    table["label"] = classes[codes]
    table.to_parquet(tmp_path / "table.parquet")
    scores = cgscore.score(cgscore.read(tmp_path / "table.parquet", id_column="id"), ridge=0.1)
    scores.save(tmp_path / "s.parquet")
    with contextlib.closing(
        Decisions(tmp_path / "s.parquet.review", scores.meta["fingerprint"])
    ) as decisions:
        review = Review(scores, None, decisions)
        formula = scores.classes.tolist().index(classes[0])
        review.decide(25, "change", formula, None)
    written = ("--labels-to", "l.csv", "--changes-to", "c.csv")
    done = invoke("review", "s.parquet", *written, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    options: Any = {"dtype": str, "keep_default_na": False, "lineterminator": "\n"}
    labels = pd.read_csv(tmp_path / "l.csv", **options)
    assert labels["id"][:7].tolist() == ["'+1+1", "'-2-3", "'\tx", "'\rx", "plain", "-5", "'quoted"]
    assert set(labels["label"]) == {f"'{classes[0]}", "'@SUM(1)", "-1"}  # -1 is a number
    changes = pd.read_csv(tmp_path / "c.csv", **options)
    assert changes["new_label"].tolist() == [f"'{classes[0]}"]
    with serving(tmp_path / "s.parquet") as server:
        _, _, found = server.ask("GET", "/export/labels.csv")
        assert found == (tmp_path / "l.csv").read_bytes()
        _, _, parquet = server.ask("GET", "/export/labels.parquet")
    (tmp_path / "l.parquet").write_bytes(parquet)  # which knows what a text is
    assert pd.read_parquet(tmp_path / "l.parquet")["label"][25] == classes[0]
