"""The summary of label issues."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_the_summary_and_the_attributes_of_the_table_agree(noisy: Any) -> None:
    s = noisy[3]
    issues = s.find_issues(precision=0.9)
    summary, attrs = issues.summary, issues.table.attrs
    assert issues.table.equals(s.label_issues(precision=0.9))
    assert summary.flagged == issues.table["is_label_issue"].sum()
    assert summary.examples == len(s)
    assert sum(summary.wrong_by_class.values()) == pytest.approx(summary.estimated_wrong)
    assert attrs == {
        "by": "posterior",
        "estimated_wrong": summary.estimated_wrong,
        "interval": list(summary.interval),
        "wrong_by_class": {str(c): count for c, count in summary.wrong_by_class.items()},
        "noise_matrix": summary.noise_matrix.tolist(),
        "anchors": summary.anchors,
        "blind": False,
        "conflicts": 0,
        "hard_to_tell": summary.hard_to_tell,
        "contested": False,
        "overlap": False,
        "hint": None,
    }
    assert summary.hard_to_tell < 50
    assert json.loads(json.dumps(attrs)) == attrs
    with pytest.raises(AttributeError):
        summary.flagged = 0
