"""Columns that were damaged, changed or made up: refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cgscore
from cgscore.errors import CGScoreError
from cgscore.result.schema import REQUIRED
from tests.result.changes import (
    Change,
    check_refused,
    column,
    entry,
    meta,
    one,
    pandas_type,
    rewrite,
    scored,
    without,
)


def text_in(values: Any) -> Any:
    return pa.array([str(value) for value in values.to_pylist()])


def lists(k: int) -> Callable[[Any], Any]:
    return lambda values: pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(30 * k)), k)


#: Columns for which a file is refused, and a part of what is said.
REFUSED: dict[str, tuple[Change, str]] = {
    **{f"no column {name}": (without(name), f"column {name} is missing") for name in REQUIRED},
    "cg as text": (column("cg", text_in), "'cg' is of type string; expected float"),
    "margin as text": (column("margin", text_in), "'margin' is of type string"),
    "cg as lists": (column("cg", lists(2)), "'cg' is of type fixed_size_list"),
    "id as lists": (column("id", lists(2)), "'id' is of type"),
    "id missing everywhere": (column("id", lambda v: pa.nulls(len(v))), "'id' is of type null"),
    "d as text": (column("d", text_in), "'d' is of type string"),
    "d with a gap": (column("d", one(None)), "column d has rows without a value"),
    "alpha as whole numbers": (
        column("alpha", lambda v: pa.array(range(len(v)))),
        "'alpha' is of type int64",
    ),
    "loo too wide": (column("loo", lists(4)), r"expected 3 numbers in each row"),
    "loo too narrow": (column("loo", lists(2)), r"expected 3 numbers in each row"),
    "loo flat": (column("loo", lambda v: pa.array(np.zeros(30))), "loo is of type double"),
    "loo as ragged lists": (
        column("loo", lambda v: pa.array([[0.0] * (i % 4) for i in range(30)])),
        "loo is of type list",
    ),
    "loo of texts": (
        column("loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array(["x"] * 90), 3)),
        "loo is of type",
    ),
    "loo infinite": (
        column("loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([np.inf] * 90), 3)),
        "loo has a prediction that is infinite",
    ),
    "loo with gaps": (
        column(
            "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([None, 0.0, 1.0] * 30), 3)
        ),
        "loo has rows without a value",
    ),
    "rows cut": (lambda table, _: table.slice(0, 20), r"20 rows, and meta\['n'\] is 30"),
    "no rows": (lambda table, _: table.slice(0, 0), "0 rows"),
    "rows twice": (lambda table, _: pa.concat_tables([table, table]), "60 rows"),
    "two columns of one name": (
        lambda table, _: table.append_column("cg", table["cg"]),
        "the same name",
    ),
    "a column of structs": (
        lambda table, _: table.append_column("x", pa.array([{"a": 1}] * 30)),
        "'x' is of type struct",
    ),
    "labels as text": (column("given_label", text_in), "given_label' is of type string"),
    "label unknown": (column("given_label", one(7)), "given_label has .*7.* not among the classes"),
    "label missing": (column("given_label", one(None)), "given_label has rows without a label"),
    "prediction unknown": (column("predicted_label", one(9)), "predicted_label has .*9"),
    "predictions as text": (column("predicted_label", text_in), "predicted_label' is of type"),
    "copy of nobody": (column("duplicate_of", one(99)), "duplicate_of names an example"),
    "copy of a copy": (column("duplicate_of", one(7)), "duplicate_of names an example"),
    "copies as lists": (column("duplicate_of", lists(1)), "duplicate_of' is of type"),
    "class without examples": (entry("classes", [0, 1, 5]), "not among the classes"),
    "n one more": (meta("n", 31), "30 rows"),
    "n absurd": (meta("n", 10**15), "30 rows"),
    "pandas type that does not fit": (pandas_type("id", "boolean"), "table cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_columns_are_refused_by_name(tmp_path: Path, name: str) -> None:
    check_refused(tmp_path, *REFUSED[name])


@pytest.mark.parametrize("kind", ["classes", "texts", "regression"])
def test_pandas_types_come_back(tmp_path: Path, kind: str) -> None:
    scores = scored(tmp_path, kind)
    scores.table["runs"] = pd.array([1, None] * 15, "Int64")
    scores.table["word"] = pd.array(["a", None] * 15, "string")
    scores.table["sure"] = pd.array([True, None] * 15, "boolean")
    scores.table["kind"] = pd.Categorical(["a", "b"] * 15)
    scores.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.table, scores.table)
    with pytest.raises(CGScoreError, match="no value for 15 examples"):
        back.values("runs")


@pytest.mark.parametrize("name", ["judged_d", "judged_loo"])
def test_numbers_are_judged_by_columns_that_must_be_there(tmp_path: Path, name: str) -> None:
    scores = scored(tmp_path, "regression")
    path = tmp_path / "s.parquet"
    scores.save(path)
    back = cgscore.load(path)
    assert back.judged_d is not None
    assert back.label_issues().equals(scores.label_issues())
    rewrite(path, without(name))
    with pytest.raises(CGScoreError, match=f"the column {name} is missing"):
        cgscore.load(path)
