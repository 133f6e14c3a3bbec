"""The text by which an export is recognised when it comes back.

It names the fingerprint of the data, which changes with any input, label or id. So corrections of
other data, or of labels that have changed since, are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cgscore.result.scores import Scores

FORMAT = 1  # of exports; a higher number is refused
_STAMP = re.compile(r"cgscore-([1-9]\d{0,5})-([0-9a-f]{32})")


def stamp_of(scores: Scores) -> str:
    """The stamp of a result; a text that no spreadsheet takes for a number."""
    return f"cgscore-{FORMAT}-{scores.meta['fingerprint']}"


def parse_stamp(text: object) -> tuple[int, str] | None:
    """Format and fingerprint of a stamp; None if it is none."""
    match = _STAMP.fullmatch(text.strip()) if isinstance(text, str) else None
    return None if match is None else (int(match[1]), match[2])
