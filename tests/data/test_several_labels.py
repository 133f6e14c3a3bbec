"""Several labels in one cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.data.several_labels import joined_labels
from cgscore.errors import LabelError


@pytest.mark.parametrize(
    ("labels", "several"),
    [
        (["cat", "dog", "cat|dog"], ("cat|dog", "|")),
        (["cat ; dog", "dog", "bird; cat"], ("cat ; dog", ";")),
        (["a,b", "b", "a", "c, a"], ("a,b", ",")),
        (["cat", "dog", "bird"], None),
        (["Smith, John", "Smith, Mary", "Doe, Jane"], None),  # names
        (["yes", "yes, but later", "no"], None),
        (["red|small", "red|large", "blue|small", "blue|large"], None),  # one label of two parts
        (["|", "a|", ";", "a"], None),
        ([1, 2, 3], None),
    ],
)
def test_joined_labels_are_recognised(labels: list[object], several: object) -> None:
    assert joined_labels(np.array(labels, dtype=object)) == several


@pytest.mark.parametrize("form", ["frame", "csv", "json", "array"])
def test_joined_labels_are_refused(form: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(9), "kind": ["cat", "dog", "cat|dog"] * 3})
    source: Any = frame
    options: dict[str, Any] = {"label_column": "kind"}
    if form == "array":
        source, options = np.arange(9.0)[:, None], {"labels": frame["kind"]}
    elif form == "csv":
        frame.to_csv(source := tmp_path / "t.csv", index=False)
    elif form == "json":
        frame.to_json(source := tmp_path / "t.json", orient="records")
    message = r"'cat\|dog' in .* looks like several labels, separated by '\|'"
    with pytest.raises(LabelError, match=message):
        cgscore.read(source, **options)


def test_lists_in_json_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(8), "label": [["a", "b"], ["c"]] * 4})
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    with pytest.raises(LabelError, match="One label per example is expected"):
        cgscore.read(tmp_path / "t.jsonl")
