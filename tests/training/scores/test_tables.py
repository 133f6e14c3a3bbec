"""Scores of any origin beside each other, harder being higher."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import DataError, LabelError, OptionError
from cgscore.training.scores.tables import SIGNS, keep, random_score, score_table


def test_higher_is_harder() -> None:
    table = score_table(
        ["a", "b", "a"], {"el2n": [0.1, 0.2, 1.3], "c_score": [0.9, 0.8, 0.1]}, ids=[7, 8, 9]
    )
    assert table.columns.tolist() == ["id", "given_label", "el2n", "c_score"]
    assert table["id"].tolist() == [7, 8, 9]
    assert table["el2n"].tolist() == [0.1, 0.2, 1.3]
    assert table["c_score"].tolist() == [-0.9, -0.8, -0.1]  # the third is the hardest of both
    assert {name for name, sign in SIGNS.items() if sign < 0} == {"c_score", "margin"}


def test_beside_a_result(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    scores = cgscore.score(X, y)
    margin = scores.table["margin"].to_numpy()
    table = score_table(scores, {"margin": margin, "random": random_score(60, 1)})
    assert table.columns.tolist() == ["id", "given_label", "cg", "partial", "margin", "random"]
    assert (table["cg"] == scores.table["cg"]).all()
    assert (table["margin"] == -margin).all()
    for order in ("low-first", "high-first", "stratified"):
        assert (keep(table, 0.4, order, by="cg", seed=2) == scores.keep(0.4, order, seed=2)).all()
    window = keep(table, 0.4, "window", per_class=False, by="cg", offset=0.2)
    assert (window == scores.keep(0.4, "window", per_class=False, offset=0.2)).all()
    assert (keep(table, 0.5, by="margin") == scores.keep(0.5, by=-margin)).all()
    with pytest.raises(OptionError, match="has its own ids"):
        score_table(scores, {}, ids=np.arange(60))


def test_random_is_an_order_of_its_seed() -> None:
    assert sorted(random_score(9, 0)) == list(range(9))
    assert random_score(9, 0).tolist() == random_score(9, 0).tolist() != random_score(9, 1).tolist()


def test_wrong_arguments() -> None:
    with pytest.raises(OptionError, match=r"must have names among .* got 'beauty'"):
        score_table([0, 1], {"beauty": [1, 2]})
    with pytest.raises(DataError, match="each of the 2"):
        score_table([0, 1], {"el2n": [1, 2, 3]})
    with pytest.raises(LabelError, match="each of the 2 labels"):
        score_table([0, 1], {}, ids=[1])
    table = score_table([0, 1], {"el2n": [1, np.nan]})
    with pytest.raises(OptionError, match="no value for 1"):
        keep(table, 0.5, by="el2n")
    for by in ("id", "grand"):
        with pytest.raises(OptionError, match=r"score of the table \(el2n\)"):
            keep(table, 0.5, by=by)
