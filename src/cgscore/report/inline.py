"""The page inside a notebook."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from cgscore.execution.files import replace_file
from cgscore.report.page import page, page_document
from cgscore.result.scores import Scores

HEIGHT_PIXELS = 900


class InlineReport:
    """A report that a notebook shows, and that can be saved.

    It is shown in a frame without access to the notebook: its scripts run apart from it, and it can
    fetch nothing.

    Attributes
    ----------
    notes : list of str
        What was left out, and why.
    """

    def __init__(self, scores: Scores, **options: Any) -> None:
        document, self.notes = page_document(scores, **options)
        self._text = page(document)

    def __repr__(self) -> str:
        return f"Report of {len(self._text):,} characters; save it: .save('report.html')"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="cgscore report" srcdoc="{html.escape(self._text)}" '
            'sandbox="allow-scripts allow-downloads" loading="lazy" '
            f'style="width:100%;height:{HEIGHT_PIXELS}px;border:0"></iframe>'
        )

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        replace_file(Path(path), lambda file: file.write(self._text.encode("utf-8", "replace")))
