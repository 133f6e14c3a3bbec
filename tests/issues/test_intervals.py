"""Confidence intervals."""

from __future__ import annotations

import pytest

from cgscore.issues.intervals import wilson


def test_shares_and_their_intervals() -> None:
    low, high = wilson(0.8, 10, 1.96)
    assert low == pytest.approx(0.4902, abs=1e-4)  # as tables of Wilson's interval have it
    assert high == pytest.approx(0.9433, abs=1e-4)
    assert wilson(0.0, 100, 3.0)[1] > 0.08  # nothing seen is not nothing there
