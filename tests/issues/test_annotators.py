"""Consensus of several annotators, and how reliable each of them is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import cgscore
from cgscore.data.annotations import Annotations, majority_vote
from cgscore.errors import LabelError, OptionError
from cgscore.issues.annotators import agree, annotator_table, consensus
from cgscore.issues.noise_model import estimate_noise

K = 4


def labelled(seed: int, n: int = 800) -> tuple[Any, Any, Any]:
    """True classes, labels of annotators of known reliability, and these reliabilities."""
    rng = np.random.default_rng(seed)
    right = np.array([0.95, 0.9, 0.6, 0.35, 0.9])
    y, L = rng.integers(0, K, n), np.full((n, 5), -1)
    for a, rate in enumerate(right):
        rows = np.arange(5) if a == 4 else rng.choice(n, n // 2, replace=False)
        wrong = rng.random(len(rows)) > rate
        L[rows, a] = (y[rows] + wrong * rng.integers(1, K, len(rows))) % K
    L[(L < 0).all(axis=1), 0] = y[(L < 0).all(axis=1)]
    return y, L, right


def test_labels_alone_beat_the_majority() -> None:
    y, L, right = labelled(0)
    opinion = consensus(L, np.full((len(y), K), 1 / K))
    accuracy = (opinion.codes == y).mean()
    assert accuracy > (majority_vote(L, K) == y).mean()
    assert opinion.confidence.mean() == pytest.approx(accuracy, abs=0.04)
    np.testing.assert_allclose(opinion.confusion.sum(axis=2), 1)
    diagonal = np.einsum("acc->ac", opinion.confusion).mean(axis=1)
    np.testing.assert_allclose(diagonal[:4], right[:4], atol=0.08)


def test_inputs_are_one_more_voice() -> None:
    y, L, _ = labelled(1)
    q = np.full((len(y), K), 0.02)
    q[np.arange(len(y)), y] = 1 - 0.02 * (K - 1)
    opinion = consensus(L, q)
    assert (opinion.codes == y).mean() > 0.98


def test_who_confuses_two_classes_is_understood() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, K, 1000)
    confused = np.where(y < 2, 1 - y, y)  # always swaps 0 and 1
    L = np.stack([confused, np.where(rng.random(1000) < 0.1, rng.integers(0, K, 1000), y)], axis=1)
    L[500:, 1] = -1
    q = np.full((1000, K), 1 / K)
    q[:500] = 0.05
    q[np.arange(500), y[:500]] = 0.85
    opinion = consensus(L, q)
    assert (opinion.codes[500:] == y[500:]).mean() > 0.95  # from the swapped labels alone


def test_reliability_has_honest_intervals() -> None:
    inside, order = [], []
    for seed in range(6):
        y, L, right = labelled(seed, 500)
        rng = np.random.default_rng(seed)
        guess = np.where(rng.random(500) < 0.7, y, (y + rng.integers(1, K, 500)) % K)
        q = np.full((len(y), K), 0.1)
        q[np.arange(len(y)), guess] = 0.7
        table = annotator_table(list("abcde"), L, q, consensus(L, q).confusion)
        actual = right[[list("abcde").index(name) for name in table["annotator"]]]
        inside += ((table["low"] <= actual) & (actual <= table["high"])).tolist()
        order.append(table["annotator"].tolist()[:2])
        assert table["differs"][0] == "fewer"
        few = table.set_index("annotator").loc["e"]
        assert few["examples"] == 5
        assert few["high"] - few["low"] > 0.2
    assert np.mean(inside) >= 0.85
    assert all(pair == ["d", "c"] for pair in order)


def test_without_predictions_annotators_are_weighed_against_each_other() -> None:
    y, L, _ = labelled(3)
    annotations = Annotations(tuple("abcde"), np.arange(K) * 10, L)
    seen = []

    def predict(labels: Any) -> Any:
        seen.append(labels)
        return np.unique(labels), None

    agreement = agree(annotations, predict)
    assert len(seen) == 2
    np.testing.assert_array_equal(seen[0], annotations.majority())
    expected = consensus(L, np.full((len(y), K), 1 / K))
    np.testing.assert_array_equal(agreement.labels, expected.codes * 10)


def test_predictions_become_probabilities_of_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    y, L, _ = labelled(4, 300)
    y, L = np.where(y == 1, 0, y), np.where(L == 1, 0, L)  # nobody says 1 but once
    L[0] = (1, 2, 2, -1, -1)
    y[0] = 2
    annotations = Annotations(tuple("abcde"), np.arange(K) * 10, L)
    judged = []

    def spied(F: Any, codes: Any) -> Any:
        judged.append((F, codes))
        return estimate_noise(F, codes)

    monkeypatch.setattr("cgscore.issues.annotators.estimate_noise", spied)
    columns = np.array([0, 20, 30])
    F = np.where(y[:, None] * 10 == columns, 1.0, -1.0)
    F[7] = np.nan  # without a prediction
    F += np.random.default_rng(0).normal(0, 0.3, F.shape)
    agreement = agree(annotations, lambda labels: (columns, F), rounds=1)
    ((seen, codes),) = judged
    assert len(seen) == len(y) - 1
    np.testing.assert_array_equal(columns[codes], np.delete(annotations.majority(), 7))
    assert (agreement.labels == y * 10).mean() > 0.97
    assert 10 not in agreement.labels


def test_a_class_that_never_wins_a_vote() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 3][:200], y[y < 3][:200]
    frame = pd.DataFrame(X).add_prefix("x").assign(a=y, b=y, c=y)
    frame.loc[5, "c"] = 7
    scores = cgscore.score(frame, annotator_columns=["a", "b", "c"], ridge="auto")
    assert scores.classes.tolist() == [0, 1, 2]
    assert (scores.table["given_label"] == y).all()


@pytest.fixture(scope="module")
def digits() -> tuple[Any, Any, Any]:
    """Digits with about two labels each."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    rng = np.random.default_rng(0)
    frame: Any = pd.DataFrame(X).add_prefix("x")
    for name, rate in (("a", 0.95), ("b", 0.8), ("c", 0.5), ("d", 0.4)):
        wrong = rng.random(500) > rate
        labels = (y + wrong * rng.integers(1, 10, 500)) % 10
        frame[name] = np.where(rng.random(500) < 0.5, labels, np.nan)
    frame["a"] = frame["a"].where(frame[list("abcd")].notna().any(axis=1), y)
    return frame, y, cgscore.score(frame, annotator_columns=list("abcd"))


def test_score_takes_the_consensus(digits: tuple[Any, Any, Any]) -> None:
    frame, y, scores = digits
    majority = np.asarray(scores.data().y)
    given = scores.table["given_label"].to_numpy()
    assert (given == y).mean() > 0.97
    assert (majority == y).mean() < 0.85
    assert scores.annotators()["annotator"].tolist() == ["d", "c", "b", "a"]
    counts = frame[list("abcd")].notna().sum(axis=1)
    assert scores.table["annotators"].tolist() == counts.tolist()
    assert scores.table["consensus_confidence"].between(0, 1).all()
    plain = cgscore.score(frame.drop(columns=list("abcd")), given)
    np.testing.assert_allclose(scores.table["cg"], plain.table["cg"])
    np.testing.assert_allclose(scores.extra("cg_prime"), plain.extra("cg_prime"))


def test_saved_with_the_result(digits: tuple[Any, Any, Any], tmp_path: Any) -> None:
    frame, _, _ = digits
    frame.to_csv(tmp_path / "t.csv", index=False)
    scores = cgscore.score(tmp_path / "t.csv", annotator_columns=list("abcd"))
    scores.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(again.annotators(), scores.annotators())
    pd.testing.assert_frame_equal(again.table, scores.table)
    assert again.data().annotations is not None  # read again by the options that are saved


def test_what_cannot_be_weighed(digits: tuple[Any, Any, Any]) -> None:
    frame = digits[0]
    with pytest.raises(OptionError, match="must be classes"):
        cgscore.score(frame, annotator_columns=list("abcd"), task="regression")
    with pytest.raises(LabelError, match="no annotator labelled"):
        cgscore.score(frame, annotator_columns=["c", "d"])
    with pytest.raises(OptionError, match=r"one label per example\. Score with annotator_columns"):
        cgscore.score(np.eye(10), np.arange(10) % 2, judge=False).annotators()


@pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")
def test_a_failure_of_judging_is_said(
    digits: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, _, _ = digits
    monkeypatch.setattr("cgscore.api._judgement", lambda *_: (None, ["It failed."]))
    scores = cgscore.score(frame, annotator_columns=list("abcd"))
    weighted = [text for text in scores.meta["warnings"] if "weighted" in text]
    assert weighted == ["Annotators are weighted without the inputs. It failed."]
