"""EL2N by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError
from cgscore.training.scores.el2n import el2n


def test_by_hand() -> None:
    first = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6]]
    second = [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    found = el2n([first, second], [0, 0, 2])
    right = [(0 + 0.5**0.5) / 2, 2**0.5, (0.04 + 0.04 + 0.16) ** 0.5 / 2]
    assert found == pytest.approx(np.array(right))
    assert el2n([first], [0, 0, 2])[1:] == pytest.approx(np.array([2**0.5, 0.24**0.5]))


def test_runs_come_first() -> None:
    with pytest.raises(DataError, match=r"\(runs, n, k\)"):
        el2n(np.full((4, 2), 0.5), [0, 1, 0, 1])
