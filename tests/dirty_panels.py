"""Panels as memory may be: full of what was there before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cgscore.solvers.cholesky import storage


def fill_panels(assign: Callable[[Any, str, Any], object] = setattr) -> None:
    """Let stores hand out panels full of NaN, so that nothing is used that was never written."""
    for kind in (storage.InMemory, storage.OnDisk):
        blank = kind.blank

        def dirty(self: Any, i: int, blank: Any = blank) -> Any:
            panel = blank(self, i)
            panel.fill(np.nan)
            return panel

        assign(kind, "blank", dirty)
