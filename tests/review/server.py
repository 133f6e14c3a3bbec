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
from tests.forked import Forked, heed_signals, run_module

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WRONG = 24
KEEP = {"at": 0, "action": "keep"}


class Server:
    """`cgscore review` as a process of its own, and a tab that was let in."""

    def __init__(
        self, result: Path, *more: str, browser: str | None = None, fresh: bool = False
    ) -> None:
        """`browser` is opened instead of the user's; `fresh` starts Python as a user does."""
        arguments = ["cgscore", "review", result.name, *more]
        environment = dict(os.environ)
        if browser is None:
            arguments.append("--no-browser")
        else:
            environment["BROWSER"] = browser
        printed, to_print = os.pipe()
        self._lines = open(printed)  # noqa: SIM115 (closed by `stop`)
        self.process: Forked | subprocess.Popen[bytes]
        if fresh:
            environment["PYTHONPATH"] = str(Path(cgscore.__file__).parents[1])  # that under test
            self.process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=result.parent,
                stdout=to_print,
                preexec_fn=heed_signals,
                env=environment,
            )
        else:
            self.process = Forked(
                run_module,
                *arguments,
                folder=result.parent,
                environment=environment,
                stdout=to_print,
            )
        os.close(to_print)
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
        self._lines.close()
        return code

    def _printed(self, name: str) -> str:
        for line in self._lines:
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
def serving(result: Path, *more: str, **options: Any) -> Iterator[Server]:
    """A server that is stopped at the end."""
    started = Server(result, *more, **options)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()
