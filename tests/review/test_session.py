"""A review: what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cgscore.review import Decisions, Review


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
