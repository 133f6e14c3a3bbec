"""The page that opens the browser: the token is in no command line, and no file stays."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

from tests.review.server import ready, saved, serving
from tests.waiting import until


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
    with serving(result, browser=command, fresh=True) as server:
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


SIGNALLED = """
import signal, threading, uvicorn
from urllib.request import urlopen
from cgscore.review.server import clean_exit_on_signals, listening_socket

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it

async def signalling(scope, receive, send):
    signal.raise_signal(signal.SIGHUP)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})

with listening_socket(0) as listening, clean_exit_on_signals() as signals:
    signals.server = uvicorn.Server(uvicorn.Config(signalling, log_level="warning", lifespan="off"))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    threading.Thread(target=lambda: urlopen(address, timeout=30).read(), daemon=True).start()
    signals.server.run(sockets=[listening])
    assert signals.received == signal.SIGHUP
    signals.server = None
    signal.raise_signal(signal.SIGHUP)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP")
def test_a_signal_during_a_request_stops_the_server() -> None:
    """An exception of a handler would end in the application, where uvicorn logs and drops it."""
    done = subprocess.run([sys.executable, "-c", SIGNALLED], timeout=60, check=False)
    assert done.returncode == 128 + signal.SIGHUP
