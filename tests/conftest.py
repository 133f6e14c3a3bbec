"""Data that tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("cgscore", deadline=None, derandomize=True)
settings.load_profile("cgscore")

ROOT = Path(__file__).parents[1]
REAL_DATA = Path(os.environ.get("CGSCORE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def real_data() -> Path:
    """The folder of large real datasets; without it the test is skipped, under CI it fails."""
    if REAL_DATA.is_dir():
        return REAL_DATA
    reason = f"no real data in {REAL_DATA}: set CGSCORE_DATA"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def cloud() -> tuple[Any, Any]:
    """Sixty well-separated points in three classes."""
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 20)
    return rng.standard_normal((60, 8)) + np.eye(3, 8)[y], y
