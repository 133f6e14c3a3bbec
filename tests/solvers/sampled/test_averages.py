"""Means and standard errors over tasks, against a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data import read
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers.sampled import subsample
from tests.solvers.sampled.naive import naive

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_every_mean_and_error_against_a_plain_loop(uneven: Any) -> None:
    X, y = uneven
    ratio, runs = 1.5, 7
    s = cgscore.score(X, y, method="subsample", ratio=ratio, runs=runs, seed=3)
    slots = shared_problem(Inputs(read(X, labels=y), ridge=0.0).labelled(), 3)[0].slots
    counts = [60, 25, 12, 3]
    draws = subsample.draws(counts, 100, 12, ratio, runs)
    found: dict[str, list[Any]] = {name: [[] for _ in y] for name in ("cg", "partial", "third")}
    loo: list[list[list[float]]] = [[[] for _ in range(4)] for _ in y]
    for draw in draws:
        rows = subsample.chosen(slots, draw, 3)
        for c in draw.classes:
            target = np.where(y[rows] == "abcd"[c], 1.0, -1.0)
            alpha, d, cg = naive(X[rows], target)
            for i, row in enumerate(rows):
                loo[row][c].append(target[i] - alpha[i] / d[i])
                if y[row] == "abcd"[c]:
                    found["cg"][row].append(cg[i])
                    found["partial"][row].append(2 * (alpha[i] - d[i]))
                    found["third"][row].append(d[i])
    table = s.table
    for column, name in (("cg", "cg"), ("partial", "partial"), ("third_term", "third")):
        means = [np.mean(values) for values in found[name]]
        np.testing.assert_allclose(table[column], means, rtol=1e-9)
        sampled = np.array([len(values) > 1 for values in found[name]])
        errors = [np.std(v, ddof=1) / np.sqrt(len(v)) for v in found[name] if len(v) > 1]
        np.testing.assert_allclose(table[f"{column}_std_error"][sampled], errors, rtol=1e-7)
        assert (table[f"{column}_std_error"][~sampled] == 0).all()  # class a against everybody
    assert table["runs"].tolist() == [len(values) for values in found["cg"]]
    drawn = np.array([[len(values) for values in row] for row in loo])
    assert table["least_drawn"].tolist() == drawn.min(axis=1).tolist()
    for row, each in enumerate(loo):
        for c, values in enumerate(each):
            if values:
                assert s.loo[row, c] == pytest.approx(np.mean(values), rel=1e-9)
            else:
                assert np.isnan(s.loo[row, c])
    missing = (drawn == 0).any(axis=1)
    assert 0 < missing.sum() < 100
    assert table["margin"].isna().tolist() == missing.tolist()
    assert table["predicted_label"].isna().tolist() == missing.tolist()
    total = table[["first_term", "partial", "third_term"]].sum(axis=1)
    np.testing.assert_allclose(total, table["cg"], rtol=1e-9, atol=1e-12)
    assert s.meta["runs_of_class"] == {"a": 1, "b": 7, "c": 7, "d": 7}
