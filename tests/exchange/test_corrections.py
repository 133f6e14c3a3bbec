"""Corrections against their result, and the log; files of tools are in `test_hostile`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError, SourceError
from cgscore.exchange.captions import Captions
from cgscore.exchange.corrections import check_corrections
from cgscore.exchange.renewal import record, renewed
from cgscore.exchange.stamp import parse_stamp, stamp_of
from cgscore.exchange.tool import Correction
from cgscore.review.decisions import Decisions
from cgscore.review.session import Review
from tests.exchange.data import numbers


@pytest.fixture(scope="module")
def scores() -> cgscore.Scores:
    X = np.random.default_rng(0).standard_normal((60, 4)) + 4 * np.eye(3, 4)[np.arange(60) % 3]
    return cgscore.score(X, np.array(list("abc" * 20)), ridge=0.1)


def checked(scores: cgscore.Scores, *rows: tuple[Any, Any, Any], skip_bad: bool = False) -> Any:
    stamp = stamp_of(scores)
    corrections = [
        Correction(f"row {i}", stamp, position, name, label)
        for i, (position, name, label) in enumerate(rows)
    ]
    return check_corrections(scores, corrections, Path("file"), Captions(scores), skip_bad=skip_bad)


def test_positions_and_ids_are_recognised_as_they_come_back(scores: cgscore.Scores) -> None:
    rows = [(0, "0", "a"), ("1", "1.0", "b"), (2.0, 2, "c"), (None, "3", "a"), ("", 4, "b")]
    assert checked(scores, *rows).labels == {0: 0, 1: 1, 2: 2, 3: 0, 4: 1}


def test_a_conflict_takes_both_out(scores: cgscore.Scores) -> None:
    rows = [(0, "0", "a"), (0, "0", "b"), (0, "0", "a"), (1, "1", "c")]
    found = checked(scores, *rows, skip_bad=True)
    assert found.labels == {1: 2}
    assert found.refused == 2
    with pytest.raises(SourceError, match=r"2 corrections do not fit .* Nothing was imported"):
        checked(scores, *rows)


def test_repeated_ids_need_positions() -> None:
    data = cgscore.read(np.random.default_rng(0).standard_normal((40, 3)), labels=["a", "b"] * 20)
    object.__setattr__(data, "ids", np.array(["same"] * 40))
    scores = cgscore.score(data, ridge=0.1)
    assert checked(scores, (5, "same", "a")).labels == {5: 0}
    with pytest.raises(SourceError, match="several examples are called 'same'"):
        checked(scores, (None, "same", "a"))


def test_numbers(tmp_path: Path) -> None:
    scores = cgscore.load(numbers(tmp_path).scored())
    name = "row 0/x"
    for text, value in (("1.5", 1.5), (2, 2.0), (" -1e3 ", -1000.0)):
        assert checked(scores, (0, name, text)).labels == {0: value}
    for bad in ("nan", float("inf"), "1e999", "x", None, True, [1], 10**400):
        with pytest.raises(SourceError, match="is not a finite number"):
            checked(scores, (0, name, bad))


def test_a_stamp_is_of_one_result(scores: cgscore.Scores) -> None:
    assert parse_stamp(stamp_of(scores)) == (1, scores.meta["fingerprint"])
    for text in (None, 1, "", "cgscore-0-" + "0" * 32, stamp_of(scores) + "0"):
        assert parse_stamp(text) is None
    other = cgscore.score(scores.data().X, np.array(list("acb" * 20)), ridge=0.1)
    correction = Correction("row 0", stamp_of(other), 0, "0", "a")
    with pytest.raises(OptionError, match=r"fingerprint .* Inputs, labels or ids differ"):
        check_corrections(scores, [correction], Path("file"), Captions(scores))


def test_the_log_takes_all_or_nothing_and_nothing_twice(
    scores: cgscore.Scores, tmp_path: Path
) -> None:
    with closing(Decisions(tmp_path / "log", scores.meta["fingerprint"])) as decisions:
        review = Review(scores, None, decisions)
        given = review.given
        first = record(review, {0: int(given[0]), 1: int((given[1] + 1) % 3)})
        assert (first.kept, first.accepted + first.changed, first.known) == (1, 1, 0)
        again = record(review, {0: int(given[0]), 2: int(given[2])})
        assert (again.kept, again.known, again.replaced) == (1, 1, 0)
        other = record(review, {1: int(given[1])})
        assert (other.kept, other.replaced) == (1, 1)
        with pytest.raises(OptionError, match="label must be a class"):
            record(review, {3: int(given[3]), 4: 99})
        assert set(review.decisions.current()) == {0, 1, 2}


@pytest.mark.parametrize(
    "options",
    [
        {"ridge": "auto"},
        {"ridge": 0.0},
        {"ridge": 0.0, "judge": False},
        {"method": "subsample", "ridge": 0.2, "runs": 3, "ratio": 3, "seed": 5},
        {"method": "subsample", "ridge": 0.2, "seed": 5},
        {"method": "partition", "ridge": 0.2, "runs": 3},
        {"method": "exact", "ridge": 0.2, "dtype": "float32"},
        {"method": "lowrank", "ridge": "auto", "landmarks": 20},
        {"method": "lowrank", "ridge": 0.2, "landmarks": 20, "keep_predictions": False},
    ],
)
@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_scores_are_renewed_as_they_were_made(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 6)) + 2 * np.eye(3, 6)[y]
    before = cgscore.score(X, y, **options)
    labels = np.where(np.arange(60) == 7, 0, y)
    after = renewed(before, before.data(), labels)
    expected = cgscore.score(X, labels, **options)
    assert np.array_equal(after.table["cg"], expected.table["cg"], equal_nan=True)
    assert (after.judged_loo is None) == (expected.judged_loo is None)
    assert after.meta["source_fingerprint"] == before.meta["fingerprint"]
    assert (after.meta.get("verdicts") is None) == (expected.meta.get("verdicts") is None)
    once_more = renewed(after, after.data(), y)
    assert once_more.meta["source_fingerprint"] == before.meta["fingerprint"]


@pytest.mark.parametrize("copies", [0, 40])
@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_landmarks_are_those_of_before(copies: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 6)) + 2 * np.eye(3, 6)[y]
    X[:copies] = X[np.arange(copies) % 3]
    for number in (20, None):
        before = cgscore.score(X, y, method="lowrank", ridge=0.2, landmarks=number)
        assert (before.meta["landmarks"] < (number or 90)) == bool(copies)
        after = renewed(before, before.data(), y)
        assert after.meta["landmarks"] == before.meta["landmarks"]
        assert after.table["margin"].tolist() == before.table["margin"].tolist()


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_a_target_is_kept() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.standard_normal((300, 6)) + 2 * np.eye(3, 6)[y]
    for target in (0.9999, None):
        before = cgscore.score(X, y, method="iterative", ridge=0.2, target=target, judge=False)
        after = renewed(before, before.data(), y)
        assert after.meta["audit"]["target"] == before.meta["audit"]["target"]
        assert after.meta["blocks"] == before.meta["blocks"]
