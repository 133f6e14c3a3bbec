"""The order of suspects, renewed by decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.review import Decisions, Review
from cgscore.review import live_order as live_order_module
from cgscore.review.live_order import LABELS_PER_RENEWAL
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.fixture
def review(photos: Any, tmp_path: Path) -> Any:
    _, scores, _ = photos
    made = Review(scores, scores.data(), Decisions(tmp_path / "d", scores.meta["fingerprint"]))
    yield made
    made.decisions.close()


def test_order_is_renewed_after_some_changed_labels(review: Any) -> None:
    review.live.start()
    until(lambda: review.live.state["state"] == "ready")
    before = review.subject.right.copy()
    rows = review.queue()
    for row in rows[: LABELS_PER_RENEWAL - 1]:
        review.decide(row["at"], "accept", row["to"], None)
    review.decide(rows[-1]["at"], "keep", None, None)  # changes no label
    assert review.live_state()["version"] == 0
    row = rows[LABELS_PER_RENEWAL - 1]
    review.decide(row["at"], "accept", row["to"], None)
    until(lambda: review.live_state()["version"] == 1)
    assert (review.subject.right != before).any()
    expected = review.subject.right.copy()
    review.rescore()
    assert review.rescoring["state"] == "done"
    assert np.allclose(review.subject.right, expected)


def test_what_costs_too_much_is_not_made(review: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_order_module, "MAX_SECONDS", 0.0)
    review.live.start()
    until(lambda: review.live.state["state"] == "off")
    assert "it would take about" in review.live.state["words"]
    row = review.queue()[0]
    review.decide(row["at"], "accept", row["to"], None)


def test_looking_further(review: Any) -> None:
    suspects = review.subject.flagged.copy()
    added = review.look_further(5, at_random=False)
    rest = np.flatnonzero(~suspects)
    worst = rest[np.argsort(review.subject.right[rest], kind="stable")[:5]]
    assert added == sorted(worst.tolist())
    assert review.progress()["open"] == suspects.sum() + 5
    more = review.look_further(7, at_random=True)
    assert len(set(more) - set(added)) == 7
    assert {row["at"] for row in review.queue()} >= set(more) | set(added)
