"""Levels of a score."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, OptionError
from cgscore.training.scores.levels import levels


def test_levels_are_ascending_and_equal() -> None:
    scores = np.array([3.0, 1, 2, np.inf, 1, 0])
    assert [level.tolist() for level in levels(scores, 3)] == [[5, 1], [4, 2], [0, 3]]
    assert [len(level) for level in levels(np.arange(23))] == [3, 3, 3] + [2] * 7


def test_wrong_arguments() -> None:
    with pytest.raises(DataError, match="1 missing"):
        levels([1, np.nan])
    with pytest.raises(OptionError, match="number of examples, 3; got 10"):
        levels([1, 2, 3])
