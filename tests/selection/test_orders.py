"""Which examples stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cgscore
from cgscore.errors import OptionError, ResultError, StorageError
from cgscore.selection import greedy
from cgscore.selection.orders import ORDERS, select
from cgscore.selection.quotas import class_quotas


@settings(max_examples=60)
@given(st.data())
def test_orders_keep_what_they_say(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 60))
    values = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), float)
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), np.intp)
    count = data.draw(st.integers(1, n))
    for order in ORDERS:
        kept = select(values, groups, count, order=order, seed=3)
        assert len(kept) == count == len(set(kept.tolist()))
        assert (np.diff(kept) > 0).all()
        assert (kept == select(values, groups, count, order=order, seed=3)).all()
        sizes = np.bincount(groups)
        assert (np.bincount(groups[kept], minlength=len(sizes)) == class_quotas(sizes, count)).all()
        for c in range(len(sizes)):
            inside = np.isin(np.arange(n), kept)
            stays, goes = values[(groups == c) & inside], values[(groups == c) & ~inside]
            if order == "low-first" and len(stays) and len(goes):
                assert goes.max() <= stays.min()
            if order in ("high-first", "window") and len(stays) and len(goes):
                assert goes.min() >= stays.max()


def test_ties_stay_in_the_order_of_the_input() -> None:
    values, groups = np.zeros(10), np.zeros(10, np.intp)
    assert select(values, groups, 4, order="high-first").tolist() == [0, 1, 2, 3]
    assert select(values, groups, 4, order="low-first").tolist() == [6, 7, 8, 9]
    assert select(values, groups, 4, order="window", offset=0.5).tolist() == [5, 6, 7, 8]


def test_a_window_lies_where_it_is_put() -> None:
    values, groups = np.arange(200.0)[::-1].copy(), np.arange(200) % 2
    kept = select(values, groups, 100, order="window", offset=0.2)
    for c in (0, 1):
        mine = np.sort(values[groups == c])
        assert (np.sort(values[kept[groups[kept] == c]]) == mine[20:70]).all()


def test_strata_are_drawn_as_they_are_when_few_stay_and_alike_when_most_do() -> None:
    values = np.r_[np.zeros(900), np.linspace(19, 20, 100)]
    groups = np.zeros(1000, np.intp)
    few = select(values, groups, 50, order="stratified")
    many = select(values, groups, 600, order="stratified")
    assert 2 <= (values[few] > 10).sum() <= 12  # one in ten
    assert (values[many] > 10).sum() > 90  # nearly all of the rare
    other = select(values, groups, 50, order="stratified", seed=1)
    assert set(few.tolist()) != set(other.tolist())


def test_an_infinite_score_is_the_highest() -> None:
    values, groups = np.array([1.0, np.inf, 2.0, 3.0]), np.zeros(4, np.intp)
    assert select(values, groups, 1, order="low-first").tolist() == [1]
    assert len(select(values, groups, 3, order="stratified")) == 3


def test_keep_of_scores(digits: cgscore.Scores) -> None:
    n = len(digits)
    codes, cg = digits.codes(), digits.table["cg"].to_numpy()
    kept = digits.keep(0.6)
    assert len(kept) == round(0.6 * n)
    share = np.bincount(codes[kept]) / np.bincount(codes)
    assert share.min() > 0.59
    assert share.max() < 0.61
    gone = np.setdiff1d(np.arange(n), kept)
    for c in range(10):
        assert cg[gone[codes[gone] == c]].max() <= cg[kept[codes[kept] == c]].min()
    together = digits.keep(0.6, "high-first", False)
    assert cg[together].max() <= np.delete(cg, together).min()
    assert np.ptp(np.bincount(codes[together]) / np.bincount(codes)) > 0.02
    by_margin = digits.keep(0.5, "high-first", False, by="margin")
    margin = digits.table["margin"].to_numpy()
    assert set(by_margin) == set(np.argsort(margin, kind="stable")[: len(by_margin)])
    given_values = digits.keep(0.5, "high-first", False, by=-cg)
    assert cg[given_values].min() >= np.delete(cg, given_values).max()
    assert len(digits.keep(1.0)) == n


def test_suspects_go_first(digits: cgscore.Scores) -> None:
    flagged = digits.label_issues()["is_label_issue"].to_numpy()
    assert flagged.sum() > 40
    only = digits.keep(1.0, drop_issues=True)
    assert (only == np.flatnonzero(~flagged)).all()
    part = digits.keep(0.5, drop_issues=True)
    assert len(part) == round(0.5 * len(digits))
    assert not flagged[part].any()


def test_mistakes_are_told(digits: cgscore.Scores) -> None:
    for arguments, message in (
        ({"fraction": 0}, "above 0 and at most 1"),
        ({"fraction": 1.5}, "above 0 and at most 1"),
        ({"fraction": "0.5"}, "above 0 and at most 1"),
        ({"fraction": 0.5, "seed": -1}, "got -1"),
        ({"fraction": 0.5, "seed": None}, "got None"),
        ({"fraction": 0.5, "by": ["a"] * len(digits)}, "must hold numbers"),
        ({"fraction": float("nan")}, "above 0 and at most 1"),
        ({"fraction": 0.5, "order": "best"}, "order must be one of low-first"),
        ({"fraction": 0.5, "offset": 0.1}, "order='window'"),
        ({"fraction": 0.5, "order": "window", "offset": 0.6}, "from 0 to 0.5"),
        ({"fraction": 0.5, "by": "nothing"}, "by must be an array or one of cg"),
        ({"fraction": 0.5, "by": np.zeros(3)}, r"\(3,\)"),
        ({"fraction": 0.5, "by": np.full(len(digits), np.nan)}, "no value for"),
    ):
        with pytest.raises(OptionError, match=message):
            digits.keep(**arguments)


def test_regression_is_sorted_together() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.normal(size=80)
    s = cgscore.score(X, y, task="regression", ridge=0.1)
    cg = s.table["cg"].to_numpy()
    kept = s.keep(0.25)
    assert set(kept) == set(np.argsort(cg)[-20:])
    assert len(s.keep(0.25, "window")) == 20


def test_a_ranking_keeps_the_first_of_each_class(digits: cgscore.Scores) -> None:
    n, codes = len(digits), digits.codes()
    ranked = cgscore.Scores(
        table=digits.table.assign(rank=np.random.default_rng(0).permutation(n)),
        loo=digits.loo,
        d=digits.d,
        alpha=digits.alpha,
        classes=digits.classes,
        complexity=digits.complexity,
        meta=digits.meta,
    )
    rank = ranked.table["rank"].to_numpy()
    kept = ranked.keep(0.3, "greedy")  # without the data
    assert len(kept) == round(0.3 * n)
    gone = np.setdiff1d(np.arange(n), kept)
    for c in range(10):
        assert rank[kept[codes[kept] == c]].max() < rank[gone[codes[gone] == c]].min()
    together = ranked.keep(0.3, "greedy", False)
    assert set(rank[together]) == set(range(len(together)))
    suspects = digits.label_issues()["is_label_issue"].to_numpy()
    assert not suspects[ranked.keep(0.3, "auto")].any()
    assert suspects[kept].any()
    ranked.table["rank"] = 0
    with pytest.raises(ResultError, match="is not a ranking"):
        ranked.keep(0.3, "greedy")


def test_greedy_needs_the_inputs_or_a_ranking(digits: cgscore.Scores, tmp_path: Path) -> None:
    digits.save(tmp_path / "s.parquet")
    loaded = cgscore.load(tmp_path / "s.parquet")
    for order in ("greedy", "auto"):
        with pytest.raises(OptionError, match="need the inputs or a saved ranking"):
            loaded.keep(0.2, order)
    X = np.asarray(cgscore.read("sklearn:digits").X[:900])
    kept = digits.keep(0.2, "auto", landmarks=100)
    assert (loaded.keep(0.2, "auto", data=X, landmarks=100) == kept).all()
    with pytest.raises(OptionError, match="by is for orders that sort by a score"):
        digits.keep(0.2, "greedy", by="margin")
    with pytest.raises(OptionError, match="landmarks must be 1 or larger"):
        digits.keep(0.2, "greedy", landmarks=0)


def test_greedy_predicts_better_than_random(digits: cgscore.Scores) -> None:
    wrong = np.arange(len(digits)) % 17 == 0
    ways = {
        order: digits.keep(0.08, order, landmarks=200) for order in ("random", "greedy", "auto")
    }
    reached = {order: digits.expectation(kept) for order, kept in ways.items()}
    assert reached["greedy"].kept > reached["random"].kept + 0.04
    assert reached["auto"].kept > reached["random"].kept + 0.04
    assert reached["greedy"].all == reached["auto"].all > 0.95
    assert wrong[ways["auto"]].sum() < wrong[ways["random"]].sum()
    weights = digits.weights(ways["auto"])
    assert weights.sum() == len(digits)
    assert weights.min() >= 1


def test_a_saved_ranking_serves_every_share(digits: cgscore.Scores, tmp_path: Path) -> None:
    table, meta = digits.table, dict(digits.meta)
    kept = {order: digits.keep(0.2, order, landmarks=150) for order in ("greedy", "auto")}
    try:
        digits.add_rank(landmarks=150)
        digits.save(tmp_path / "s.parquet")
        loaded = cgscore.load(tmp_path / "s.parquet")
        assert (loaded.keep(0.2, "greedy") == kept["greedy"]).all()
        assert loaded.meta["rank"]["landmarks"] == 150
        digits.add_rank(landmarks=150, drop_issues=True)
        assert (digits.keep(0.2, "auto") == kept["auto"]).all()
        suspects = digits.label_issues()["is_label_issue"].to_numpy()
        ranks = digits.table["rank"].to_numpy()
        assert ranks[suspects].min() == (~suspects).sum()
        # with suspects, or by another seed, the examples are ranked anew
        assert (digits.keep(0.2, "greedy", landmarks=150) == kept["greedy"]).all()
        assert np.isin(np.flatnonzero(suspects), digits.keep(0.99, "greedy")).any()
        assert (digits.keep(0.2, "auto", seed=3) != digits.keep(0.2, "auto")).any()
        digits.save(tmp_path / "dropped.parquet")
        dropped = cgscore.load(tmp_path / "dropped.parquet")
        with pytest.raises(OptionError, match="which the saved one leaves out"):
            dropped.keep(0.2, "greedy")
    finally:
        digits.table, digits.meta = table, meta


def test_a_ranking_resumes_from_its_checkpoint(
    digits: cgscore.Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greedy, "STRETCH", 1)
    phases = []
    options: dict[str, Any] = {"landmarks": 80, "checkpoint": tmp_path / "c"}
    whole = digits.keep(0.4, "greedy", landmarks=80)
    first = digits.keep(0.2, "greedy", **options)
    again = digits.keep(0.4, "greedy", **options, progress=lambda *at: phases.append(at))
    assert (again == whole).all()
    assert set(first) <= set(digits.keep(1.0, "greedy", landmarks=80))
    assert next(share for name, share in phases if name == "ranking" and share) > 0.2
    with pytest.raises(StorageError, match="the number of landmarks differs"):
        digits.keep(0.2, "greedy", landmarks=90, checkpoint=tmp_path / "c")


def test_a_regression_is_ranked() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.sin(2 * X[:, 0]) + 7
    s = cgscore.score(X, y, task="regression", ridge=0.1)
    greedy_share, random_share = (
        s.expectation(s.keep(0.1, order)).kept for order in ("auto", "random")
    )
    assert greedy_share > random_share + 0.05
