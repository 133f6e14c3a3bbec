"""The estimator whose classes share one draw, against exact scores of each problem by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import DataError, OptionError
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import (
    TERMS,
    SharedDraw,
    average_terms,
    draw_balanced,
    draw_size,
    shared_run,
)

N, K = 240, 4


@pytest.fixture(scope="module")
def points() -> tuple[Any, Any]:
    """Overlapping classes, shuffled."""
    rng = np.random.default_rng(5)
    codes = rng.permutation(np.repeat(np.arange(K), N // K))
    return rng.standard_normal((N, 12)) + np.eye(K, 12)[codes], codes


def flipped(codes: Any, rate: float) -> Any:
    """Labels of which a share is moved to the next class."""
    given = codes.copy()
    wrong = np.random.default_rng(2).choice(N, round(rate * N), replace=False)
    given[wrong] = (given[wrong] + 1) % K
    return given


@pytest.fixture(scope="module")
def drawn(points: tuple[Any, Any]) -> Any:
    return draw_balanced(points[1], [40, 120], np.random.default_rng(1))


@pytest.fixture(scope="module")
def shared(points: tuple[Any, Any], drawn: Any) -> SharedDraw:
    return SharedDraw.factor(unit_rows(points[0]), drawn, Silent())


@pytest.mark.parametrize("size", [40, 80, 120])
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("chosen", range(K))
def test_each_class_has_the_exact_scores_of_its_problem(
    points: tuple[Any, Any], drawn: Any, shared: SharedDraw, size: int, rate: float, chosen: int
) -> None:
    """Class c is scored among the first `size` of those drawn and all of its own, c against all."""
    X, codes = points
    given = flipped(codes, rate)
    found = shared.terms(given, size, Silent())
    problem = np.union1d(drawn[:size], np.flatnonzero(given == chosen))
    mine = given[problem] == chosen
    exact = cgscore.score(X[problem], mine, method="exact", judge=False, progress=False)
    table = exact.table.assign(cg_prime=exact.extra("cg_prime", data=X[problem])["cg_prime"])
    for name in TERMS:
        ours, theirs = found[name][problem[mine]], table[name].to_numpy()[mine]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5 * np.abs(theirs).max())


def test_a_ridge_is_that_of_exact_scores(points: tuple[Any, Any], drawn: Any) -> None:
    X, codes = points
    found = SharedDraw.factor(unit_rows(X), drawn, Silent(), ridge=0.1).terms(codes, 120, Silent())
    problem = np.union1d(drawn, np.flatnonzero(codes == 1))
    mine = codes[problem] == 1
    exact = cgscore.score(X[problem], mine, method="exact", ridge=0.1, progress=False)
    table = exact.table.assign(cg_prime=exact.extra("cg_prime", data=X[problem])["cg_prime"])
    for name in TERMS:
        ours, theirs = found[name][problem[mine]], table[name].to_numpy()[mine]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5 * np.abs(theirs).max())


def test_every_example_is_scored(points: tuple[Any, Any], shared: SharedDraw) -> None:
    found = shared.terms(points[1], 120, Silent())
    assert set(found) == set(TERMS)
    assert all(np.isfinite(values).all() and values.shape == (N,) for values in found.values())


def test_all_drawn_is_the_exact_score(points: tuple[Any, Any]) -> None:
    X, codes = points
    every = draw_balanced(codes, [N], np.random.default_rng(0))
    found = SharedDraw.factor(unit_rows(X), every, Silent()).terms(codes, N, Silent())
    exact = cgscore.score(X, codes, method="exact", judge=False, progress=False).table
    np.testing.assert_allclose(found["partial"], exact["partial"], rtol=0, atol=1e-3)
    cg = found["first_term"] + found["partial"] + found["third_term"]
    np.testing.assert_allclose(cg, exact["cg"], rtol=0, atol=1e-3)


def test_progress_reaches_its_end(points: tuple[Any, Any], drawn: Any) -> None:
    from cgscore.execution.progress import Calls

    heard: dict[str, float] = {}
    progress = Calls(heard.__setitem__)
    SharedDraw.factor(unit_rows(points[0]), drawn, progress).terms(points[1], 120, progress)
    assert heard == {name: pytest.approx(1) for name in ("kernel", "factor", "classes")}


@pytest.mark.parametrize("where", ["both drawn", "one drawn", "none drawn"])
def test_copies_are_refused(points: tuple[Any, Any], drawn: Any, where: str) -> None:
    X, codes = points[0].copy(), points[1].copy()
    left = np.setdiff1d(np.arange(N), drawn)
    same = left[codes[left] == codes[left[0]]]
    a, b = {
        "both drawn": (drawn[0], drawn[5]),
        "one drawn": (drawn[0], left[0]),
        "none drawn": (same[0], same[1]),
    }[where]
    X[b] = X[a]
    with pytest.raises(DataError, match=r"not positive definite at example \d+.*copies another"):
        SharedDraw.factor(unit_rows(X), drawn, Silent()).terms(codes, 120, Silent())


@pytest.mark.parametrize("size", [0, 121])
def test_sizes_that_were_not_drawn(points: tuple[Any, Any], shared: SharedDraw, size: int) -> None:
    with pytest.raises(OptionError, match="size must be from 1 to 120"):
        shared.terms(points[1], size, Silent())


def test_draws_are_balanced_in_every_prefix() -> None:
    codes = np.repeat(np.arange(5), [30, 40, 50, 60, 70])
    sizes = [25, 75, 150]
    found = draw_balanced(codes, sizes, np.random.default_rng(0))
    assert len(found) == len(set(found.tolist())) == 150
    for size in range(5, 151, 5):
        assert (np.bincount(codes[found[:size]], minlength=5) == size // 5).all()
    np.testing.assert_array_equal(found[:25], draw_balanced(codes, [25], np.random.default_rng(0)))
    assert (found != draw_balanced(codes, sizes, np.random.default_rng(1))).any()


def test_draws_that_are_too_large() -> None:
    with pytest.raises(
        OptionError, match=r"62 examples needs 31 of every class; the smallest class has 30"
    ):
        draw_balanced(np.repeat([0, 1], [30, 90]), [62], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("n", "k", "ratio", "size"),
    [(50_000, 10, 1, 5_560), (50_000, 10, 4, 22_220), (60_000, 10, 3, 20_000)],
)
def test_sizes_give_every_class_its_ratio(n: int, k: int, ratio: int, size: int) -> None:
    assert draw_size(n, k, ratio) == size
    others = size - size // k
    assert others == pytest.approx(ratio * n / k, rel=1e-3)


def test_means_over_runs_are_those_of_exact_scores(points: tuple[Any, Any]) -> None:
    """Each run has its own draw; class c is scored among it and all of its own."""
    X, codes = points
    given, size = flipped(codes, 0.2), draw_size(N, K, 1)
    means = average_terms(unit_rows(X), codes, 1, 3, seed=7, labels=given)
    total = np.zeros(N)
    for run in range(3):
        drawn = draw_balanced(codes, [size], np.random.default_rng([7, run]))
        for c in range(K):
            problem = np.union1d(drawn, np.flatnonzero(given == c))
            mine = given[problem] == c
            exact = cgscore.score(
                X[problem], mine, method="exact", judge=False, progress=False
            ).table
            total[problem[mine]] += exact["partial"].to_numpy()[mine]
    scale = np.abs(total / 3).max()
    np.testing.assert_allclose(means["partial"], total / 3, rtol=0, atol=2e-5 * scale)


def test_a_run_has_the_terms_of_each_ratio(points: tuple[Any, Any]) -> None:
    """A run for one ratio has the bits of the mean over that run alone."""
    X, codes = points
    run = shared_run(unit_rows(X), codes, [1], seed=7, run=0)
    means = average_terms(unit_rows(X), codes, 1, 1, seed=7)
    assert list(run.sizes) == [1]
    for name in TERMS:
        np.testing.assert_array_equal(run.terms(codes, 1)[name], means[name])
