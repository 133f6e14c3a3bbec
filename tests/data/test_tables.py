"""Data frames: tables, or just numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.data.examples import X, Y, frame

import cgscore
from cgscore.errors import DataError


def test_a_frame_is_numbers_unless_it_holds_its_labels() -> None:
    as_numbers = cgscore.score(frame(), Y)
    np.testing.assert_array_equal(as_numbers.table["cg"], cgscore.score(X, Y).table["cg"])
    as_table = cgscore.read(frame(label=Y))
    assert as_table.X.shape == (12, 5)
    named = cgscore.read(frame(kind=pd.Categorical(["x", "y", "z"] * 4)), label_column="kind")
    assert named.y is not None
    assert named.y.tolist() == ["x", "y", "z"] * 4
    series = cgscore.score(X, pd.Series(["x", "y", "z"] * 4, dtype="string"))
    assert series.classes.tolist() == ["x", "y", "z"]


def test_columns_of_lists_are_no_categories() -> None:
    frame = pd.DataFrame({"e": [[1.0, 2.0], [3.0, 4.0]] * 4, "label": [0, 1] * 4})
    with pytest.raises(DataError, match="holds lists"):
        cgscore.read(frame)
