"""Forgetting events on scripted sequences."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, OptionError
from cgscore.training.scores.forgetting import forgetting

#: One column per example: always right, forgotten twice, learned late, once right at first, never.
SCRIPT = np.array(
    [
        [1, 1, 0, 1, 0],
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 1, 1, 0, 0],
    ]
)


def test_from_right_to_wrong_counts() -> None:
    assert forgetting(SCRIPT).tolist() == [0, 2, 0, 1, 0]
    assert forgetting(SCRIPT.astype(bool)).tolist() == [0, 2, 0, 1, 0]
    assert forgetting(SCRIPT, never_learned="last").tolist() == [0, 2, 0, 1, 5]


def test_runs_are_averaged() -> None:
    runs = np.stack([SCRIPT, SCRIPT[:, ::-1]])
    assert forgetting(runs).tolist() == [0, 1.5, 0, 1.5, 0]
    assert forgetting(runs, never_learned="last").tolist() == [2.5, 1.5, 0, 1.5, 2.5]


def test_nothing_beats_never_learned() -> None:
    flicker = np.arange(9)[:, None] % 2 == 0  # as many events as there can be
    pair = np.hstack([flicker, np.zeros((9, 1), bool)])
    assert forgetting(pair, never_learned="last").tolist() == [4, 9]


def test_wrong_arguments() -> None:
    with pytest.raises(OptionError, match="zero, last"):
        forgetting(SCRIPT, never_learned="infinity")
    with pytest.raises(DataError, match="other than 0 and 1"):
        forgetting(SCRIPT * 0.5)
    with pytest.raises(DataError, match="epochs"):
        forgetting(SCRIPT[0])
