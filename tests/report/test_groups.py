"""Groups of identical and nearly identical examples."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from cgscore.report.groups import example_groups, near_pairs


class Result:
    """The part of a result that groups are made from."""

    def __init__(self, **columns: Any) -> None:
        self.table = pd.DataFrame(columns)


def neighbours(*rows: tuple[int, int, float]) -> pd.DataFrame:
    columns = ["position", "neighbour_position", "similarity"]
    table: pd.DataFrame = pd.DataFrame(rows, columns=columns)
    return table


def test_near_is_relative_to_typical_distances() -> None:
    table = neighbours((0, 5, 0.9), (1, 6, 0.9), (2, 7, 0.997), (3, 8, 0.99), (4, 9, 0.9))
    threshold, pairs = near_pairs(table)
    assert threshold == pytest.approx(0.996)
    assert pairs == [(2, 7)]
    assert near_pairs(None)[1] == []


def test_chains_become_one_group_and_conflicts_come_first() -> None:
    scores: Any = Result(
        id=range(8),
        given_label=["a", "a", "b", "a", "b", "c", "c", "c"],
        duplicate_of=pd.array([None, 0, None, None, None, None, None, None], "Int64"),
    )
    far = [(5, at, 0.5) for at in range(4)] + [(6, 7, 0.5), (7, 6, 0.5)]
    table = neighbours((2, 3, 0.9999), (3, 4, 0.9999), (0, 1, 1.0), *far)
    groups = example_groups(scores, table)
    assert (groups["count"], groups["conflicts"]) == (1, 0)
    near, identical = groups["rows"]
    assert near["members"] == [2, 3, 4]
    assert near["conflict"]
    assert near["labels"] == ["b", "a", "b"]
    assert 0.98 <= near["similarity"] < 0.9999
    assert identical["members"] == [0, 1]
    assert identical["similarity"] is None
