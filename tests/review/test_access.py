"""A review on a shared machine: who is let in, and what is refused."""

from __future__ import annotations

import http.client
import http.server
import threading
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.review.server import KEEP, Server, opened, ready, saved


def test_a_token_works_once(shared: Server, browser: Browser) -> None:
    assert shared.ask("GET", f"/?token={shared.token}")[0] == 403
    assert shared.ask("GET", f"/?token={shared.token}", Cookie="")[0] == 403
    address = shared.next_address()
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


def test_the_cookie_alone_opens_nothing(shared: Server) -> None:
    overview = shared.json("GET", "/api/review")
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
        for secret in ("", "wrong", key, shared.tab[:-1], "\xfc"):
            assert shared.ask(method, path, body, X_CGScore_Tab=secret)[0] == 403, (path, secret)
        assert shared.ask(method, path, body, Cookie="")[0] == 403, path
    for path, wanted in (
        (f"/pictures/{at}", 200),
        ("/export/labels.csv", 200),
        ("/api/review", 403),  # the key is for what a page cannot send a header with
    ):
        assert shared.ask("GET", f"{path}?key={key}", X_CGScore_Tab="")[0] == wanted, path
        assert shared.ask("GET", f"{path}?key={key}", X_CGScore_Tab="", Cookie="")[0] == 403
        assert shared.ask("GET", f"{path}?key=", X_CGScore_Tab="")[0] == 403
    _, _, page = shared.ask("GET", "/", X_CGScore_Tab="")
    assert shared.tab.encode() not in page  # or the cookie would be enough after all
    assert key.encode() not in page
    assert shared.json("GET", "/api/review")["progress"]["counts"]["keep"] == 0


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


def test_a_neighbour_who_gets_the_cookie_gets_nothing(shared: Server, browser: Browser) -> None:
    page = opened(browser, shared)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as neighbour:
        threading.Thread(target=neighbour.serve_forever, daemon=True).start()
        visit = page.context.new_page()
        visit.goto(f"http://127.0.0.1:{neighbour.server_port}/")
        stolen = Neighbour.cookies[0]
        assert "cgscore-review-" in stolen  # browsers do not tell ports apart
        assert visit.evaluate("sessionStorage.length") == 0
        assert shared.ask("GET", "/api/review", Cookie=stolen, X_CGScore_Tab="")[0] == 403
        neighbour.shutdown()
    # a tab of the same browser that nobody let in is told what to do
    stranger = page.context.new_page()
    stranger.goto(f"http://{shared.host}/")
    saved(stranger, "this tab has no access")
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
