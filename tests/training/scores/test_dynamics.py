"""Loss and accuracy of levels of a score, on records written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError
from cgscore.training.scores.dynamics import dynamics


def test_means_by_hand() -> None:
    scores = [0.4, 0.1, 0.3, 0.2]  # lower half: 1 and 3
    loss = [[4.0, 1.0, 2.0, 3.0], [2.0, 0.0, 1.0, 0.5]]
    correct = [[False, True, False, False], [True, True, False, True]]
    table = dynamics(scores, loss, correct, count=2)
    assert table.columns.tolist() == ["epoch", "level", "loss", "accuracy"]
    assert table.to_numpy().tolist() == [
        [1, 1, 2.0, 0.5],
        [1, 2, 3.0, 0.0],
        [2, 1, 0.25, 1.0],
        [2, 2, 1.5, 0.5],
    ]


def test_wrong_arguments() -> None:
    loss = np.ones((3, 12))
    with pytest.raises(DataError, match=r"loss .* \(epochs, 11\)"):
        dynamics(np.arange(11), loss, loss)
    with pytest.raises(DataError, match="3 epochs and correct 2"):
        dynamics(np.arange(12), loss, loss[:2])
