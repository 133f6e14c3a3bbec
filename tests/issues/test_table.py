"""Label issues: which labels are flagged, kinds of issues, the summary, the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import cgscore
from cgscore.errors import CGScoreWarning, OptionError
from cgscore.issues.noise_model import estimate_noise
from tests.issues.examples import auroc, blobs, f1, flipped

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_wrong_labels_of_digits(noisy: Any) -> None:
    X, y, z, s = noisy
    found = s.label_issues()
    assert found.index.tolist() == list(range(len(X)))
    assert found.columns.tolist()[:4] == [
        "is_label_issue",
        "label_score",
        "given_label",
        "predicted_label",
    ]
    marked = found["is_label_issue"].to_numpy()
    assert f1(y != z, marked) > 0.95
    assert (found["predicted_label"][marked] != found["given_label"][marked]).all()
    assert np.mean(found["predicted_label"][marked & (y != z)] == y[marked & (y != z)]) > 0.97
    low, high = s.issue_summary().interval
    assert low <= (y != z).sum() <= high
    assert s.issue_summary().hint is None
    assert found["label_score"].between(0, 1).all()
    assert (found["kind"][marked] == "wrong label").all()
    assert 0 < (found["kind"] == "atypical").sum() < 100


def test_a_label_that_is_not_flagged_does_not_count_for_itself(noisy: Any) -> None:
    _, _, _, s = noisy
    found = s.label_issues()
    kept = ~found["is_label_issue"].to_numpy()
    agrees = s.table["predicted_label"].to_numpy() == found["given_label"].to_numpy()
    assert (kept & ~agrees).any()
    assert ((found["predicted_label"] == found["given_label"]).to_numpy() == agrees)[kept].all()
    differ = found[kept & ~agrees]
    assert (differ["runner_up"] == differ["given_label"]).all()
    assert (differ["confidence"] <= differ["label_score"]).all()


def test_a_promise_that_nothing_meets_says_so() -> None:
    X, y = load_digits(return_X_y=True)
    scores = cgscore.score(X[:300], y[:300], ridge="auto")
    assert not scores.label_issues(precision=0.99)["is_label_issue"].any()
    assert "too few labels" in str(scores.issue_summary(precision=0.99).hint)


def test_a_result_of_ridge_0_that_is_not_judged_comes_with_a_hint(noisy: Any) -> None:
    X, _, z, _ = noisy
    unjudged = cgscore.score(X, z, judge=False)
    assert unjudged.meta["judge"] is None
    assert unjudged.judged_loo is None
    assert 'ridge="auto"' in str(unjudged.issue_summary().hint)


def test_scores_of_ridge_0_are_judged_as_those_of_the_automatic_ridge(
    noisy: Any, tmp_path: Path
) -> None:
    X, _, z, automatic = noisy
    scores, unjudged = cgscore.score(X, z), cgscore.score(X, z, judge=False)
    assert scores.meta["ridge"] == 0
    assert scores.judging_ridge == scores.meta["judge"]["ridge"] == automatic.meta["ridge"]
    assert scores.issue_summary().hint is None
    assert np.array_equal(scores.judging_loo, automatic.loo)
    pd.testing.assert_frame_equal(scores.table, unjudged.table)  # the scores stay the paper's
    assert np.array_equal(scores.loo, unjudged.loo)
    columns = ["is_label_issue", "label_score", "predicted_label", "confidence", "margin"]
    expected = automatic.label_issues()[columns]
    pd.testing.assert_frame_equal(scores.label_issues()[columns], expected)
    scores.save(tmp_path / "s.parquet")
    loaded = cgscore.load(tmp_path / "s.parquet")
    assert loaded.meta["judge"] == scores.meta["judge"]
    pd.testing.assert_frame_equal(loaded.label_issues()[columns], expected)


def test_the_worst_come_first(noisy: Any) -> None:
    _, y, z, s = noisy
    worst = s.worst(20)
    assert len(worst) == 20
    assert worst["is_label_issue"].all()
    assert worst["label_score"].is_monotonic_increasing
    positions = worst["position"].to_numpy()
    assert worst["given_label"].tolist() == z[positions].tolist()
    assert (y[positions] != z[positions]).mean() > 0.9
    assert len(s.worst(10**6)) == s.issue_summary().flagged


def test_the_papers_detectors(noisy: Any) -> None:
    _, y, z, s = noisy
    sign = s.label_issues(by="sign")
    assert (sign["is_label_issue"].to_numpy() == (s.table["partial"] > 0).to_numpy()).all()
    margin = s.label_issues(by="margin")["is_label_issue"].to_numpy()
    assert (margin == (s.table["margin"] < 0).to_numpy()).all()
    for name in ("cg", "partial"):
        found = s.label_issues(by=name, expected_noise=0.05)
        assert found["is_label_issue"].sum() == round(0.05 * len(y))
        worst = set(s.table[name].nlargest(90).index)
        assert set(np.flatnonzero(found["is_label_issue"])) == worst
        assert auroc(y != z, found["label_score"].to_numpy()) > 0.95
    with pytest.raises(OptionError, match=r"by must be one of .*; got 'guess'"):
        s.label_issues(by="guess")
    with pytest.raises(OptionError, match="not both"):
        s.label_issues(expected_noise=5, precision=0.9)
    with pytest.raises(OptionError, match="precision= needs probabilities"):
        s.label_issues(by="cg", precision=0.9)


def test_verdicts_from_a_saved_result(noisy: Any, tmp_path: Path) -> None:
    s = noisy[3]
    s.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet").label_issues()
    assert again.equals(s.label_issues())
    assert cgscore.load(tmp_path / "s.parquet").meta["ridge_choice"] == s.meta["ridge_choice"]


def test_labels_that_are_text_and_predictions_that_are_missing() -> None:
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {c}" for c in y])
    names[:5] = "digit 9"
    s = cgscore.score(X, names, method="subsample", ratio=2, runs=4, ridge=0.1)
    found = s.label_issues()
    missing = s.table["margin"].isna().to_numpy()
    assert 0 < missing.sum() < len(X)
    assert found["label_score"].isna().to_numpy().tolist() == missing.tolist()
    assert not found["is_label_issue"][missing].any()
    assert found["predicted_label"][missing].isna().all()
    seen = ~missing[:5]
    assert (found["predicted_label"][:5][seen] != "digit 9").all()


def test_kinds_of_trouble() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 60)
    X = rng.standard_normal((180, 10)) + 4 * np.eye(3, 10)[y]
    X[10], y[11] = X[70], 3  # a conflict of classes 0 and 1; a class of one example
    found = cgscore.score(X, y).label_issues()["kind"]
    assert found[10] == found[70] == "undecidable"
    assert found[11] == "alone in its class"
    ridged = cgscore.score(X, y, ridge="auto").label_issues()["kind"]
    assert ridged[10] == ridged[70] == "undecidable"
    assert (ridged == "undecidable").sum() == 2


@pytest.mark.parametrize(
    ("counts", "share", "least"),
    [
        ([1000, 10], 0.05, 0.6),  # 1:100
        ([400, 400, 3], 0.1, 0.8),  # a class of three
        ([300, 300], 0.2, 0.9),  # two classes
        ([100] * 8, 0.5, 0.9),
    ],
)
def test_hard_cases(counts: Any, share: float, least: float) -> None:
    X, y = blobs(counts)
    z = flipped(y, share, len(counts))
    found = cgscore.score(X, z, ridge="auto").label_issues()
    assert f1(y != z, found["is_label_issue"].to_numpy()) > least


def test_four_of_five_labels_wrong() -> None:
    """Flagging everything would have an F1 of 0.89: ranks and suggestions are what is left."""
    X, y = blobs([150] * 8)
    z = flipped(y, 0.8, 8)
    found = cgscore.score(X, z, ridge="auto").label_issues()
    assert auroc(y != z, found["label_score"].to_numpy()) > 0.97
    same = found["predicted_label"] == found["given_label"]
    other = np.where(same, found["runner_up"], found["predicted_label"])
    assert np.mean(other[y != z] == y[y != z]) > 0.9
    assert np.mean((y != z)[found["is_label_issue"].to_numpy()]) > 0.9


def test_inputs_that_tell_nothing_flag_nothing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), rng.integers(0, 5, 300)
    s = cgscore.score(X, y, ridge="auto")
    with pytest.warns(CGScoreWarning, match="no better than chance"):
        found = s.label_issues()
    assert not found["is_label_issue"].any()
    assert "no better than chance" in found.attrs["hint"]
    assert s.label_issues(expected_noise=10)["is_label_issue"].sum() == 10


def test_confidence_is_that_of_the_suggested_label(noisy: Any) -> None:
    _, _, z, s = noisy
    found = s.label_issues(expected_noise=0.5)
    noise = estimate_noise(s.loo, z)
    posterior = np.zeros((len(z), 10))
    for hypothesis in noise.hypotheses:
        joint = hypothesis.joint(noise.calibration.logits(s.loo), z)
        posterior += hypothesis.weight * joint / joint.sum(axis=1, keepdims=True)
    posterior[np.arange(len(z)), z] /= noise.odds_factor
    posterior /= posterior.sum(axis=1, keepdims=True)
    suggested = found["predicted_label"].to_numpy()
    assert (suggested[found["is_label_issue"]] != z[found["is_label_issue"]]).all()
    chance = posterior[np.arange(len(z)), suggested]
    np.testing.assert_allclose(found["confidence"], chance, atol=1e-12)


def test_a_thousand_classes() -> None:
    X, y = blobs([4] * 1000, p=40)
    z = flipped(y, 0.25, 1000)
    found = cgscore.score(X, z, ridge="auto", task="classification").label_issues()
    assert f1(y != z, found["is_label_issue"].to_numpy()) > 0.9


def test_numbers_are_judged_by_their_posterior_only(noisy: Any) -> None:
    s = cgscore.score(noisy[0][:50], noisy[0][:50, 10], task="regression", ridge="auto")
    assert s.meta["ridge"] > 0
    assert list(s.label_issues().columns[:6]) == [
        "is_label_issue",
        "label_score",
        "given_label",
        "predicted_label",
        "low",
        "high",
    ]
    with pytest.raises(OptionError, match="by='margin' is for classes"):
        s.label_issues(by="margin")


def test_an_example_alone_in_its_class_is_not_flagged() -> None:
    X, y = blobs([40, 40, 1], apart=2.0)
    issues = cgscore.score(X, y).label_issues()
    assert issues["kind"].iloc[80] == "alone in its class"
    assert not issues["is_label_issue"].iloc[80]


def test_where_classes_overlap_nothing_may_be_wrong() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 6
    X = rng.standard_normal((1200, 8)) + 0.4 * rng.standard_normal((6, 8))[y]
    scores = cgscore.score(X, y)
    assert scores.judged_accuracy() < 0.5
    issues = scores.find_issues()
    assert issues.summary.overlap
    assert issues.summary.interval[0] == 0  # all of it may be nature
