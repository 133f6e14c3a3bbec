"""Listening on the loopback address until interrupted."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import threading
import webbrowser

import uvicorn

from cgscore.errors import OptionError
from cgscore.review.server import application
from cgscore.review.session import Review

HOST = "127.0.0.1"


def serve(review: Review, *, port: int = 0, browser: bool = True, as_json: bool = False) -> None:
    """Serve a review until interrupted; the address, with its token, is printed first."""
    token = secrets.token_urlsafe(24)
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # whoever is quicker than the server waits
        except OSError as error:
            raise OptionError(f"--port {port} cannot be used: {error.strerror}.") from error
        number = listening.getsockname()[1]
        address = f"http://{HOST}:{number}/?token={token}"
        if as_json:
            told = {"address": address, "decisions": str(review.decisions.path)}
            print(json.dumps(told), flush=True)
        else:
            print(f"Review:   {address}", flush=True)
            print(f"Kept:     {review.decisions.path}: every decision, as soon as it is made")
            print(f"Remote:   ssh -L {number}:{HOST}:{number} THIS-MACHINE, then the same address")
            print("Stop:     Ctrl-C", flush=True)
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        config = uvicorn.Config(
            application(review, token), log_level="warning", access_log=False, server_header=False
        )
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    review.decisions.close()
