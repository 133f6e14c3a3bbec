"""The page that opens the browser: the token is in no command line, and no file stays."""

from __future__ import annotations

import signal
import stat
import subprocess
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
