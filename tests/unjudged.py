"""Scores without the second solution, by which labels are judged.

Its search for a ridge takes most of the time of a small problem, and tests of scores do not look at
it.
"""

from __future__ import annotations

from typing import Any

import cgscore


def score(*data: Any, **options: Any) -> cgscore.Scores:
    """As ``cgscore.score``."""
    return cgscore.score(*data, **{"judge": False, **options})
