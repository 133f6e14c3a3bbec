"""Opening the browser without showing the token to other users of the machine.

Every user can read the command lines of all processes, and a browser gets the address in its own.
So the browser is given the address of a file that only this user can read. The file leads on to the
address with the token.
"""

from __future__ import annotations

import html
import os
import shutil
import tempfile
import threading
import webbrowser
from pathlib import Path

DELAY_SECONDS = 0.5  # before the browser is opened, so that the server is ready


class LaunchPage:
    """A page that leads on to an address, readable by its owner only; removed after use."""

    def __init__(self, address: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="cgscore-review-"))  # mode 0700
        self.path = self._folder / "open.html"
        target = html.escape(address)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(
                '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={target}">'
                "<title>cgscore review</title></head>"
                f'<body><p><a href="{target}">Open the review</a></p></body></html>\n'
            )
        self._timer = threading.Timer(DELAY_SECONDS, webbrowser.open, [self.path.as_uri()])
        self._timer.daemon = True

    def open_browser(self) -> None:
        """Open the file in the user's browser, after a short delay."""
        self._timer.start()

    def remove(self) -> None:
        """Remove the file and its folder; does nothing if they are gone."""
        self._timer.cancel()
        shutil.rmtree(self._folder, ignore_errors=True)
