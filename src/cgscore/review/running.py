"""A review that runs beside a notebook or a prompt: `Scores.review`."""

from __future__ import annotations

import contextlib
import html
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from cgscore.errors import CGScoreError
from cgscore.report.content import source_name
from cgscore.review.access import Access
from cgscore.review.application import application
from cgscore.review.decisions import Decisions
from cgscore.review.launch_page import LaunchPage
from cgscore.review.server import HOST, listening_socket
from cgscore.review.session import Review

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


class RunningReview:
    """A server in a thread; it ends with `stop` or with the process.

    Attributes
    ----------
    review : Review
        What is reviewed.
    """

    def __init__(self, review: Review, *, port: int, browser: bool) -> None:
        self.review = review
        self._files = contextlib.ExitStack()
        self._files.callback(review.decisions.close)
        listening = self._files.enter_context(listening_socket(port))
        number = listening.getsockname()[1]
        self._access = Access(number)
        self._place = f"http://{HOST}:{number}/"
        self._launch: LaunchPage | None = None
        config = uvicorn.Config(
            application(review, self._access, self._entered),
            log_level="warning",
            access_log=False,
            server_header=False,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, daemon=True
        )
        self._thread.start()
        if review.live is not None:
            review.live.start()
        if browser:
            self._launch = LaunchPage(self.address())
            self._launch.open_browser()

    def address(self) -> str:
        """An address that opens one tab."""
        return f"{self._place}?token={self._access.new_token()}"

    def labels(self) -> pd.DataFrame:
        """All labels as they are now, aligned to the input: id, label, changed."""
        return self.review.labels()

    def changes(self) -> pd.DataFrame:
        """The changed labels: id, old and new label, time."""
        return self.review.changes()

    def stop(self) -> None:
        """End the server; decisions stay in their file."""
        self._server.should_exit = True
        self._thread.join(10)
        if self._launch is not None:
            self._launch.remove()
        self._files.close()

    def __repr__(self) -> str:
        return f"Review at {self._place}, saved in {self.review.decisions.path.name}"

    def _repr_html_(self) -> str:
        address = html.escape(self.address())
        file = html.escape(self.review.decisions.path.name)
        return (
            f'<p><a href="{address}" target="_blank" rel="noopener">Open the review</a> '
            f"(this link opens one tab, once). Decisions are saved in {file}.</p>"
        )

    def _entered(self, _: str) -> None:
        if self._launch is not None:
            self._launch.remove()


def open_review(
    scores: Scores,
    decisions: str | Path | None,
    *,
    data: Any,
    reviewer: str | None,
    port: int,
    browser: bool,
) -> RunningReview:
    """A running review; parameters as of `Scores.review`."""
    dataset = None
    try:
        dataset = scores.data(data)
    except CGScoreError:
        if data is not None:
            raise
    if decisions is None:
        name = source_name(scores.meta["source"]).removeprefix("sklearn:").strip("/")
        decisions = f"{Path(name).name or 'scores'}.review"
    kept = Decisions(Path(decisions), scores.meta["fingerprint"], reviewer=reviewer)
    try:
        return RunningReview(Review(scores, dataset, kept), port=port, browser=browser)
    except BaseException:
        kept.close()
        raise
