"""Which examples stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cgscore
from cgscore.errors import OptionError
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
