"""What the audit of the iterative method claims, on data that are hard for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import cgscore
from cgscore.errors import CGScoreWarning, ConvergenceError, SingularKernelError
from cgscore.execution import machine
from cgscore.execution.progress import ignore
from cgscore.kernel import unit_rows
from cgscore.methods import METHODS
from cgscore.methods import auto as choice
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.audit import (
    Audited,
    measure,
    rank_correlation,
    strata,
    top_count,
    uncertain,
)
from cgscore.solvers.iterative.block_bounds import similar_blocks_and_seams
from cgscore.valuation import valuation


def few_columns(p: int, n: int = 800) -> tuple[Any, Any]:
    """Rows in all directions, so that many have an opposite one, and three classes."""
    rng = np.random.default_rng(p)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, 3)) + 0.3 * rng.standard_normal((n, 3))).argmax(axis=1)


def clusters(same_class: bool, count: int = 80, copies: int = 8) -> tuple[Any, Any]:
    """Groups of examples at a distance of 1e-3."""
    rng = np.random.default_rng(7)
    centre = np.repeat(np.arange(count), copies)[rng.permutation(count * copies)]
    X = rng.standard_normal((count, 20))[centre] + 1e-3 * rng.standard_normal((len(centre), 20))
    return X, rng.integers(0, 4, count)[centre] if same_class else rng.integers(0, 4, len(centre))


def overlap(found: Any, true: Any) -> float:
    """The share of the true top percent that was found."""
    m = top_count(len(true))
    return len(np.intersect1d(np.argsort(-found)[:m], np.argsort(-true)[:m])) / m


HARD = {
    "3 columns": few_columns(3),
    "6 columns": few_columns(6),
    "clusters of one class": clusters(same_class=True),
    "clusters of any class": clusters(same_class=False),
}


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
@pytest.mark.parametrize("kind", HARD)
def test_claims_hold_on_hard_data(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw of the audit; as intervals of 95 % they miss the truth for some other seeds."""
    X, y = HARD[kind]
    monkeypatch.setattr(iterative, "parts", lambda n: 2)
    true = cgscore.score(X, y, method="exact")
    found = cgscore.score(X, y, method="iterative")
    audit = found.meta["audit"]
    for column, key in (("cg", "rank_correlation"), ("margin", "rank_correlation_margin")):
        value = rank_correlation(found.table[column].to_numpy(), true.table[column].to_numpy())
        low, high = audit[f"{key}_interval"]
        assert low < value < high
        assert low <= audit[key] <= high
    low, high = audit["top_percent_interval"]
    assert low <= overlap(found.table["cg"].to_numpy(), true.table["cg"].to_numpy()) <= high
    assert low <= audit["top_percent"] <= high
    wrong = np.flatnonzero(np.abs(np.log(found.d / true.d)) > np.log(2))
    assert set(wrong) <= set(audit["uncertain"]["positions"])
    assert len(wrong) <= 2


@pytest.mark.parametrize("sides", ["one side of the origin", "all around"])
def test_near_duplicates_meet_in_a_block_or_at_a_cut(sides: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 4))
    if sides == "one side of the origin":
        X = np.abs(X)
    pairs = X + 1e-4 * rng.standard_normal(X.shape)
    if sides == "all around":
        pairs[::2] *= -1  # the kernel takes opposite rows for near-duplicates
    blocks, seams = similar_blocks_and_seams(unit_rows(np.vstack([X, pairs])), 8)
    assert sorted(np.concatenate(blocks)) == list(range(1000))
    assert len(seams) == 7
    assert max(map(len, seams)) <= 1000 / 16  # they cost little
    together = np.zeros(500, bool)
    for part in [*blocks, *seams]:
        together |= np.isin(np.arange(500), part) & np.isin(np.arange(500, 1000), part)
    assert together.all()


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
@pytest.mark.parametrize(("p", "pairs", "distance"), [(20, 44, 1e-5), (50, 44, 2e-3)])
def test_few_opposite_pairs_are_marked(
    p: int, pairs: int, distance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both bounds of their d agree and are thousands of times too small."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, p))
    X[:pairs] = -X[500 : 500 + pairs] + distance * rng.standard_normal((pairs, p))
    y = rng.integers(0, 3, 1000)
    monkeypatch.setattr(iterative, "parts", lambda n: 8)
    true = cgscore.score(X, y, method="exact")
    found = cgscore.score(X, y, method="iterative")
    marked = set(found.meta["audit"]["uncertain"]["positions"])
    wrong = set(np.flatnonzero(np.abs(np.log(found.d / true.d)) > np.log(3)))
    assert wrong <= marked
    assert {*range(pairs), *range(500, 500 + pairs)} <= marked
    assert len(marked) <= 2 * pairs + 5


def test_rare_large_errors_are_seen_by_strata() -> None:
    """2 % of the examples have a d that is wrong by a factor of 3, and bounds that are apart."""
    rng = np.random.default_rng(2)
    n = 3000
    codes = rng.integers(0, 2, n)
    Y = np.where(codes[:, None] == np.arange(2), 1.0, -1.0)
    d = np.exp(rng.normal(2, 0.3, n))
    alpha = rng.normal(0, 3, (n, 2))
    wrong = rng.choice(n, 60, replace=False)
    estimate = d * np.exp(rng.normal(0, 0.01, n))
    estimate[wrong] /= 3
    bounds = np.column_stack([estimate, 0.9 * estimate])
    bounds[wrong, 1] /= 1.5
    cg, mine = valuation(Y, codes, alpha, estimate).cg, alpha[np.arange(n), codes]
    true = rank_correlation(mine**2 / d, cg)
    drawn = np.setdiff1d(rng.choice(n, 70, replace=False), wrong)[:60]  # none of them by chance

    def claim(rows: Any, stratum: Any) -> Any:
        audited = Audited(rows, d[rows], alpha[rows])
        rng = np.random.default_rng(0)
        return measure(Y, codes, alpha, estimate, audited, estimate[rows], rng, stratum, 60)

    stratum = strata(cg, estimate, bounds)
    assert np.isin(stratum[wrong], (1, 2)).mean() == 1
    assert np.array_equal(np.sort(np.argsort(-cg)[:90]), np.flatnonzero(stratum == 1))
    more = [
        rng.choice(np.setdiff1d(np.flatnonzero(stratum == s), drawn), 24, False) for s in (1, 2)
    ]
    rows = np.concatenate([drawn, *more])
    low, high = claim(rows, stratum)["rank_correlation_interval"]
    assert low < true < high
    assert claim(drawn, None)["rank_correlation_interval"][0] > true  # what it was before
    low, high = claim(rows, stratum)["top_percent_interval"]
    assert low <= overlap(cg, mine**2 / d) <= high


def test_what_is_uncertain_is_listed() -> None:
    bounds = np.ones((5000, 2))
    bounds[1000:4000, 1] = 3.1
    audited = Audited(np.array([5, 6]), np.array([1.6, 1.4]), np.zeros((2, 1)))
    found = uncertain(bounds, audited, np.ones(2))
    assert found["count"] == 3001
    assert found["positions"] == [5, *range(1000, 1999)]
    assert found["share"] == 0.6
    suspected = np.arange(5000) == 2
    assert uncertain(bounds, audited, np.ones(2), suspected)["positions"][:2] == [2, 5]


def test_uncertain_examples_are_named_by_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((900, 20))
    X[100] = X[0]  # merged, so that solvers count differently from the caller
    X[450:480] = X[400:430] + 1e-3 * rng.standard_normal((30, 20))
    monkeypatch.setattr(iterative, "parts", lambda n: 4)
    with (
        pytest.warns(CGScoreWarning, match="1 rows are identical"),
        pytest.warns(CGScoreWarning, match=r"of \d+ examples are uncertain.*Rows 4\d\d"),
    ):
        found = cgscore.score(X, np.arange(900) % 4, method="iterative")
    marked = found.meta["audit"]["uncertain"]
    assert marked["count"] == len(marked["positions"]) > 20
    assert set(marked["positions"]) <= {*range(400, 430), *range(450, 480)}
    assert any("uncertain" in note for note in found.meta["warnings"])


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Data that consist of near-duplicates, most of which random blocks tear apart."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((300, 20))
    monkeypatch.setattr(iterative, "parts", lambda n: 8)
    monkeypatch.setattr("cgscore.api.choose", lambda *_: choice.Choice("iterative", "a test"))
    return np.vstack([X, X + 1e-2 * rng.standard_normal(X.shape)]), np.arange(600) % 3


def test_bounds_that_disagree_are_refused(refused: tuple[Any, Any]) -> None:
    with pytest.raises(
        ConvergenceError, match=r"differ by more than a factor of 3 for \d\d%.*exact"
    ):
        cgscore.score(*refused, method="iterative")
    assert cgscore.score(*refused, method="iterative", ridge=0.3).meta["method"] == "iterative"


def test_auto_falls_back_to_exact(refused: tuple[Any, Any], tmp_path: Path) -> None:
    exact = cgscore.score(*refused, method="exact")
    for _ in range(2):  # the second time from the checkpoint
        found = cgscore.score(*refused, checkpoint=tmp_path / "work", target=0.99)
        assert found.meta["method"] == found.meta["choice"]["method"] == "exact"
        assert "the iterative method refused: Two lower bounds" in found.meta["choice"]["why"]
        np.testing.assert_array_equal(found.d, exact.d)
    assert (tmp_path / "work" / "exact").is_dir()


def test_auto_says_why_it_does_not_fall_back(
    refused: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(choice, "memory_room", lambda limit: machine.Room(1000))
        with pytest.raises(ConvergenceError, match=r"Two lower bounds.*does not fall.*of memory"):
            cgscore.score(*refused)
    monkeypatch.setattr(choice, "MAX_SMALL_N", 10)
    monkeypatch.setattr(choice, "product_rate", lambda: 1.0)
    with pytest.raises(ConvergenceError, match=r"which would take about \d+ hours"):
        cgscore.score(*refused)


def test_auto_falls_back_from_a_singular_part(
    refused: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise SingularKernelError("nearly identical rows")

    monkeypatch.setattr(iterative, "solve", fail)
    found = cgscore.score(*refused)
    assert found.meta["choice"]["why"] == "the iterative method refused: nearly identical rows"
    with pytest.raises(SingularKernelError):
        cgscore.score(*refused, method="iterative")


class _Totals:
    """Adds up the phases of a run."""

    def __init__(self) -> None:
        self.total = 0.0

    def whole(self, total: float) -> Any:
        return nullcontext()

    @contextmanager
    def phase(self, name: str, total: float) -> Iterator[Any]:
        self.total += total
        yield ignore


def test_the_cost_counts_every_system_of_the_audit() -> None:
    X, y = few_columns(20, 3000)
    rows, Y = unit_rows(X), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    seen = _Totals()
    iterative.solve(rows, 0.0, Y, y, storage="memory", seed=0, target=None, progress=seen)
    cost = METHODS["iterative"].cost(Sizes(3000, 20, 3), Options.checked(), 1)
    assert cost.flops == pytest.approx(seen.total, rel=0.02)


def _directions(p: int) -> Any:
    def draw(n: int, rng: np.random.Generator) -> Any:
        X = rng.standard_normal((n, p))
        return X, (X @ rng.standard_normal((p, 3)) + 0.3 * rng.standard_normal((n, 3))).argmax(1)

    return draw


def _clusters(n: int, rng: np.random.Generator) -> Any:
    centre = rng.permutation(n) // 8
    X = rng.standard_normal((n // 8, 20))[centre] + 1e-3 * rng.standard_normal((n, 20))
    return X, rng.integers(0, 4, n)


def _copies(n: int, rng: np.random.Generator) -> Any:
    """A tenth are near-duplicates of others."""
    X = rng.standard_normal((n, 30))
    source = rng.integers(n // 10, n, n // 10)
    X[: n // 10] = X[source] + 1e-2 * rng.standard_normal((n // 10, 30))
    return X, (X @ rng.standard_normal((30, 4))).argmax(axis=1)


def _groups(n: int, rng: np.random.Generator) -> Any:
    """Classes of unequal width on one side of the origin, with wrong labels."""
    y = rng.integers(0, 5, n)
    X = np.abs(rng.standard_normal((5, 40))[y] + rng.standard_normal((n, 40)) * (0.3 + y[:, None]))
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), y)


KINDS = {
    "3 columns": _directions(3),
    "6 columns": _directions(6),
    "25 columns": _directions(25),
    "clusters of 8": _clusters,
    "near-duplicates": _copies,
    "groups": _groups,
}
DRAWS = 12


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_intervals_cover_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data and audit are drawn anew each time; fails for one in a thousand honest methods."""
    n = 1200
    monkeypatch.setattr(iterative, "parts", lambda n: 4)
    covered: dict[str, list[tuple[str, bool]]] = {"cg": [], "margin": [], "top": []}
    for kind, draw in KINDS.items():
        for seed in range(DRAWS):
            X, y = draw(n, np.random.default_rng([seed, 3]))
            true = cgscore.score(X, y, method="exact")
            found = cgscore.score(X, y, method="iterative", seed=seed)
            audit = found.meta["audit"]
            for name in ("cg", "margin"):
                value = rank_correlation(found.table[name].to_numpy(), true.table[name].to_numpy())
                key = "rank_correlation" if name == "cg" else f"rank_correlation_{name}"
                low, high = audit[f"{key}_interval"]
                covered[name].append((kind, low <= value <= high))
            low, high = audit["top_percent_interval"]
            value = overlap(found.table["cg"].to_numpy(), true.table["cg"].to_numpy())
            covered["top"].append((kind, low <= value <= high))
    for name, outcomes in covered.items():
        count = len(outcomes)
        missed = [kind for kind, inside in outcomes if not inside]
        assert count == DRAWS * len(KINDS)
        assert count - len(missed) >= binom.ppf(0.001, count, 0.95), (name, missed)
        for kind in KINDS:
            assert DRAWS - missed.count(kind) >= binom.ppf(0.001, DRAWS, 0.95), (name, kind)
