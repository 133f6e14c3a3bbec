"""Several labels per example: codes of classes, missing labels, and the majority."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgscore.data.annotations import annotations_of, majority_vote
from cgscore.errors import LabelError


def test_codes_and_counts() -> None:
    columns = {"a": ["cat", None, "dog"], "b": ["", "ant", "dog"]}
    annotations = annotations_of(columns, "here")
    assert annotations.names == ("a", "b")
    assert annotations.classes.tolist() == ["ant", "cat", "dog"]
    assert annotations.codes.tolist() == [[1, -1], [-1, 0], [2, 2]]
    assert annotations.counts.tolist() == [1, 1, 2]
    assert annotations.rows(np.array([2])).codes.tolist() == [[2, 2]]


@pytest.mark.parametrize("column", [[1.0, np.nan, 3.0], pd.array([1, None, 3], dtype="Int64")])
def test_whole_numbers_stay_whole_beside_missing_values(column: Any) -> None:
    annotations = annotations_of({"a": column, "b": [1, 2, 2]}, "here")
    assert annotations.classes.dtype == np.int64
    assert annotations.codes.tolist() == [[0, 0], [-1, 1], [2, 1]]


def test_the_majority_and_ties() -> None:
    L = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [2, 2, -1], [2, -1, 0]])
    assert majority_vote(L, 3).tolist() == [0, 1, 0, 2, 2]  # the third agrees less often


def test_rows_without_a_label_are_refused() -> None:
    message = r"here: no annotator labelled 1 of 3 examples: 1 \(counted from 0\)\. Label these"
    with pytest.raises(LabelError, match=message):
        annotations_of({"a": [0, None, 1], "b": [0, None, 1]}, "here")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [0.5, 1.0], "b": [1, 0]}, "'a', 'b' hold fractions such as 0.5"),
        ({"a": ["x", "y"], "b": [1, 0]}, "labels of the types int, str"),
        ({"a": [None, None], "b": [None, None]}, "no annotator labelled"),
    ],
)
def test_labels_that_are_no_classes(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        annotations_of(columns, "here")
