"""p - y, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, LabelError
from cgscore.training.scores.residuals import residuals


def test_the_label_is_subtracted() -> None:
    given = np.array([[0.2, 0.8], [0.5, 0.5]], np.float32)
    found = residuals(given, [1, 0])
    assert found == pytest.approx(np.array([[0.2, -0.2], [-0.5, 0.5]]))
    assert given.tolist() == [[np.float32(0.2), np.float32(0.8)], [0.5, 0.5]]  # not in place


@pytest.mark.parametrize(
    ("probability", "labels", "message"),
    [
        ([[2.0, -1.0], [0.5, 0.5]], [0, 1], "row 0 .* apply a softmax"),
        ([[0.5, 0.5], [0.5, 0.6]], [0, 1], "row 1 .* add up to 1.1"),
        ([[0.5, 0.5], [np.nan, 0.5]], [0, 1], "row 1"),
        ([0.5, 0.5], [0, 1], "shape"),
        ([[1, 0], [0, 1]], [0, 1], "type int"),
    ],
)
def test_no_probabilities(probability: object, labels: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        residuals(np.asarray(probability), labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0], "1 labels for 2"), ([0, 2], "0 to 2"), ([-1, 0], "-1 to 0"), (["a", "b"], "type")],
)
def test_no_columns(labels: list[object], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        residuals(np.full((2, 2), 0.5), np.asarray(labels))
