"""Probabilities for cleanlab, and its Datalab with our issue type."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError

pytest.importorskip("cleanlab")

from cgscore.adapters import cleanlab as adapter

WRONG = np.arange(600) % 12 == 0


@pytest.fixture(scope="module")
def scores() -> cgscore.Scores:
    digits = cgscore.read("sklearn:digits")
    y = np.asarray(digits.y)[:600].copy()
    y[WRONG] = (y[WRONG] + 3) % 10
    names = np.array(list("jihgfedcba"))[y]
    return cgscore.score(np.asarray(digits.X[:600]).reshape(600, -1), names, ridge="auto")


def test_probabilities_are_calibrated(scores: cgscore.Scores) -> None:
    from cleanlab.filter import find_label_issues

    chances, given = adapter.pred_probs(scores), adapter.labels(scores)
    assert chances.shape == (600, 10)
    assert np.allclose(chances.sum(axis=1), 1)
    true = np.searchsorted(scores.classes, scores.table["given_label"].to_numpy())
    clean = ~WRONG
    sure = chances.max(axis=1)[clean]
    right = (chances.argmax(axis=1) == true)[clean]
    assert abs(sure.mean() - right.mean()) < 0.03
    found = find_label_issues(given, chances)
    assert (found & WRONG).sum() > 0.9 * WRONG.sum()
    assert (found & ~WRONG).sum() < 10


def test_issue_type_of_datalab(scores: cgscore.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    from cleanlab import Datalab

    names = scores.table["given_label"].tolist()
    lab = Datalab({"y": names}, label_name="y")
    lab.find_issues(issue_types={"cg_score": {"scores": scores}})
    issues = lab.get_issues("cg_score")
    expected = scores.label_issues()
    assert (issues["is_cg_score_issue"].to_numpy() == expected["is_label_issue"].to_numpy()).all()
    assert np.allclose(issues["cg_score_score"], expected["label_score"])
    assert "cg_score" in lab.get_issue_summary()["issue_type"].tolist()
    assert lab.get_info("cg_score")["estimated_wrong"] == expected.attrs["estimated_wrong"]
    lab.report(include_description=False)
    assert "cg_score" in capsys.readouterr().out

    digits = cgscore.read("sklearn:digits")
    other = Datalab({"y": names}, label_name="y")
    features = np.asarray(digits.X[:600]).reshape(600, -1)
    other.find_issues(issue_types={"cg_score": {"features": features}})
    assert set(other.get_info("cg_score")["predicted_label"]) == set("abcdefghij")
    found = other.get_issues("cg_score")["is_cg_score_issue"].to_numpy()
    assert (found & WRONG).sum() > 0.9 * WRONG.sum()


def test_mistakes_are_told(scores: cgscore.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    from cleanlab import Datalab

    lab = Datalab({"y": [0, 1] * 5}, label_name="y")
    lab.find_issues(issue_types={"cg_score": {"scores": scores}})
    assert "must have 10 examples" in capsys.readouterr().out
    names = scores.table["given_label"].tolist()
    lab = Datalab({"y": names[::-1]}, label_name="y")
    lab.find_issues(issue_types={"cg_score": {"scores": scores}})
    assert "other labels than Datalab, or another order of rows" in capsys.readouterr().out
    numbers = cgscore.score(
        np.random.default_rng(0).normal(size=(20, 3)), range(20), task="regression"
    )
    with pytest.raises(OptionError, match="regression"):
        adapter.pred_probs(numbers)
    with pytest.raises(OptionError, match="regression"):
        adapter.labels(numbers)
