"""What the document of a report says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from tests.report.pages import document

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_the_document(digits: Any) -> None:
    scores, path = digits
    found = document(path)
    issues = scores.label_issues()
    marked = int(issues["is_label_issue"].sum())
    assert f"{marked} are flagged, all on this page." in found["verdict"]
    assert [row["at"] for row in found["suspects"][:5]] == issues[
        issues["is_label_issue"]
    ].sort_values("label_score", kind="stable").index.tolist()[:5]
    first = found["suspects"][0]
    assert len(first["given"]) == len(first["suggested"]) == 3
    assert {str(row["at"]) for row in found["suspects"]} <= set(found["pictures"])
    assert sum(count for _, _, count in found["pairs"]) == marked
    codes, cg = scores.codes(), scores.table["cg"].to_numpy()
    for c, one in enumerate(found["classes"]):
        finite = cg[(codes == c) & np.isfinite(cg)]
        assert one["examples"] == (codes == c).sum()
        assert one["mean"] == pytest.approx(finite.mean(), rel=1e-5)  # six digits are kept
        assert one["deviation"] == pytest.approx(finite.std(), rel=1e-5)
    assert np.sum(found["histogram"]["counts"]) + found["histogram"]["left_out"] == len(scores)
    three = found["extremes"][3]
    assert three["hardest"][0] == np.flatnonzero(codes == 3)[np.argmax(cg[codes == 3])]
    removed = np.array(found["pruning"]["low-first"])
    half = found["pruning"]["fractions"].index(50)
    assert removed[:, half] @ np.bincount(codes) == pytest.approx(len(scores) / 2, abs=1)
    assert found["repeats"] | {"rows": []} == {"count": 1, "conflicts": 1, "rows": []}


@pytest.mark.parametrize(
    ("worst", "words"), [(5, "the worst 5 on this page."), (0, "none on this page.")]
)
def test_the_verdict_counts_what_the_page_has(
    digits: Any, tmp_path: Path, worst: int, words: str
) -> None:
    """The page draws some of them at first and says how many; the verdict is about all it has."""
    digits[0].report(tmp_path / "few.html", worst=worst)
    found = document(tmp_path / "few.html")
    assert found["verdict"].endswith(f" are flagged, {words}")
    assert len(found["suspects"]) == worst


def test_what_cannot_be_said_is_not_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = cgscore.score(rng.standard_normal((200, 20)), rng.integers(0, 4, 200), ridge="auto")
    scores.report(tmp_path / "random.html")
    found = document(tmp_path / "random.html")
    assert "no better than chance" in found["verdict"]
    assert found["suspects"] == []


def test_the_audit_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = cgscore.score(
        rng.standard_normal((300, 20)), rng.integers(0, 3, 300), method="iterative"
    )
    scores.meta["audit"] |= {"top_percent": 0.75, "top_percent_interval": [0.5, 1.0]}
    scores.report(tmp_path / "a.html")
    facts = dict(document(tmp_path / "a.html")["facts"])
    assert facts["audit"].startswith("rank correlation with the exact score ")
    assert facts["audit of the top 1 %"] == (
        "75.0% of the true top 1 % by cg are in the estimated top 1 % (95 %: 50.0% to 100.0%)"
    )
    del scores.meta["audit"]["top_percent"]  # as in older files
    scores.report(tmp_path / "b.html")
    assert "audit of the top 1 %" not in dict(document(tmp_path / "b.html")["facts"])
