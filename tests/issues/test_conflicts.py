"""Identical inputs with different labels: majorities, ties, and how they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.issues.conflicts import Conflicts, find_conflicts
from tests.issues.examples import blobs

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def table(firsts: Sequence[int]) -> Any:
    ids = np.arange(len(firsts))
    copies = [None if first == i else first for i, first in enumerate(firsts)]
    return pd.DataFrame({"id": ids, "duplicate_of": pd.array(copies, dtype="Int64")})


def test_majorities_and_ties() -> None:
    #        a 2:1 group | agrees | a tie   | three ways | alone
    firsts = [0, 0, 0, 3, 3, 5, 5, 7, 7, 7, 10]
    codes = np.array([1, 1, 0, 2, 2, 0, 1, 0, 1, 2, 0])
    single = list(range(11, 22))  # rows without a copy, as most are
    conflicts = find_conflicts(table(firsts + single), np.append(codes, np.zeros(11, int)))
    conflicts = Conflicts(**{name: values[:11] for name, values in vars(conflicts).items()})
    assert conflicts.group.tolist() == [0, 0, 0, -1, -1, 1, 1, 2, 2, 2, -1]
    assert conflicts.count == 3
    assert conflicts.share == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1, 1, 0.5, 0.5, *[1 / 3] * 3, 1])
    assert conflicts.majority[:3].tolist() == [1, 1, 1]
    assert conflicts.undecidable.tolist() == [False] * 5 + [True] * 5 + [False]
    assert conflicts.wrong == pytest.approx([0, 0, 1, 0, 0, 0.5, 0.5, *[2 / 3] * 3, 0])


def test_coarse_inputs_are_no_duplicates() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 2)).astype(float) + 1  # nine different inputs at most
    y = (rng.random(300) < 0.2 + 0.2 * X[:, 0]).astype(int)
    issues = cgscore.score(X, y).find_issues()
    assert issues.summary.conflicts == 0
    assert issues.table["conflict_group"].isna().all()
    low, high = issues.summary.interval
    assert high - low > 20  # what is nature and what is wrong cannot be known


@pytest.mark.parametrize("ridge", [0.0, "auto"])
def test_a_group_is_flagged_and_counted_once(ridge: Any) -> None:
    X, y = blobs([20, 20, 20])
    X = np.vstack([X, X[:1], X[:1], X[1:2]])  # two more of the first, one more of the second
    labels = np.concatenate([y, [y[0], (y[0] + 1) % 3, (y[1] + 1) % 3]])
    found = cgscore.score(X, labels, ridge=ridge).find_issues()
    issues, n = found.table, len(y)
    assert found.summary.conflicts == 2
    members = issues["conflict_group"].notna().to_numpy()
    assert np.flatnonzero(members).tolist() == [0, 1, n, n + 1, n + 2]
    assert issues["kind"].to_numpy()[[1, n + 2]].tolist() == ["undecidable"] * 2
    flagged = issues["is_label_issue"].to_numpy()
    assert flagged[members].tolist() == [False, False, False, True, False]
    minority = issues.iloc[n + 1]
    assert minority["predicted_label"] == y[0]
    assert minority["confidence"] == pytest.approx(2 / 3)
    assert minority["label_score"] == pytest.approx(1 / 3)
    plain = cgscore.score(X[:n], y, ridge=ridge).issue_summary()
    assert found.summary.estimated_wrong - plain.estimated_wrong == pytest.approx(2, abs=0.5)
    assert sum(found.summary.wrong_by_class.values()) == pytest.approx(
        found.summary.estimated_wrong
    )


def test_ordinary_results_have_no_conflicts() -> None:
    X, y = blobs([15, 15])
    found = cgscore.score(X, y).find_issues()
    assert found.summary.conflicts == 0
    assert found.table["conflict_group"].isna().all()
