"""Serving a review on the loopback address until interrupted."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

import uvicorn

from cgscore.errors import OptionError
from cgscore.review.access import Access
from cgscore.review.application import application
from cgscore.review.launch_page import LaunchPage
from cgscore.review.session import Review

HOST = "127.0.0.1"


def serve(
    review: Review,
    *,
    port: int = 0,
    browser: bool = True,
    live: bool = True,
    as_json: bool = False,
) -> None:
    """Serve a review until interrupted; the address, with its token, is printed first.

    A token admits one tab. When the printed one is used, the next address is printed.

    Parameters
    ----------
    review : Review
        What is reviewed.
    port : int
        Port to listen on; 0 for any free one.
    browser : bool
        Open the user's browser.
    live : bool
        Factorise the kernel matrix in the background, to renew the order by what is decided.
    as_json : bool
        Print addresses as JSON.
    """
    with contextlib.ExitStack() as stack:
        stack.callback(review.decisions.close)
        listening = stack.enter_context(listening_socket(port))
        number = listening.getsockname()[1]
        access = Access(number)
        printed = {access.new_token()}
        address = f"http://{HOST}:{number}/?token="
        _print_address(address + next(iter(printed)), review, number, as_json=as_json)
        signals = stack.enter_context(clean_exit_on_signals())
        if live and review.live is not None:
            review.live.start()
        launch_page, launch_token = None, None
        if browser:
            launch_token = access.new_token()
            launch_page = LaunchPage(address + launch_token)
            stack.callback(launch_page.remove)
            launch_page.open_browser()

        def entered(token: str) -> None:
            if launch_page is not None and token == launch_token:
                launch_page.remove()
            if token in printed:
                printed.add(next_token := access.new_token())
                with contextlib.suppress(OSError, ValueError):  # the terminal may be closed
                    _print_next(address + next_token, as_json=as_json)

        config = uvicorn.Config(
            application(review, access, entered),
            log_level="warning",
            access_log=False,
            server_header=False,
        )
        signals.server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt):
            signals.server.run(sockets=[listening])
        signals.server = None
        if signals.received is not None:
            raise SystemExit(128 + signals.received)


@contextlib.contextmanager
def listening_socket(port: int) -> Iterator[socket.socket]:
    """A socket on the loopback address that listens; closed at the end."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, _address_option(), 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # requests wait until the server is ready
        except OSError as error:
            raise OptionError(
                f"--port {port} cannot be used: {error.strerror}. Choose another."
            ) from error
        yield listening


def _address_option() -> int:
    """The option with which a port can be used again soon, and by nobody else meanwhile.

    On Windows ``SO_REUSEADDR`` would let any program take over a port that is in use.
    """
    return int(getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR))


@dataclass
class StopSignals:
    """The server that a signal stops, while it runs, and the signal that did."""

    server: uvicorn.Server | None = None
    received: int | None = None

    def handle(self, number: int, _: FrameType | None) -> None:
        """Stop the server, which would swallow an exception; raise one where none runs."""
        if self.server is None:
            raise SystemExit(128 + number)
        self.received, self.server.should_exit = number, True


@contextlib.contextmanager
def clean_exit_on_signals() -> Iterator[StopSignals]:
    """Let SIGTERM and SIGHUP end the process in order, so that its files are removed."""
    signals = StopSignals()
    changed = []
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, signals.handle)
                changed.append(number)
    try:
        yield signals
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _print_address(address: str, review: Review, number: int, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"address": address, "decisions": str(review.decisions.path)}), flush=True)
        return
    print(f"Review:   {address}", flush=True)
    print(f"Saved in: {review.decisions.path}, each decision as soon as it is made")
    print(f"Remote:   ssh -L {number}:{HOST}:{number} THIS-MACHINE, then open the same address")
    print("Stop:     Ctrl-C", flush=True)


def _print_next(address: str, *, as_json: bool) -> None:
    """Print the address for another tab: each is valid for one tab only."""
    print(json.dumps({"address": address}) if as_json else f"Again:    {address}", flush=True)
