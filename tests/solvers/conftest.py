"""Panels as memory may be: full of what was there before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.solvers.cholesky import storage


@pytest.fixture(autouse=True)
def dirty_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores hand out panels full of NaN, so that nothing is used that was never written."""
    for kind in (storage.InMemory, storage.OnDisk):
        blank = kind.blank

        def dirty(self: Any, i: int, blank: Any = blank) -> Any:
            panel = blank(self, i)
            panel.fill(np.nan)
            return panel

        monkeypatch.setattr(kind, "blank", dirty)
