"""Sources and groups of a result: in the table, in files, and refused where they are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cgscore
from cgscore.errors import OptionError
from tests.result.changes import Change, check_refused, meta

N = 60


@pytest.fixture
def data() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(N) % 3
    X = rng.standard_normal((N, 5)) + np.eye(3, 5)[y]
    who = np.array(["ann", None, "bob", "<b>"], dtype=object)[np.arange(N) % 4]
    return X, y, who, np.arange(N) // 10


def brute_force(X: Any, y: Any, group: Any) -> list[float]:
    whole = sum(cgscore.complexity(X, y).values())
    rests = (sum(cgscore.complexity(X[group != g], y[group != g]).values()) for g in range(6))
    return [whole - rest for rest in rests]


@pytest.mark.parametrize("method", ["exact", "iterative"])
def test_gaps_equal_removal(data: tuple[Any, Any, Any, Any], method: str) -> None:
    X, y, _, group = data
    scores = cgscore.score(X, y, method=method, group_column=group)
    assert ("groups" in scores.meta) == (method == "exact")
    table = scores.groups()
    np.testing.assert_allclose(table["gap"], brute_force(X, y, group), rtol=1e-9)
    assert table["examples"].tolist() == [10] * 6
    np.testing.assert_allclose(table[["gap_0", "gap_1", "gap_2"]].sum(axis=1), table["gap"])
    assert "groups" in scores.meta


def test_saved_and_loaded(data: tuple[Any, Any, Any, Any], tmp_path: Path) -> None:
    X, y, who, group = data
    scores = cgscore.score(X, y, source_column=who, group_column=group)
    scores.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(again.table, scores.table)
    pd.testing.assert_frame_equal(again.groups(), scores.groups())
    pd.testing.assert_frame_equal(again.sources(), scores.sources())
    assert None in again.sources()["source"].tolist()
    assert "source" not in again.meta["read_options"]


def test_a_missing_group_is_a_group(data: tuple[Any, Any, Any, Any], tmp_path: Path) -> None:
    X, y, who, _ = data
    scores = cgscore.score(X, y, group_column=who)
    assert scores.groups()["group"].tolist() == ["ann", None, "bob", "<b>"]
    scores.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet")
    again.meta.pop("groups")
    found = again.groups(data=cgscore.read(X, labels=y))
    np.testing.assert_allclose(found["gap"], scores.groups()["gap"])
    assert found["group"].tolist() == ["ann", None, "bob", "<b>"]


def test_numbers_have_one_gap(data: tuple[Any, Any, Any, Any]) -> None:
    X, _, _, group = data
    scores = cgscore.score(X, X[:, 0] + 0.5, group_column=group, source_column=group)
    assert list(scores.groups().columns) == ["group", "examples", "gap"]
    assert len(scores.sources()) == 6


def test_names_are_no_scores(data: tuple[Any, Any, Any, Any]) -> None:
    X, y, _, group = data
    scores = cgscore.score(X, y, group_column=group, source_column=group, judge=False)
    with pytest.raises(OptionError, match="by must be an array or one of cg"):
        scores.values("source")


def test_what_a_result_does_not_know(data: tuple[Any, Any, Any, Any]) -> None:
    scores = cgscore.score(*data[:2], judge=False)
    with pytest.raises(OptionError, match=r"the source of an example\. Score with source_column="):
        scores.sources()
    with pytest.raises(OptionError, match=r"the group of an example\. Score with group_column="):
        scores.groups()


def added(name: str, values: Any) -> Change:
    return lambda table, _: table.append_column(name, pa.array(values))


GROUP = {"group": "a", "examples": 3, "gap": 1.0, "by_class": [1.0, 0.0, 0.0]}
WHO = {
    "annotator": "a", "examples": 3, "reliability": 0.5, "low": 0.1, "high": 0.9, "differs": ""
}  # fmt: skip

REFUSED: dict[str, tuple[Change, str]] = {
    "sources of bytes": (added("source", [b"a"] * 30), "column source is of type binary"),
    "sources of dates": (
        added("source", np.zeros(30, "M8[s]")),
        "column source is of type timestamp",
    ),
    "groups of fractions": (added("group", [0.5] * 30), "column group is of type double"),
    "counts as text": (added("annotators", ["1"] * 30), "'annotators' is of type string"),
    "confidence as text": (
        added("consensus_confidence", ["1"] * 30),
        "'consensus_confidence' is of type string",
    ),
    "groups an object": (meta("groups", {}), r"meta\['groups'\] is {}"),
    "groups null": (meta("groups", None), r"meta\['groups'\] is None"),
    "group without a gap": (meta("groups", [{**GROUP, "gap": None}]), r"meta\['groups'\]"),
    "group of a list": (meta("groups", [{**GROUP, "group": []}]), r"meta\['groups'\]"),
    "group without a name": (
        meta("groups", [{k: v for k, v in GROUP.items() if k != "group"}]),
        r"meta\['groups'\]",
    ),
    "group of too few classes": (
        meta("groups", [{**GROUP, "by_class": [1.0]}]),
        "not one gap for each of 3 classes",
    ),
    "group of half an example": (meta("groups", [{**GROUP, "examples": 0.5}]), r"meta\['groups'\]"),
    "annotators null": (meta("annotators", None), r"meta\['annotators'\] is None"),
    "annotator a number": (meta("annotators", [{**WHO, "annotator": 3}]), r"meta\['annotators'\]"),
    "annotator not finite": (
        meta("annotators", [{**WHO, "low": float("nan")}]),
        r"meta\['annotators'\]",
    ),
    "annotator markup": (
        meta("annotators", [{**WHO, "differs": "<b>"}]),
        r"meta\['annotators'\]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_results_are_refused_by_name(tmp_path: Path, name: str) -> None:
    check_refused(tmp_path, *REFUSED[name])
