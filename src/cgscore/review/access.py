"""Who may use the application: one-time tokens, the cookie, and a secret for every tab.

The machine may be shared. Other users can list processes, listen on other ports of 127.0.0.1 and
lead the browser to their own pages. So every request for data needs three things:

- A *token* admits one tab, once. It is part of the address that the terminal shows, or in a file
  that only the user can read.
- In return the browser gets a *cookie*, which no script can read. Browsers send it to every port of
  127.0.0.1, so it is not enough.
- The tab gets a *secret*, which it keeps in its session storage (that of this port alone) and sends
  as the header ``X-CGScore-Tab``. Pictures and downloads, for which a page cannot set a header,
  carry a *key* derived from it, which allows reading only.

Requests are refused if they name another host or port than the one that is served (a page elsewhere
whose name resolves to this machine), or if they come from a page of another origin.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

from fastapi import Request

TAB_HEADER = "X-CGScore-Tab"
OPEN_ADDRESS = "Open the last address that `cgscore review` printed, with its token."


class Access:
    """Tokens, cookie and secrets of one server.

    Parameters
    ----------
    port : int
        Port on which the server listens.
    """

    def __init__(self, port: int) -> None:
        names = ("127.0.0.1", "localhost")
        self.hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
        self.cookie_name = f"cgscore-review-{port}"
        self.cookie = secrets.token_urlsafe(24)
        self._tokens: set[str] = set()
        self._keys: dict[str, str] = {}  # of every tab's secret
        self._lock = threading.Lock()

    def new_token(self) -> str:
        """A token that admits one tab."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._tokens.add(token)
        return token

    def exchange(self, token: str) -> str | None:
        """The secret of a new tab for a token, which is then used up; None if it is not valid."""
        with self._lock:
            match = next((valid for valid in self._tokens if _same(valid, token)), None)
            if match is None:
                return None
            self._tokens.remove(match)
            tab = secrets.token_urlsafe(24)
            self._keys[tab] = hmac.new(tab.encode(), b"read", hashlib.sha256).hexdigest()
            return tab

    def key(self, tab: str) -> str:
        """The key with which a tab reads pictures and downloads."""
        return self._keys[tab]

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused, or None."""
        headers, path = request.headers, request.url.path
        enters = path == "/" and "token" in request.query_params
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return "this host name is not served."
        origins = headers.getlist("origin")
        if origins and not enters and origins != [f"http://{hosts[0]}"]:
            return "the request comes from another page."
        # The file that opens the browser counts as another site; its token is enough.
        if not enters and headers.get("sec-fetch-site") not in (None, "same-origin", "none"):
            return "the request comes from another page."
        if enters:
            return None if request.method == "GET" else "a token is for opening the page."
        if not _same(request.cookies.get(self.cookie_name, ""), self.cookie):
            return f"this browser has no access. {OPEN_ADDRESS}"
        if path == "/" or path.startswith("/static/") or self._is_of_tab(request):
            return None
        return f"this tab has no access. {OPEN_ADDRESS}"

    def _is_of_tab(self, request: Request) -> bool:
        tab = request.headers.get(TAB_HEADER, "")
        key = request.query_params.get("key", "")
        with self._lock:
            keys = dict(self._keys)
        reads = request.method == "GET" and request.url.path.startswith(("/pictures/", "/export/"))
        return any(_same(tab, secret) for secret in keys) or (
            reads and any(_same(key, valid) for valid in keys.values())
        )


def _same(first: str, second: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return secrets.compare_digest(
        first.encode("utf-8", "replace"), second.encode("utf-8", "replace")
    )
