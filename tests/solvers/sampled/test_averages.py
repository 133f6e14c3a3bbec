"""The paper's estimator and random partitions against naive computations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data import read
from cgscore.errors import CGScoreWarning, MemoryLimitError, OptionError, SingularKernelError
from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.methods.auto import costs
from cgscore.methods.averaging import shared_problem
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.problem import Inputs
from cgscore.solvers import reference
from cgscore.solvers.sampled import comparison, partition, subsample
from cgscore.solvers.sampled.averages import ESTIMATED

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.fixture
def uneven() -> tuple[Any, Any]:
    """Classes of 60, 25, 12 and 3 examples."""
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c", "d"], [60, 25, 12, 3])
    rng.shuffle(y)
    X = rng.standard_normal((100, 12)) + 2 * np.eye(4, 12)[np.unique(y, return_inverse=True)[1]]
    return X, y


def naive(X: Any, y: Any) -> tuple[Any, Any, Any]:
    """alpha, d and scores of +1/-1 targets by plain inversion."""
    inverse = np.linalg.inv(cgscore.gram(X))
    alpha, d = inverse @ y, np.diagonal(inverse)
    return alpha, d, alpha**2 / d


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


def test_draws_are_random_and_repeatable(uneven: Any) -> None:
    slots = shared_problem(Inputs(read(uneven[0], labels=uneven[1]), ridge=0.0).labelled(), 0)[0]
    draws = subsample.draws([60, 25, 12, 3], 100, 12, 1, 40)
    codes = np.unique(uneven[1], return_inverse=True)[1]
    others: dict[int, list[Any]] = {c: [] for c in range(4)}
    for draw in draws:
        if draw.sample is None:
            continue
        (c,) = draw.classes
        rows = subsample.chosen(slots.slots, draw, 0)
        assert np.array_equal(rows, subsample.chosen(slots.slots, draw, 0))
        assert (np.diff(rows) > 0).all()
        assert set(np.flatnonzero(codes == c)) <= set(rows)
        assert len(rows) == 2 * (codes == c).sum()
        others[c].append(tuple(rows[codes[rows] != c]))
    assert {c: len(set(samples)) for c, samples in others.items()} == {0: 0, 1: 40, 2: 40, 3: 40}
    often = np.bincount(np.concatenate(others[1]), minlength=100)[codes != 1]
    assert often.min() > 40 * 25 / 75 / 3  # everybody has the same chance
    assert often.max() < 3 * 40 * 25 / 75
    first, other = (subsample.chosen(slots.slots, draws[-1], seed) for seed in (0, 1))
    assert not np.array_equal(first, other)


def test_scores_are_gaps_of_deleted_examples(uneven: Any) -> None:
    """One run of one class: delete each of its examples and invert again."""
    X, y = uneven
    posed = shared_problem(Inputs(read(X, labels=y), ridge=0.0).labelled(), 0)[0]
    (draw,) = [d for d in subsample.draws([60, 25, 12, 3], 100, 12, 2, 1) if d.classes == (2,)]
    rows = subsample.chosen(posed.slots, draw, 0)
    target = np.where(y[rows] == "c", 1.0, -1.0)
    gaps = reference.cg(cgscore.gram(X[rows]), target)
    table = cgscore.score(X, y, method="subsample", ratio=2, runs=1).table
    np.testing.assert_allclose(table["cg"][rows][target > 0], gaps[target > 0], rtol=1e-8)


@pytest.mark.parametrize("labels", [2, 4])
def test_ratios_beyond_what_is_there_are_exact(labels: int, uneven: Any) -> None:
    X, y = uneven
    y = y if labels == 4 else y == "a"
    exact = cgscore.score(X, y, method="exact")
    found = cgscore.score(X, y, method="subsample", ratio=1e6)
    assert found.meta["tasks"] == 1
    for name in ("cg", "partial", "residual", "margin"):
        np.testing.assert_allclose(found.table[name], exact.table[name], rtol=1e-9)
    assert found.table["predicted_label"].equals(exact.table["predicted_label"])
    assert (found.table["cg_std_error"] == 0).all()
    assert found.complexity.keys() == exact.complexity.keys()
    np.testing.assert_allclose(
        list(found.complexity.values()), list(exact.complexity.values()), rtol=1e-9
    )


def test_the_papers_rule_for_runs() -> None:
    assert subsample.recommended_runs(500, 50_000, 4) == 13  # CIFAR-100; the paper: about 10
    assert subsample.recommended_runs(5000, 50_000, 4) == 2  # CIFAR-10; the paper: 2 to 3
    assert subsample.recommended_runs(6000, 60_000, 3) == 2
    assert subsample.recommended_runs(5000, 50_000, 1) == 5
    assert subsample.recommended_runs(30, 60, 4) == 1  # everybody
    s = cgscore.score("sklearn:digits", method="subsample", ratio=1)
    assert s.meta["runs_of_class"]["0"] == 5  # 1,619 others, 178 of them in a run
    assert "half of the others" in s.meta["runs_rule"]


def test_copies_are_what_they_are_in_the_exact_scores(uneven: Any) -> None:
    """Copies that agree, and two groups that are torn between classes."""
    X, y = uneven
    y = y.copy()
    X[90], X[91], X[92], X[93] = X[0], X[1], X[2], X[2]
    y[90] = y[0]
    y[1], y[91] = "a", "b"
    y[2], y[92], y[93] = "a", "a", "c"
    exact = cgscore.score(X, y, method="exact")
    every: list[dict[str, Any]] = [{"method": "subsample", "ratio": 1e6}, {"method": "partition"}]
    for options in every:
        found = cgscore.score(X, y, **options)
        for name in ("cg", "first_term", "partial", "third_term", "residual", "margin"):
            np.testing.assert_allclose(found.table[name], exact.table[name], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.loo, exact.loo, rtol=1e-8, atol=1e-10)
        assert np.isinf(list(found.complexity.values())).tolist() == [True, True, True, False]
    sampled = cgscore.score(X, y, method="subsample", ratio=1, runs=3).table
    assert (sampled["cg"][[90]] == 0).all()
    assert np.isinf(sampled["cg"][[1, 91, 2, 92, 93]]).all()
    assert sampled["cg_std_error"][[1, 91, 2, 92, 93]].isna().all()


def test_a_class_of_its_own(uneven: Any) -> None:
    X, y = uneven
    y[:] = np.where(y == "d", "c", y)
    y[7] = "d"
    with pytest.warns(CGScoreWarning, match="one example only"):
        s = cgscore.score(X, y, method="subsample", ratio=3, runs=4)
    assert np.isfinite(s.table["cg"]).all()
    assert s.meta["runs_of_class"]["d"] == 4
    assert np.isfinite(cgscore.score(X, y, method="partition").table["cg"]).all()


def test_more_runs_come_nearer() -> None:
    exact = cgscore.score("sklearn:digits", method="exact").table["cg"].rank()
    near = [
        cgscore.score("sklearn:digits", method="subsample", ratio=1, runs=runs).table["cg"].rank()
        for runs in (1, 8)
    ]
    assert 0.7 < near[0].corr(exact) < near[1].corr(exact) - 0.01


def blocks_of(X: Any, y: Any, count: int, runs: int) -> Any:
    slots = shared_problem(Inputs(read(X, labels=y), ridge=0.0).labelled(), 1)[0].slots
    return slots, partition.blocks(len(X), X.shape[1], count, runs)


def test_every_block_has_every_class(uneven: Any) -> None:
    X, y = uneven
    slots, blocks = blocks_of(X, y, 5, 3)
    at_home = np.zeros((3, 100), int)
    for block in blocks:
        home, guests = partition.dealt(slots, block, 1)
        assert not set(home) & set(guests)
        assert len(home) == 20
        at_home[block.run, home] += 1
        there = [int((y[np.concatenate([home, guests])] == c).sum()) for c in "abcd"]
        assert there[0] == 12
        assert there[1] == 5
        assert min(there) >= partition.MIN_ROWS_PER_CLASS
        assert set(y[guests]) <= {"d"}  # others have members enough
    assert (at_home == 1).all()
    first, second = (partition.dealt(slots, blocks[i], 1)[0] for i in (0, 5))
    assert not np.array_equal(first, second)


def test_partition_against_a_plain_loop(uneven: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = uneven
    monkeypatch.setattr(partition, "BLOCK_ROWS", 34)
    monkeypatch.setattr(partition, "ROWS_PER_CLASS", 1)
    s = cgscore.score(X, y, method="partition", runs=2, seed=1)
    assert s.meta["blocks"] == 3
    slots, blocks = blocks_of(X, y, 3, 2)
    cg, loo = np.zeros((2, 100)), np.zeros((2, 100, 4))
    for block in blocks:
        home, guests = partition.dealt(slots, block, 1)
        rows = np.union1d(home, guests)
        keep = np.isin(rows, home)
        for c, name in enumerate("abcd"):
            target = np.where(y[rows] == name, 1.0, -1.0)
            alpha, d, gap = naive(X[rows], target)
            loo[block.run, home, c] = (target - alpha / d)[keep]
            own = keep & (target > 0)
            cg[block.run, rows[own]] = gap[own]
    np.testing.assert_allclose(s.table["cg"], cg.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(s.loo, loo.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        s.table["cg_std_error"], cg.std(axis=0, ddof=1) / np.sqrt(2), rtol=1e-7
    )
    assert s.table["predicted_label"].notna().all()


def test_partition_of_a_regression(uneven: Any) -> None:
    X, _ = uneven
    y = X[:, 0] - X[:, 1]
    exact = cgscore.score(X, y, method="exact", task="regression")
    whole = cgscore.score(X, y, method="partition", task="regression")
    np.testing.assert_allclose(whole.table["cg"], exact.table["cg"], rtol=1e-8)
    with pytest.raises(OptionError, match="no meaning for task='regression'"):
        cgscore.score(X, y, method="subsample", task="regression")


def test_a_memory_limit_makes_smaller_blocks() -> None:
    few = partition.block_count(50_000, 100, 10)
    assert few == 5
    many = partition.block_count(50_000, 100, 10, limit=100_000_000)
    assert many > 2 * few
    assert partition.block_count(1_281_167, 2048, 1000) == 129
    with pytest.raises(MemoryLimitError, match="is the limit"):
        partition.block_count(50_000, 100, 10, limit=40_000_000)


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_audit_is_honest(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"ratio": 2, "runs": 5}
    if method == "partition":
        monkeypatch.setattr(partition, "BLOCK_ROWS", 600)
        options = {"runs": 3}
    exact = cgscore.score("sklearn:digits", method="exact").table
    s = cgscore.score("sklearn:digits", method=method, **options)
    true = s.table["cg"].rank().corr(exact["cg"].rank())
    low, high = s.meta["audit"]["rank_correlation_interval"]
    assert low <= true <= high
    assert 0.5 < true < 0.999
    assert s.meta["audit"]["examples"] == 128


def test_audit_of_exact_scores_finds_no_error() -> None:
    whole = cgscore.score("sklearn:digits", method="partition")
    assert whole.meta["audit"] is None
    assert "nothing was drawn" in whole.meta["audit_left_out"]
    problem, _ = shared_problem(Inputs(read("sklearn:digits"), ridge=0.0).labelled(), 0)
    blocks = partition.blocks(1797, 64, 1, 1)
    means, _ = partition.solve(problem, blocks, executor=Local(), progress=Silent())
    audit, why = comparison.audit(
        problem, means, 0.0, limit=None, executor=Local(), progress=Silent()
    )
    assert why is None
    assert audit is not None
    for name, most in (("cg", 0.01), ("partial", 0.001), ("margin", 0.001)):
        assert audit[name]["median_error"] < most
    assert audit["rank_correlation"] > 0.9999


def test_an_audit_that_costs_too_much_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgscore.solvers.sampled.comparison.MAX_FLOPS", 0.0)
    s = cgscore.score("sklearn:digits", method="partition", memory_limit="6MB")
    assert s.meta["audit"] is None
    assert "longer than the scores" in s.meta["audit_left_out"]
    assert "audit" not in repr(s)


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_any_number_of_threads_gives_the_same_bits(method: str, uneven: Any) -> None:
    posed = shared_problem(Inputs(read(uneven[0], labels=uneven[1]), ridge=0.0).labelled(), 0)[0]
    solver: Any = {"subsample": subsample, "partition": partition}[method]
    tasks: Any = (
        subsample.draws([60, 25, 12, 3], 100, 12, 1.5, 9)
        if method == "subsample"
        else partition.blocks(100, 12, 3, 9)
    )
    found = [
        solver.solve(posed, tasks, executor=Local(max_threads=most), progress=Silent())[0]
        for most in (1, 5)
    ]
    for name in ESTIMATED:
        assert np.array_equal(found[0].mean[name], found[1].mean[name])
    assert np.array_equal(found[0].loo(), found[1].loo(), equal_nan=True)


class StopHereError(Exception):
    pass


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_an_interrupted_run_repeats_no_finished_task(
    method: str, uneven: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition, "BLOCK_ROWS", 34)
    monkeypatch.setattr(partition, "ROWS_PER_CLASS", 1)
    options: dict[str, Any] = {"method": method, "runs": 6, "seed": 2}
    whole = cgscore.score(*uneven, **options)

    def stop(phase: str, fraction: float) -> None:
        if fraction > 0.5:
            raise StopHereError

    kept = tmp_path / "kept"
    with pytest.raises(StopHereError):
        cgscore.score(*uneven, **options, checkpoint=kept, progress=stop)
    done = {path: path.stat().st_mtime_ns for path in kept.glob("*.arrays")}
    assert 2 <= len(done) < whole.meta["tasks"]
    damaged = min(done)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    del done[damaged]  # this one is noticed and done again
    resumed = cgscore.score(*uneven, **options, checkpoint=kept)
    assert resumed.table.equals(whole.table)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    more = cgscore.score(*uneven, **options | {"runs": 8}, checkpoint=kept)
    assert more.table.equals(cgscore.score(*uneven, **options | {"runs": 8}).table)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    other = options | {"seed": 3}
    with pytest.raises(cgscore.CGScoreError, match="the seed differs"):
        cgscore.score(*uneven, **other, checkpoint=kept)


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_a_checkpoint_of_copies_elsewhere_is_refused(
    method: str, uneven: Any, tmp_path: Path
) -> None:
    """The same rows and the same labels, but other examples are copies."""
    X, y = uneven
    y = np.concatenate([y, ["a", "b"]])
    first, second = np.vstack([X, X[3], X[5]]), np.vstack([X, X[5], X[3]])
    options: dict[str, Any] = {"method": method, "runs": 2, "checkpoint": tmp_path / "kept"}
    cgscore.score(first, y, **options)
    with pytest.raises(cgscore.CGScoreError, match="belongs to other work"):
        cgscore.score(second, y, **options)


def test_a_class_that_every_row_has(uneven: Any) -> None:
    X = uneven[0][:20]
    X, y = np.vstack([X, X[:5]]), np.repeat([0, 1], [20, 5])
    exact = cgscore.score(X, y, method="exact").table
    found = cgscore.score(X, y, method="subsample", ratio=1).table
    assert np.isinf(found["cg"]).tolist() == np.isinf(exact["cg"]).tolist()
    twice = np.vstack([X[:20], X[:20]])
    torn = cgscore.score(twice, np.repeat([0, 1], 20), method="partition")
    assert np.isinf(torn.table["cg"]).all()


def test_the_audit_heeds_a_memory_limit() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = rng.standard_normal((3000, 8)) + np.eye(3, 8)[y]
    s = cgscore.score(X, y, method="partition", runs=1, memory_limit="8MB")
    assert s.meta["audit_left_out"] == "the kernel matrix does not fit in memory"


def test_an_audit_that_single_precision_spoils_is_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    X = np.vstack([X, X + 1e-5 * rng.standard_normal((300, 12))])
    y = np.arange(600) % 3
    s = cgscore.score(X, y, method="subsample", ratio=1, runs=2)
    assert s.meta["audit"] is None
    assert "failed" in s.meta["audit_left_out"] or "single" in s.meta["audit_left_out"]


def test_costs_of_very_many_classes_are_quick(uneven: Any) -> None:
    found = costs(
        Sizes(1_000_000, 10, 200_000), Options.checked(ratio=0.01)
    )  # task by task this would take hours
    assert found["subsample"].tasks > 10**9
    with pytest.raises(OptionError, match=r"These are [\d,]+ tasks: .* Say runs=10"):
        subsample.draws([5] * 20_000, 100_000, 10, 0.2, None)


@pytest.mark.parametrize(("n", "k"), [(6000, 10), (1797, 3), (50, 2)])
@pytest.mark.parametrize("ratio", [0.5, 4, 50])
def test_costs_are_those_of_the_tasks(n: int, k: int, ratio: float) -> None:
    n -= n % k
    found = costs(Sizes(n, 7, k), Options.checked(ratio=ratio))
    draws = subsample.draws([n // k] * k, n, 7, ratio, None)
    assert found["subsample"].tasks == len(draws)
    assert found["subsample"].flops == pytest.approx(sum(draw.flops for draw in draws))
    blocks = partition.blocks(n, 7, partition.block_count(n, 7, k), None)
    assert found["partition"].tasks == len(blocks)
    assert found["partition"].flops == pytest.approx(sum(block.flops for block in blocks))


def test_time_is_counted_in_rounds_of_tasks() -> None:
    one, two, three = (
        costs(Sizes(20_000, 5, 2), Options.checked(runs=1), w)["partition"] for w in (1, 2, 3)
    )
    assert one.tasks == 2
    assert one.seconds(1e9) == pytest.approx(two.seconds(2e9) * 2)
    assert three.seconds(3e9) == pytest.approx(two.seconds(2e9))  # the third has nothing to do


def test_numbers_of_numpy_are_numbers(uneven: Any, tmp_path: Path) -> None:
    s = cgscore.score(*uneven, method="subsample", seed=np.int64(3), runs=np.int64(2))
    s.save(tmp_path / "a.parquet")
    assert s.table.equals(cgscore.score(*uneven, method="subsample", seed=3, runs=2).table)


def test_labels_that_are_whole_floats_stay_floats(uneven: Any) -> None:
    y = np.unique(uneven[1], return_inverse=True)[1].astype(float)
    s = cgscore.score(uneven[0], y, method="subsample", ratio=1, runs=2)
    assert s.table["predicted_label"].dtype == np.float64
    assert s.table["predicted_label"].isna().any()


def test_a_checkpoint_of_another_ratio_is_refused(uneven: Any, tmp_path: Path) -> None:
    cgscore.score(*uneven, method="subsample", ratio=1, checkpoint=tmp_path / "kept")
    with pytest.raises(cgscore.CGScoreError, match=r"the ratio differs: 1\.0, now 2\.0"):
        cgscore.score(*uneven, method="subsample", ratio=2, checkpoint=tmp_path / "kept")
    again = cgscore.score(*uneven, ratio=1, checkpoint=tmp_path / "kept")
    assert again.meta["choice"]["method"] == "subsample"


def test_rows_that_determine_each_other_are_named(uneven: Any) -> None:
    X, y = uneven
    X[90] = X[33]
    X[90, 0] += 5e-15 * np.linalg.norm(X[33])
    for method in ("partition", "subsample"):
        with pytest.raises(SingularKernelError, match=r"row 90 is nearly identical to row 33"):
            cgscore.score(X, y, method=method, ratio=4 if method == "partition" else 1e6)
    X[90, 0] += 1e-12 * np.linalg.norm(X[33])
    with pytest.warns(CGScoreWarning, match="leaves about"):
        s = cgscore.score(X, y, method="subsample", ratio=2)
    assert np.isfinite(s.table["cg"]).all()
    assert "it failed: Conjugate" in s.meta["audit_left_out"]  # the scores stand without it


def test_results_with_missing_predictions_are_saved(uneven: Any, tmp_path: Path) -> None:
    for name, y in (("text", uneven[1]), ("number", np.unique(uneven[1], return_inverse=True)[1])):
        s = cgscore.score(uneven[0], y, method="subsample", ratio=1, runs=2)
        assert s.table["predicted_label"].isna().any()
        s.save(tmp_path / f"{name}.parquet")
        again = cgscore.load(tmp_path / f"{name}.parquet")
        assert again.table["cg_std_error"].equals(s.table["cg_std_error"])
        assert again.table["predicted_label"].isna().equals(s.table["predicted_label"].isna())
        known = s.table["predicted_label"].notna()
        assert (again.table["predicted_label"] == s.table["predicted_label"])[known].all()
        assert np.array_equal(again.loo, s.loo, equal_nan=True)
        assert again.accuracy() == s.accuracy()
        assert "that have a prediction" in repr(again)
        again.to_csv(tmp_path / "scores.csv")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ratio": 0}, "ratio must be a positive number; got 0"),
        ({"ratio": float("nan")}, "ratio must be .* got nan"),
        ({"runs": 0}, "runs must be a whole number, 1 or larger; got 0"),
        ({"runs": 2.5}, "runs must be .* got 2.5"),
        ({"seed": -1}, "seed must be .* 0 or larger; got -1"),
    ],
)
def test_numbers_out_of_range(wrong: Any, says: str, uneven: Any) -> None:
    with pytest.raises(OptionError, match=says):
        cgscore.score(*uneven, method="subsample", **wrong)
