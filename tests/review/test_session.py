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


def test_without_predictions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(360) % 12
    X = rng.standard_normal((360, 12)) + 4 * np.eye(12)[truth]
    y = truth.copy()
    y[:20] = (truth[:20] + 5) % 12
    scores = cgscore.score(X, y, method="lowrank", ridge=0.1, keep_predictions=False)
    scores.save(tmp_path / "s.parquet")
    for number, result in enumerate((scores, cgscore.load(tmp_path / "s.parquet"))):
        data = scores.data()
        decisions = Decisions(tmp_path / f"d{number}", result.meta["fingerprint"])
        review = Review(result, data, decisions)
        issues = result.label_issues()
        for at in (0, 5, 200):
            candidates = review.example(at)["candidates"]
            row = issues.iloc[at]
            assert set(candidates) == {y[at], row["predicted_label"], row["runner_up"]}
            assert len(candidates) == len(set(candidates))
        review.decide(0, "accept", review.subject.verdict(0)["to"], None)
        review.rescore()
        assert review.rescoring["state"] == "done", review.rescoring
        assert review.subject.right[0] > 0.5
        assert (review.subject.right[1:20] < 0.5).all()
        assert np.mean(review.subject.right[20:] > 0.5) > 0.98
        assert review.subject.flagged[:20].all()
        review.decisions.close()
