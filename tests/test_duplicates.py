"""Identical rows against the limit of a vanishing ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.duplicates import find_groups
from cgscore.errors import CGScoreWarning, DuplicateRowsError
from cgscore.kernel import unit_rows
from cgscore.solvers import reference

FINITE = ["cg", "first_term", "partial", "third_term", "residual", "margin"]


def repeated(copies: dict[int, list[int]], seed: int = 0) -> Any:
    """Thirty rows of which some are copies (scaled) of others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6))
    for first, later in copies.items():
        for row in later:
            X[row] = X[first] * rng.uniform(0.3, 3)
    return X


def limit(X: Any, Y: Any, ridge: float) -> tuple[Any, Any]:
    """alpha and d with a small ridge, by brute force."""
    inverse = np.linalg.inv(cgscore.gram(X) + ridge * np.eye(len(X)))
    return inverse @ Y, np.diag(inverse)


def test_groups_are_found_whatever_the_scale() -> None:
    X = repeated({3: [10, 25], 0: [29]})
    groups = find_groups(unit_rows(X))
    expected = np.arange(30)
    expected[[10, 25]] = 3
    expected[29] = 0
    np.testing.assert_array_equal(groups.first, expected)
    assert groups.sizes.sum() == 30
    assert groups.copies.tolist() == [10, 25, 29]


def test_near_duplicates_are_not_duplicates() -> None:
    X = repeated({})
    X[5] = X[4] + 1e-12
    assert not len(find_groups(unit_rows(X)).copies)


def test_thousands_of_copies_are_one_group() -> None:
    X = np.tile(np.arange(1.0, 8), (5000, 1))
    groups = find_groups(unit_rows(X))
    assert (groups.first == 0).all()


def test_copies_that_agree() -> None:
    X, y = repeated({3: [10, 25]}), np.arange(30) % 3
    y[[3, 10, 25]] = 1
    with pytest.warns(CGScoreWarning, match="2 rows are identical.* 10 repeats 3, 25 repeats 3"):
        s = cgscore.score(X, y)
    single = np.delete(np.arange(30), [10, 25])
    alone = cgscore.score(X[single], y[single])
    # everybody else, and the first copy, as if the later copies were not there
    np.testing.assert_allclose(s.table[FINITE].iloc[single], alone.table[FINITE], rtol=1e-7)
    np.testing.assert_allclose(s.loo[single], alone.loo, atol=1e-9)
    for copy in (10, 25):
        row = s.table.iloc[copy]
        assert row[["cg", "first_term", "partial", "third_term"]].tolist() == [0, 0, 0, 0]
        np.testing.assert_array_equal(s.loo[copy], s.loo[3])
        assert row["margin"] == s.table["margin"][3]
        assert row["predicted_label"] == s.table["predicted_label"][3]
        assert row["duplicate_of"] == 3
    assert s.table["duplicate_of"].isna().sum() == 28
    assert s.complexity == pytest.approx(alone.complexity)
    # the first copy's score is the gap when the whole group goes, in the limit
    target = np.where(y == 1, 1.0, -1.0)
    H = cgscore.gram(X) + 1e-7 * np.eye(30)
    assert s.table["cg"][3] == pytest.approx(reference.gap(H, target, [3, 10, 25]), rel=1e-4)


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1], [0, 0, 1, 1], [0, 1, 2], [2, 2, 2, 0]])
def test_copies_that_contradict_each_other(labels: list[int]) -> None:
    members = [4, 11, 17, 22][: len(labels)]
    X, y = repeated({4: members[1:]}), np.arange(30) % 3
    y[members] = labels
    with pytest.warns(CGScoreWarning) as caught:
        s = cgscore.score(X, y)
    assert any("different labels: 4, 11" in str(one.message) for one in caught)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    alpha, d = limit(X, Y, 1e-8)
    own_alpha = alpha[np.arange(30), y]
    rest = np.setdiff1d(np.arange(30), members)
    np.testing.assert_allclose(s.loo, Y - alpha / d[:, None], atol=1e-5)
    np.testing.assert_allclose(s.table["cg"][rest], (own_alpha**2 / d)[rest], rtol=1e-4, atol=1e-5)
    partial = 2 * (own_alpha - d)
    np.testing.assert_allclose(s.table["partial"][rest], partial[rest], rtol=1e-4, atol=1e-4)
    for row in members:
        found = s.table.iloc[row]
        assert found["cg"] == np.inf
        assert found["third_term"] == np.inf
        others = Y[[one for one in members if one != row]].mean(axis=0)
        np.testing.assert_allclose(s.loo[row], others)
        assert found["residual"] == 1 - others[y[row]]
        if others[y[row]] == 0:  # evenly split: the partial score has a finite limit
            assert found["first_term"] == 0
            # a larger ridge: the difference of two large numbers loses digits
            a, diagonal = limit(X, Y, 1e-5)
            assert found["partial"] == pytest.approx(2 * (a[row, y[row]] - diagonal[row]), rel=1e-3)
        else:
            assert found["first_term"] == np.inf
            assert found["partial"] == np.copysign(np.inf, partial[row])
    for c in range(3):
        torn = len({label == c for label in labels}) == 2
        assert (s.complexity[c] == np.inf) == torn
    assert s.meta["duplicates"]["conflicting_rows"] == len(members)


def test_with_a_ridge_copies_are_ordinary_rows() -> None:
    X, y = repeated({3: [10]}), np.arange(30) % 3
    s = cgscore.score(X, y, ridge=0.1)
    R = cgscore.gram(X) + 0.1 * np.eye(30)
    expected = reference.cg(R, np.where(y == 0, 1.0, -1.0))
    np.testing.assert_allclose(s.table["cg"][y == 0], expected[y == 0], rtol=1e-8)
    assert s.table["duplicate_of"][10] == 3
    assert s.meta["duplicates"] == {"copies": 1, "conflicting_rows": 0, "merged": False}


def test_error_names_the_rows() -> None:
    X = repeated({3: [10]})
    with pytest.raises(DuplicateRowsError, match="10 repeats 3"):
        cgscore.score(X, np.arange(30) % 3, duplicates="error")


def test_regression_copies_carry_their_mean() -> None:
    X, t = repeated({3: [10]}), np.random.default_rng(1).standard_normal(30)
    with pytest.warns(CGScoreWarning):
        s = cgscore.score(X, t, task="regression")
    alpha, d = limit(X, t[:, None], 1e-8)
    rest = np.setdiff1d(np.arange(30), [3, 10])
    np.testing.assert_allclose(s.loo, t[:, None] - alpha / d[:, None], atol=1e-5)
    np.testing.assert_allclose(s.table["cg"][rest], (alpha[:, 0] ** 2 / d)[rest], rtol=1e-3)
    assert s.loo[3, 0] == pytest.approx(t[10])
    assert np.isinf(s.table["cg"][[3, 10]]).all()


def test_an_even_split_of_many_copies_is_exact() -> None:
    for count in (49, 103, 107):
        X = np.vstack([np.random.default_rng(0).standard_normal((30, 6)), np.ones((count, 6))])
        y = np.arange(30 + count) % 2
        with pytest.warns(CGScoreWarning):
            s = cgscore.score(X, y)
        row = 30 + (0 if (y[30:] == y[30]).sum() > count // 2 else 1)  # of the larger half
        assert s.table["first_term"][row] == 0
        assert np.isfinite(s.table["partial"][row])
        assert s.loo[row].tolist() == [0, 0]


def test_copies_share_the_accumulated_error() -> None:
    X, y = repeated({3: [10]}), np.arange(30) % 2
    y[10] = y[3]
    with pytest.warns(CGScoreWarning):
        found = cgscore.score(X, y).extra("accumulated_error")["accumulated_error"]
    alpha, _ = limit(X, np.where(y == y[3], 1.0, -1.0)[:, None], 1e-7)
    np.testing.assert_allclose(found[[3, 10]], alpha[[3, 10], 0], rtol=1e-4)


def test_regression_targets_of_copies_in_special_places() -> None:
    X, t = (
        repeated({4: [11, 17], 5: [20], 6: [25, 26]}),
        np.random.default_rng(1).standard_normal(30),
    )
    t[[4, 11, 17]] = 1, 3, 2  # the last is the mean of the others
    t[[5, 20]] = 0, 3
    t[[6, 25, 26]] = 0.1  # agree, though 3 * 0.1 / 3 is not 0.1
    with pytest.warns(CGScoreWarning):
        s = cgscore.score(X, t, task="regression")
    assert s.table["cg"][[4, 11, 17]].tolist() == [np.inf, np.inf, 0]
    assert s.table.loc[5, ["third_term", "partial"]].tolist() == [0, 0]
    assert s.table["cg"][[5, 20]].tolist() == [np.inf, np.inf]
    assert np.isfinite(s.table["cg"][6])
    assert s.table["cg"][[25, 26]].tolist() == [0, 0]
    alpha, _ = limit(X, t[:, None], 1e-6)
    found = s.extra("accumulated_error")["accumulated_error"]
    assert found[17] == pytest.approx(alpha[17, 0], rel=1e-2)
    assert found[6] == pytest.approx(alpha[6, 0], rel=1e-2)
