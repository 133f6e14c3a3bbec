"""A review: what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.review import Decisions, Review

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_what_was_seen_is_what_is_recorded(photos: Any, tmp_path: Path) -> None:
    _, scores, _ = photos
    review = Review(scores, None, Decisions(tmp_path / "d", scores.meta["fingerprint"]))
    row = review.queue()[0]
    others = [c for c in range(10) if c not in (row["from"], row["to"])]
    assert review.decide(row["at"], "accept", others[0], None).label == others[0]
    first = review.decisions.current()[row["at"]].number
    assert review.decide(row["at"], "change", row["to"], first).action == "accept"
    second = review.decisions.current()[row["at"]].number
    assert review.decide(row["at"], "change", row["from"], second).action == "keep"
    review.decisions.close()


def test_identical_inputs_with_different_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 3)) + 3 * y[:, None]
    X[5] = X[4]  # a tie
    X[11] = X[12] = X[10]
    y[10:13] = [1, 1, 0]
    scores = cgscore.score(X, y)
    review = Review(scores, scores.data(), Decisions(tmp_path / "d", scores.meta["fingerprint"]))
    rows = {row["at"]: row for row in review.queue()}
    assert rows[4]["conflict"] == rows[5]["conflict"] != rows[10]["conflict"]
    assert [rows[at]["flagged"] for at in (4, 5, 10, 11, 12)] == [False] * 4 + [True]
    assert review.progress()["open"] == sum(row["flagged"] for row in rows.values())
    review.decisions.close()
