"""Windows found by kernel regression."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.selection.orders import select
from cgscore.selection.window import best_offset, candidate_offsets, window_qualities
from cgscore.solvers.ridge_search import least_error, ridge_sample
from cgscore.valuation import class_targets


def test_candidates_end_with_the_last_window() -> None:
    assert candidate_offsets(0.5).tolist() == pytest.approx([0.05 * i for i in range(11)])
    assert candidate_offsets(0.98).tolist() == pytest.approx([0, 0.02])
    assert candidate_offsets(0.999).tolist() == pytest.approx([0.001])
    assert candidate_offsets(1.0).tolist() == [0.0]


def test_the_best_window_predicts_best_by_refitting() -> None:
    """Against fitting anew without each kept example, and with every one left out predicted."""
    iris = cgscore.read("sklearn:iris")
    X, y = np.c_[iris.X, np.ones(len(iris))][::2], np.asarray(iris.y, np.intp)[::2]
    rows, Y = unit_rows(X), class_targets(y, 3)
    cg = cgscore.score(X, y, ridge=0.1).table["cg"].to_numpy()

    def window(offset: float) -> np.ndarray:
        return select(cg, y, 30, order="window", offset=offset)

    reached = window_qualities(rows, Y, 0.4, window, seed=0, progress=Silent())
    H = cgscore.gram(X)
    some = ridge_sample(np.argmax(Y, axis=1), 0)
    ridge = least_error(rows[some], Y[some]).ridge
    for offset, quality in reached.items():
        kept, right = window(offset), 0
        for i in range(len(y)):
            fit = kept[kept != i]
            A = np.linalg.solve(H[np.ix_(fit, fit)] + ridge * np.eye(len(fit)), Y[fit])
            right += np.argmax(H[i, fit] @ A) == y[i]
        assert quality == pytest.approx(right / len(y))
    assert len(reached) == 13


def test_a_window_leaves_wrong_labels_out(digits: cgscore.Scores) -> None:
    wrong = np.arange(len(digits)) % 17 == 0
    kept = digits.keep(0.7, "window")
    assert wrong[kept].sum() < 0.25 * wrong.sum() < 0.3 * wrong[digits.keep(0.7)].sum()
    found = digits.windows(0.7)
    best = max(found, key=lambda offset: found[offset])
    assert 0 < best < 0.3
    assert (kept == digits.keep(0.7, "window", offset=best)).all()
    cleaned = digits.windows(0.7, drop_issues=True)
    assert max(cleaned.values()) > max(found.values())  # suspects do not judge


def test_the_zero_of_numbers_decides_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(200)
    y[:20] += 5 * rng.standard_normal(20)
    rows, by = unit_rows(np.c_[X, np.ones(200)]), np.abs(y - np.median(y))

    def window(offset: float) -> np.ndarray:
        return select(by, np.zeros(200, np.intp), 80, order="window", offset=offset)

    near, far = (
        window_qualities(rows, (y + zero)[:, None], 0.4, window, seed=0, progress=Silent())
        for zero in (0, 1000)
    )
    assert near == pytest.approx(far, abs=1e-6)
    assert best_offset(near) == best_offset(far)
    scores, moved = (cgscore.score(X, y + zero, judge=False) for zero in (0, 1000))
    assert (scores.keep(0.4, "window", by=by) == moved.keep(0.4, "window", by=by)).all()
