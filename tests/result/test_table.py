"""Columns of the table of scores, read by name or given by the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgscore.errors import OptionError
from cgscore.result.table import column_values, given_values, numeric_columns


def test_scores_are_the_numbers_that_name_nothing() -> None:
    table = pd.DataFrame(
        {"id": [3, 4], "given_label": [0, 1], "cg": [1.0, 2.0], "word": ["a", "b"]}
    )
    table["runs"] = pd.array([1, None], "Int64")
    assert numeric_columns(table) == ["cg", "runs"]
    assert column_values(table, "cg").tolist() == [1.0, 2.0]
    runs = column_values(table, "runs")  # what is missing is nan, not an object
    assert runs.dtype == np.float64
    np.testing.assert_array_equal(runs, [1.0, np.nan])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["a", "b", "c"], "by must hold numbers"),
        ([1.0, 2.0], r"each of the 3 examples; got the shape \(2,\)"),
        ([[1.0], [2.0], [3.0]], r"got the shape \(3, 1\)"),
    ],
)
def test_given_numbers_are_one_for_each_example(by: Any, message: str) -> None:
    assert given_values([1, 2, 3], 3).dtype == np.float64
    with pytest.raises(OptionError, match=message):
        given_values(by, 3)
