"""`cgscore review` as a process of its own, and what it reviews."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

import cgscore

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WRONG = 24
KEEP = {"at": 0, "action": "keep"}


def _heed_signals() -> None:
    """As in a terminal: tests that run without one may have them ignored."""
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Server:
    """`cgscore review` as a process of its own, and a tab that was let in."""

    def __init__(self, result: Path, *more: str, browser: str | None = None) -> None:
        """`browser` is a program that is opened instead of the user's browser."""
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "cgscore", "review", result.name),
                *(["--no-browser"] if browser is None else []),
                *more,
            ],
            cwd=result.parent,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_heed_signals,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(cgscore.__file__).parents[1]),  # the code under test
                **({} if browser is None else {"BROWSER": browser}),
            },
        )
        try:
            self._enter()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise

    def _enter(self) -> None:
        self.first_address = self._printed("Review:")
        parts = urlsplit(self.first_address)
        self.host, self.token = parts.netloc, parse_qs(parts.query)["token"][0]
        self.cookie = self.tab = ""  # the token alone opens nothing but the door
        status, headers, page = self.ask("GET", f"/?token={self.token}")
        assert status == 200, page
        self.set_cookie = headers["set-cookie"]
        self.cookie = self.set_cookie.split(";")[0]
        found = re.search(r'name="cgscore-tab" content="([^"]+)"', page.decode())
        assert found is not None
        self.tab = found[1]

    def next_address(self) -> str:
        """The address that lets one more tab in."""
        return self._printed("Again:")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Status, headers and content; a `body` of bytes is sent as it is."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        sent = {"Cookie": self.cookie, "X-CGScore-Tab": self.tab}
        sent |= {k.replace("_", "-"): v for k, v in headers.items()}
        content = None
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection.request(method, path, content, sent)
        answer = connection.getresponse()
        found = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, found

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, _, found = self.ask(method, path, body)
        assert status < 300, found
        return json.loads(found)

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(how)
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def _printed(self, name: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(name):
                return line.split()[-1]
        raise AssertionError(f"the server ended before it printed {name}")


def write_photos(root: Path) -> tuple[cgscore.Scores, dict[str, str]]:
    """A folder of digits as images, some in the wrong class, its result, and the true classes."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    rng = np.random.default_rng(0)
    given = y.copy()
    wrong = rng.choice(len(y), WRONG, replace=False)
    given[wrong] = (y[wrong] + rng.integers(1, 10, WRONG)) % 10
    for i, (pixels, c) in enumerate(zip(X, given, strict=True)):
        folder = root / "photos" / f"digit {c}"
        folder.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray((pixels.reshape(8, 8) * 15.9).astype(np.uint8))
        picture.save(folder / f"{i:03d}.png")
    scores = cgscore.score(root / "photos", ridge="auto")
    scores.save(root / "s.parquet")
    truth = {
        f"digit {c}/{i:03d}.png": f"digit {t}"
        for i, (c, t) in enumerate(zip(given, y, strict=True))
    }
    return scores, truth


def opened(browser: Browser, server: Server, **options: Any) -> Page:
    """A tab that was let in, in a browser of its own."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(15_000)
    page.goto(server.next_address())
    ready(page)
    assert "token" not in page.url
    return page


def ready(page: Page) -> None:
    """Wait until a page shows an example."""
    page.wait_for_selector("html[data-ready=yes]")
    page.locator("#one .accept").wait_for()


def saved(page: Page, what: str) -> None:
    page.locator("#message", has_text=what).wait_for()


def other_example(page: Page, title: str) -> None:
    """Wait for another example than that of a title; until then keys do nothing."""
    page.wait_for_function(
        "old => document.getElementById('one-title').innerText !== old", arg=title
    )


@contextlib.contextmanager
def serving(result: Path, *more: str, browser: str | None = None) -> Iterator[Server]:
    """A server that is stopped at the end."""
    started = Server(result, *more, browser=browser)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()
