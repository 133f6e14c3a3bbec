from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import CGScoreWarning, ConvergenceError, MemoryLimitError, OptionError
from cgscore.execution import machine
from cgscore.execution.progress import Silent, ignore
from cgscore.kernel import unit_rows
from cgscore.methods import auto as choice
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.cholesky import plan as plans
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.audit import Audited, calibrate, measure, rank_correlation
from cgscore.solvers.iterative.block_bounds import Bounds, parts, random_blocks, similar_blocks
from cgscore.solvers.iterative.conjugate_gradients import conjugate_gradients
from cgscore.solvers.iterative.device import OnDevice
from cgscore.solvers.iterative.half_matrix import HalfMatrix, InMemoryKernel, OnTheFlyKernel
from cgscore.solvers.iterative.landmarks import Preconditioner, landmarks_of


def cloud(n: int, p: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Rows around a few centres, and the centre each belongs to."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    return rng.standard_normal((4, p))[y] + 0.7 * rng.standard_normal((n, p)), y


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_TILE_ROWS", 130)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", ["kept", "formed", "device"])
def test_half_a_matrix_is_the_whole(kind: str) -> None:
    X, _ = cloud(700)
    X[300] = X[20] + 1e-6  # a close pair, lost in float32 unless it is treated
    rows = unit_rows(X)
    seen: list[float] = []
    H: HalfMatrix = OnTheFlyKernel(rows)
    if kind != "formed":
        H = (
            InMemoryKernel(rows, seen.append)
            if kind == "kept"
            else OnDevice(rows, "cpu", seen.append)
        )
    true = cgscore.gram(X)
    V = np.random.default_rng(1).standard_normal((3, 700)).astype(np.float32)
    np.testing.assert_allclose(H.product(np.asfortranarray(V)), V @ true, atol=2e-3)
    some, others = np.sort(np.random.default_rng(2).choice(700, (2, 90), replace=False))
    for a, b in ((some, others), (some, some), (np.arange(700), others)):
        np.testing.assert_allclose(H.part(a, b), true[np.ix_(a, b)], atol=1e-6)
    pair = np.array([20, 300])
    assert H.part(pair, pair)[0, 1] == np.float32(true[20, 300])
    if kind != "formed":
        assert sum(seen) >= 700**2 / 2


def test_conjugate_gradients_solve_every_system_to_its_tolerance() -> None:
    X, _ = cloud(600)
    rows = unit_rows(X)
    H = InMemoryKernel(rows, lambda size: None)
    M = Preconditioner(H, landmarks_of(H, rows, 0.0, np.random.default_rng(0)))
    B = np.asfortranarray(np.random.default_rng(1).standard_normal((5, 600)).astype(np.float32))
    B[3] = 0
    tolerance = np.array([1e-1, 1e-2, 1e-3, 1e-3, 1e-4])
    fractions: list[float] = []
    found = conjugate_gradients(H.product, M, B, tolerance, 500, fractions.append)
    true = cgscore.gram(X)
    left = np.linalg.norm(B - found.X @ true, axis=1)
    np.testing.assert_array_less(left, 1.1 * tolerance * np.linalg.norm(B, axis=1) + 1e-9)
    np.testing.assert_allclose(found.residual, B - found.X @ true, atol=1e-3)
    assert (np.diff(found.iterations[[0, 1, 2, 4]]) > 0).all()
    assert found.iterations[3] == 0
    assert fractions[-1] == pytest.approx(1)
    plain = conjugate_gradients(H.product, lambda V: V, B, tolerance, 2000, fractions.append)
    assert plain.iterations.max() > 2 * found.iterations.max()  # the preconditioner earns its keep


def test_conjugate_gradients_give_up_honestly() -> None:
    H = np.diag(np.logspace(0, -6, 200)).astype(np.float32)
    B = np.ones((1, 200), np.float32, order="F")
    with pytest.raises(ConvergenceError, match="did not converge in 5 products: 1 of 1 systems"):
        conjugate_gradients(lambda V: V @ H, lambda V: V, B, np.array([1e-3]), 5, lambda f: None)
    with pytest.raises(ConvergenceError, match="broke down"), np.errstate(all="ignore"):
        conjugate_gradients(lambda V: V * 0, lambda V: V, B, np.array([1e-3]), 5, lambda f: None)


def test_a_residual_that_stays_large_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud(300)
    monkeypatch.setattr(iterative, "MAX_RESIDUAL", 1e-5)  # float32 alone does not reach that
    refined = cgscore.score(X, y, method="iterative")
    assert refined.meta["refinements"] in (1, 2, 3)
    assert refined.meta["audit"]["residual"] < 1e-5
    monkeypatch.setattr(iterative, "MAX_RESIDUAL", 1e-20)
    with pytest.raises(ConvergenceError, match="after 3 refinements in float64"):
        cgscore.score(X, y, method="iterative")


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_blocks_bound_d_from_below(ridge: float) -> None:
    X, _ = cloud(800, 40)
    X[700] = X[7] + 1e-3 * X[8]  # seen by similar blocks, mostly missed by random ones
    rows = unit_rows(X)
    whole = cgscore.gram(X) + ridge * np.eye(800)
    d = np.diag(np.linalg.inv(whole))
    H = InMemoryKernel(rows, lambda size: None)
    known = landmarks_of(H, rows, ridge, np.random.default_rng(0))
    bounds = Bounds(H, rows, known, None)
    chance = random_blocks(800, 4, np.random.default_rng(3))
    halves = similar_blocks(rows, 4)
    for blocks in (chance, halves):
        assert sorted(np.concatenate(blocks)) == list(range(800))
        assert [len(block) for block in blocks] == [200] * 4
        found = bounds.of("some", blocks, ignore)
        for block in blocks:  # each is the exact d of the block together with the landmarks
            part = np.union1d(block, known.J)
            true = np.diag(np.linalg.inv(whole[np.ix_(part, part)]))
            np.testing.assert_allclose(found[block], true[np.isin(part, block)], rtol=3e-3)
        assert (found <= d * 1.003).all()
    assert found[7] == pytest.approx(d[7], rel=0.05)
    near = np.argsort(-cgscore.gram(X) + np.eye(800), axis=1)[:, 0]
    block_of = np.empty(800, dtype=int)
    for number, block in enumerate(halves):
        block_of[block] = number
    assert (block_of == block_of[near]).mean() > 0.5  # neighbours end up together
    assert bounds.float64_blocks == 0
    assert [parts(n) for n in (50, 10_000, 20_000, 50_000)] == [1, 4, 4, 8]


def test_a_block_with_a_close_pair_is_done_in_float64() -> None:
    X, _ = cloud(100)
    X[60] = X[7] + 1e-7 * X[8]
    rows = unit_rows(X)
    H = InMemoryKernel(rows, lambda size: None)
    bounds = Bounds(H, rows, landmarks_of(H, rows, 0.0, np.random.default_rng(0)), None)
    found = bounds.of("all", [np.arange(100)], ignore)
    assert bounds.float64_blocks == 1
    np.testing.assert_allclose(found, np.diag(np.linalg.inv(cgscore.gram(X))), rtol=1e-3)


def test_calibration_removes_a_factor_and_never_goes_below_a_bound() -> None:
    rng = np.random.default_rng(0)
    d = np.exp(rng.normal(2, 0.5, 1000))
    bounds = np.column_stack([0.8 * d, 0.7 * d])
    bounds[5, 1] = 50 * bounds[5, 0]  # a near-duplicate that similar blocks see
    rows = np.arange(100, 164)
    audited = Audited(rows, d[rows], np.zeros((64, 1)))
    everyone, unseen = calibrate(bounds, audited)
    np.testing.assert_allclose(np.delete(everyone, 5), np.delete(d, 5), rtol=1e-6)
    np.testing.assert_allclose(unseen, d[rows], rtol=1e-6)
    assert everyone[5] == bounds[5, 1]
    truth = d[rows].copy()
    truth[9] *= 3  # what is not seen does not depend on its own truth, but others' fits do
    other, unseen_then = calibrate(bounds, Audited(rows, truth, np.zeros((64, 1))))
    assert unseen_then[9] == pytest.approx(unseen[9], rel=1e-9)
    assert abs(unseen_then[10] / unseen[10] - 1) > 1e-3
    assert abs(other[0] / everyone[0] - 1) > 1e-3


def test_the_audit_measures_what_it_has_not_seen() -> None:
    """Errors of a known size: the audit's correlation agrees with the true one."""
    rng = np.random.default_rng(1)
    n, k = 3000, 3
    codes = rng.integers(0, k, n)
    Y = np.where(codes[:, None] == np.arange(k), 1.0, -1.0)
    d = np.exp(rng.normal(2, 0.3, n))
    alpha = rng.normal(0, 3, (n, k))
    noisy = d * np.exp(rng.normal(0, 0.05, n))
    rows = rng.choice(n, 64, replace=False)
    report = measure(Y, codes, alpha, noisy, Audited(rows, d[rows], alpha[rows]), noisy[rows], rng)
    own_alpha = alpha[np.arange(n), codes]
    true = rank_correlation(own_alpha**2 / d, own_alpha**2 / noisy)
    low, high = report["rank_correlation_interval"]
    assert low < true < high
    assert high - low < 0.004
    assert report["cg"]["median_error"] == pytest.approx(0.05 * 0.6745, rel=0.4)
    assert set(report) >= {"partial", "margin", "examples", "rank_correlation_margin"}


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_iterative_scores_are_nearly_exact(ridge: float) -> None:
    X, y = cloud(2500, 60)
    true = cgscore.score(X, y, ridge=ridge, method="exact")
    found = cgscore.score(X, y, ridge=ridge, method="iterative")
    assert rank_correlation(found.table["cg"].to_numpy(), true.table["cg"].to_numpy()) > 0.999
    assert (
        rank_correlation(found.table["margin"].to_numpy(), true.table["margin"].to_numpy()) > 0.997
    )
    np.testing.assert_allclose(found.alpha, true.alpha, atol=0.02 * np.abs(true.alpha).max())
    terms = found.table[["first_term", "partial", "third_term"]].sum(axis=1)
    np.testing.assert_allclose(terms, found.table["cg"], rtol=1e-9, atol=1e-9)
    for label, value in found.complexity.items():
        assert value == pytest.approx(true.complexity[label], rel=0.01)
    meta = found.meta
    assert meta["method"] == "iterative"
    assert meta["audit"]["examples"] == 112
    assert meta["audit"]["residual"] < 2e-3
    assert meta["ridge"] == ridge


def test_a_saved_result_keeps_its_audit(tmp_path: Path) -> None:
    X, y = cloud(600)
    found = cgscore.score(X, y, method="iterative")
    found.save(tmp_path / "scores.parquet")
    again = cgscore.load(tmp_path / "scores.parquet")
    assert again.meta["audit"] == found.meta["audit"]
    assert "audit: rank correlation with the exact score" in repr(again)


def test_the_same_seed_gives_the_same_bits_and_storage_does_not_matter_much() -> None:
    X, y = cloud(900)
    first, again, other = (cgscore.score(X, y, method="iterative", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.d, again.d)
    assert np.array_equal(first.alpha, again.alpha)
    assert not np.array_equal(first.d, other.d)
    rows = unit_rows(X)
    limit = iterative.bytes_formed(900, 20, 4) + rows.centred.nbytes + 100_000
    formed = cgscore.score(X, y, method="iterative", seed=1, memory_limit=limit)
    assert formed.meta["storage"] == "formed"
    assert first.meta["storage"] == "memory"
    np.testing.assert_allclose(formed.d, first.d, rtol=1e-3)
    with pytest.raises(MemoryLimitError, match="900 examples iteratively needs"):
        cgscore.score(X, y, method="iterative", memory_limit=limit - 300_000)


def test_a_device_gives_the_same_scores() -> None:
    X, y = cloud(700)
    Y = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    found = [
        iterative.solve(
            unit_rows(X), 0.0, Y, y, storage=storage, seed=0, target=None, progress=Silent()
        )
        for storage in ("memory", "torch:cpu")
    ]
    np.testing.assert_allclose(found[0].d, found[1].d, rtol=1e-3)
    np.testing.assert_allclose(found[0].alpha, found[1].alpha, atol=0.02)


def test_two_classes_regression_and_copies() -> None:
    X, y = cloud(1000)
    binary = cgscore.score(X, y % 2, method="iterative")
    exact = cgscore.score(X, y % 2, method="exact")
    assert rank_correlation(binary.table["cg"].to_numpy(), exact.table["cg"].to_numpy()) > 0.995
    np.testing.assert_array_equal(binary.loo[:, 0], -binary.loo[:, 1])
    target = X @ np.arange(20.0)
    found = cgscore.score(X, target, method="iterative", task="regression")
    exact = cgscore.score(X, target, method="exact", task="regression")
    assert rank_correlation(found.table["cg"].to_numpy(), exact.table["cg"].to_numpy()) > 0.99
    assert "margin" not in found.meta["audit"]
    X[500:520] = X[:20]
    y[510] = y[10] + 1
    with pytest.warns(CGScoreWarning):
        merged = cgscore.score(X, y, method="iterative")
    with pytest.warns(CGScoreWarning):
        exact = cgscore.score(X, y, method="exact")
    assert np.isinf(merged.table["cg"][[10, 510]]).all()
    assert (merged.table["cg"][[500, 501]] == 0).all()
    assert (merged.table["duplicate_of"] == exact.table["duplicate_of"]).all()


def test_near_duplicates_are_survived() -> None:
    X, y = cloud(1200, 30)
    X[600] = X[3] + 1e-5 * X[4]
    true = cgscore.score(X, y, method="exact")
    found = cgscore.score(X, y, method="iterative")
    assert found.d[3] == pytest.approx(true.d[3], rel=0.05)
    assert found.d[600] == pytest.approx(true.d[600], rel=0.05)


def test_a_missed_target_is_said_and_a_given_one_pursued(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud(1500, 40)
    monkeypatch.setattr(iterative, "parts", lambda n: 32)
    usual = cgscore.score(X, y, method="iterative", target=0.5)
    assert usual.meta["blocks"] == 32
    with pytest.warns(CGScoreWarning, match=r"below the target of 0\.99999"):
        strong = cgscore.score(X, y, method="iterative", target=0.99999)
    assert strong.meta["blocks"] < 32
    assert strong.meta["audit"]["cg"]["median_error"] < usual.meta["audit"]["cg"]["median_error"]
    monkeypatch.setattr(iterative, "TARGET_CORRELATION", 0.9999999)
    with pytest.warns(CGScoreWarning, match="below the target of 1"):
        cgscore.score(X, y, method="iterative")


def test_auto_takes_exact_where_that_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice.choose(Sizes(1000, 10, 3), Options.checked(), None).method == "exact"
    monkeypatch.setattr(choice, "product_rate", lambda: 80e9)
    monkeypatch.setattr(machine, "available_memory", lambda: 20 * 10**9)
    assert choice.choose(Sizes(10_000, 784, 10), Options.checked(), None).method == "exact"
    large = choice.choose(Sizes(60_000, 784, 10), Options.checked(), None)
    assert large.method == "iterative"
    assert large.costs["seconds"]["exact"] > 2 * large.costs["seconds"]["iterative"]
    assert (
        choice.choose(Sizes(60_000, 784, 10), Options.checked(dtype="float32"), None).method
        == "exact"
    )
    tight = choice.choose(
        Sizes(20_000, 10, 3), Options.checked(memory_limit="100MB"), None
    )  # with narrow panels it still fits on disk
    assert tight.method == "exact"
    with pytest.raises(MemoryLimitError, match="with any method"):
        choice.choose(Sizes(3_000_000, 784, 10), Options.checked(), None)


@pytest.mark.needs("torch")
def test_options_of_other_methods_are_refused() -> None:
    X, y = cloud(100)
    with pytest.raises(OptionError, match=r"target=0\.9 has no effect on method='exact'"):
        cgscore.score(X, y, method="exact", target=0.9)
    with pytest.raises(OptionError, match="device='cuda' cannot be used here"):
        cgscore.score(X, y, device="cuda")
    with pytest.raises(OptionError, match="dtype='float32' has no effect on method='iterative'"):
        cgscore.score(X, y, method="iterative", dtype="float32")
