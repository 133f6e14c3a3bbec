"""Memory that nobody has written is noticed in all tests of solvers."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def unwritten_is_noticed(dirty_panels: None) -> None:
    """Panels are full of NaN before they are written."""
