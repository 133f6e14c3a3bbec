"""The method of landmarks: what it refuses and warns about, judging, and resumed runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore import duplicates, kernel, rows
from cgscore.errors import CGScoreWarning, MemoryLimitError, OptionError
from cgscore.execution.files import scratch_file
from cgscore.methods import METHODS, auto
from cgscore.methods import lowrank as method
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.lowrank import audit, blocks, model, solve
from tests.issues.examples import blobs

pytestmark = pytest.mark.filterwarnings("ignore:The audit of .* estimates a rank")
NAMES = ("cg", "first_term", "partial", "third_term", "residual", "margin")


def test_all_rows_as_landmarks_give_the_exact_scores() -> None:
    X, y = blobs([50, 60, 70], apart=1.5)
    exact = cgscore.score(X, y, method="exact", ridge=0.1)
    found = cgscore.score(X, y, method="lowrank", ridge=0.1, landmarks=180)
    for name in NAMES:
        np.testing.assert_allclose(found.table[name], exact.table[name], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.loo, exact.loo, atol=1e-9)
    for label in exact.classes.tolist():
        assert found.complexity[label] == pytest.approx(exact.complexity[label])
    issues = found.label_issues()
    assert (issues["is_label_issue"] == exact.label_issues()["is_label_issue"]).all()
    assert found.meta["landmarks"] == 180
    assert found.meta["storage"] == "streamed"
    assert found.meta["audit"]["rank_correlation_margin"] > 0.9999
    assert found.meta["audit_left_out"] is None


def test_numbers_are_scored_and_judged() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    y = X[:, 0] + 5 + 0.1 * rng.standard_normal(150)
    exact = cgscore.score(X, y, method="exact", ridge=0.1)
    found = cgscore.score(X, y, method="lowrank", ridge=0.1)
    np.testing.assert_allclose(found.table["cg"], exact.table["cg"], rtol=1e-7)
    assert found.complexity["target"] == pytest.approx(exact.complexity["target"])
    assert len(found.label_issues()) == 150


def test_inputs_are_not_held_as_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([1000, 1200], apart=1.5)
    heights: list[int] = []
    monkeypatch.setattr(kernel, "_scale", recorded(kernel._scale, heights))
    monkeypatch.setattr(audit, "audit_flops", lambda *_: float("inf"))
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 300)
    monkeypatch.setattr(blocks, "CHUNK_ROWS", 200)
    monkeypatch.setattr(blocks, "SAMPLE_SIZE", 250)
    monkeypatch.setattr(rows, "CENTRE_ROWS", 100)
    monkeypatch.setattr(duplicates, "CHUNK_ROWS", 200)
    cgscore.score(X.astype(np.float32), y, method="lowrank", ridge=0.1, landmarks=50)
    assert 150 < max(heights) <= 300


def recorded(function: Any, heights: list[int]) -> Any:
    """The function, which also appends the length of its first argument to a list."""

    def call(block: Any, *others: Any) -> Any:
        heights.append(len(block))
        return function(block, *others)

    return call


def test_ridge_zero_is_refused() -> None:
    X, y = blobs([20, 20], apart=1.5)
    with pytest.raises(OptionError, match=r"method='lowrank' needs a ridge above 0.*ridge='auto'"):
        cgscore.score(X, y, method="lowrank")


def test_the_automatic_ridge_is_that_of_this_model() -> None:
    X, y = blobs([80, 80, 80], apart=1.0)
    found = cgscore.score(X, y, method="lowrank", ridge="auto", landmarks=20)
    ridge = found.meta["ridge_choice"]
    assert found.meta["ridge"] == ridge["ridge"] > 0
    assert ridge["examples"] == 240
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    residuals = Y - found.loo
    residuals -= residuals.mean(axis=1, keepdims=True)
    assert ridge["error"] == pytest.approx(np.mean(residuals**2), rel=1e-8)


def test_copies_are_reported_and_dependent_landmarks_left_out() -> None:
    X, y = blobs([40, 40], apart=1.5)
    X[60:70] = X[:10]
    with pytest.warns(CGScoreWarning, match="10 of 80 landmarks were left out: they depend"):
        found = cgscore.score(X, y, method="lowrank", ridge=0.1)
    exact = cgscore.score(X, y, method="exact", ridge=0.1)
    np.testing.assert_allclose(found.table["cg"], exact.table["cg"], rtol=1e-7)
    assert found.table["duplicate_of"].tolist() == exact.table["duplicate_of"].tolist()
    assert found.meta["duplicates"] == exact.meta["duplicates"]
    with pytest.raises(cgscore.errors.DuplicateRowsError):
        cgscore.score(X, y, method="lowrank", ridge=0.1, duplicates="error")


def test_a_tiny_ridge_costs_digits() -> None:
    X, y = blobs([40, 40], apart=1.5)
    with pytest.warns(CGScoreWarning, match=r"so small that about \d digits"):
        found = cgscore.score(X, y, method="lowrank", ridge=1e-12, landmarks=60)
    assert found.meta["digits"] < 6


def test_a_poor_audit_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 20)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 10)), rng.integers(0, 3, 500)
    with pytest.warns(CGScoreWarning, match=r"audit of 128 examples .* More landmarks come nearer"):
        cgscore.score(X, y, method="lowrank", ridge=0.1, landmarks=5)


def test_an_audit_beyond_its_budget_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([400, 400], apart=1.5)
    monkeypatch.setattr(audit, "MAX_FLOPS", 1.0)
    monkeypatch.setattr(model, "MAX_BLOCK_ROWS", 20)
    found = cgscore.score(X, y, method="lowrank", ridge=0.1, landmarks=10)
    assert found.meta["audit"] is None
    assert found.meta["audit_left_out"] == "it would take longer than the scores"
    monkeypatch.setattr(audit, "MAX_FLOPS", 1e15)
    monkeypatch.setattr(audit, "audit_bytes", lambda *_: 10**15)
    found = cgscore.score(X, y, method="lowrank", ridge=0.1, landmarks=10)
    assert found.meta["audit_left_out"] == "it does not fit in memory"


def test_memory_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([100, 100], apart=1.5)
    with pytest.raises(MemoryLimitError, match=r"with 200 landmarks needs .* Use fewer landmarks"):
        cgscore.score(X, y, method="lowrank", ridge=0.1, memory_limit="1MB")


@pytest.fixture
def no_room_for_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem counts as large, and nothing holds its kernel matrix."""
    monkeypatch.setattr(auto, "MAX_SMALL_N", 10)
    monkeypatch.setattr(auto, "PATIENCE", 0.0)
    monkeypatch.setattr(auto, "MAX_SECONDS", 0.0)
    for name in ("exact", "iterative"):
        cost = METHODS[name].cost(Sizes(1, 1, 1), Options.checked(), 1)
        huge = type(cost)(1e30, 10**18, 10**18)
        monkeypatch.setattr(type(METHODS[name]), "cost", lambda *_, huge=huge: huge)


def test_auto_takes_it_where_nothing_else_fits(no_room_for_a_matrix: None) -> None:
    X, y = blobs([60, 70], apart=1.5)
    for ridge in (0.1, "auto"):
        found = cgscore.score(X, y, ridge=ridge)
        assert found.meta["method"] == "lowrank"
        assert found.meta["choice"]["why"] == "the kernel matrix does not fit in memory"
    zero = cgscore.score(X, y)
    assert zero.meta["method"] == "partition"
    assert zero.meta["judge"]["method"] == "lowrank"
    assert zero.meta["judge"]["ridge"] == found.meta["ridge"]
    np.testing.assert_array_equal(zero.judged_loo, found.loo)
    assert cgscore.score(X, y, judge=False).meta["judge"] is None


def test_auto_takes_it_for_its_option() -> None:
    X, y = blobs([60, 70], apart=1.5)
    assert cgscore.score(X, y, ridge=0.1, landmarks=30).meta["method"] == "lowrank"


def test_memory_does_not_grow_with_columns_nor_with_the_square_of_n() -> None:
    options = Options.checked(landmarks=1000)
    small = METHODS["lowrank"].cost(Sizes(10**6, 100, 10), options, 2)
    wide = METHODS["lowrank"].cost(Sizes(10**6, 1000, 10), options, 2)
    assert wide.bytes - small.bytes < 10**8
    large = METHODS["lowrank"].cost(Sizes(2 * 10**6, 100, 10), options, 2)
    assert large.bytes < 2 * small.bytes
    assert large.flops < 2.01 * small.flops


def test_the_sample_that_decides_on_blocks_is_in_the_memory() -> None:
    n, p = 10**6, 150_528
    options = Options.checked(landmarks=100)
    cost = METHODS["lowrank"].cost(Sizes(n, p, 10), options, 1)
    assert cost.min_bytes > blocks.sample_bytes(n, p) + 8 * 100 * p
    narrow = METHODS["lowrank"].cost(Sizes(n, 4096, 10), options, 1)
    assert narrow.min_bytes > blocks.sample_bytes(n, 4096) > 8 * 16_384 * 4096 * 3 / 2
    assert narrow.bytes >= narrow.min_bytes


def test_predictions_that_are_not_kept_need_a_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = blobs([60, 70], apart=1.5)
    options: dict[str, Any] = {"method": "lowrank", "ridge": 0.1, "landmarks": 30}
    folders: list[Path | None] = []

    def recorded_file(folder: Path | None = None) -> Any:
        folders.append(folder)
        return scratch_file(folder)

    monkeypatch.setattr(method, "scratch_file", recorded_file)
    monkeypatch.setattr(method, "scratch_folder", lambda: tmp_path)
    cgscore.score(X, y, keep_predictions=False, **options)
    assert folders == [tmp_path]
    usage = shutil.disk_usage(tmp_path)._replace(free=4 * 130 * 2 - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(method, "landmarks_of", lambda *_, **__: pytest.fail("work was done"))
    with pytest.raises(MemoryLimitError, match=r"130 examples for 2 classes need .* Set TMPDIR"):
        cgscore.score(X, y, keep_predictions=False, **options)
    assert folders == [tmp_path]
    monkeypatch.undo()
    cgscore.score(X, y, **options)


def test_predictions_that_are_kept_need_no_disk() -> None:
    for keep, needed in ((True, 0), (False, 4 * 10**6 * 10), (None, 0)):
        options = Options.checked(keep_predictions=keep)
        assert method.scratch_bytes(10**6, 10, options) == needed
    assert method.scratch_bytes(10**6, 1000, Options.checked()) == 4 * 10**9


def test_interrupted_runs_resume_to_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = blobs([60, 70], apart=1.5)
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 12)
    monkeypatch.setattr(blocks, "MIN_LEAF_ROWS", 4)
    monkeypatch.setattr(solve, "SAVE_SECONDS", 0.0)
    options: dict[str, Any] = {"method": "lowrank", "ridge": 0.1, "landmarks": 30}
    expected = cgscore.score(X, y, **options)
    done: list[str] = []

    def interrupted(name: str, stop: int) -> None:
        function = getattr(model, name)
        calls: list[Any] = []

        def counted(shared: Any, segment: slice) -> Any:
            calls.append(segment)
            if len(calls) > stop:
                raise KeyboardInterrupt
            return function(shared, segment)

        with monkeypatch.context() as patched:
            patched.setattr(model, name, counted)
            patched.setattr(method, "Local", lambda limit: machine_of_one())
            with pytest.raises(KeyboardInterrupt):
                cgscore.score(X, y, checkpoint=tmp_path / "work", **options)
        done.append(str(len(calls)))

    interrupted("sum_segment", 5)
    interrupted("sum_segment", 2)
    interrupted("value_segment", 4)
    found = cgscore.score(X, y, checkpoint=tmp_path / "work", **options)
    np.testing.assert_array_equal(found.loo, expected.loo)
    np.testing.assert_array_equal(found.d, expected.d)
    assert found.complexity == expected.complexity
    assert not any("checkpoint" in message for message in found.meta["warnings"])
    with pytest.raises(cgscore.errors.StorageError, match="the number of landmarks differs"):
        cgscore.score(X, y, checkpoint=tmp_path / "work", **{**options, "landmarks": 20})
    with pytest.raises(cgscore.errors.StorageError, match="the labels differ"):
        cgscore.score(X, np.roll(y, 1), checkpoint=tmp_path / "work", **options)


def machine_of_one() -> Any:
    """An executor of one thread: tasks are done one after the other."""
    from cgscore.execution.executor import Local

    return Local(None, 1)


def test_predictions_that_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([150, 160, 170], apart=1.0)
    y = np.where(np.random.default_rng(0).random(480) < 0.1, (y + 1) % 3, y)
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 64)
    options: dict[str, Any] = {"method": "lowrank", "ridge": 0.1, "landmarks": 100}
    whole = cgscore.score(X, y, **options)
    small = cgscore.score(X, y, keep_predictions=False, **options)
    np.testing.assert_array_equal(small.table["cg"], whole.table["cg"])
    np.testing.assert_allclose(small.table["margin"], whole.table["margin"], atol=1e-6)
    assert small.table["predicted_label"].equals(whole.table["predicted_label"])
    for name in ("loo", "judging_loo"):
        with pytest.raises(
            OptionError, match=r"480 examples for 3 classes .*keep_predictions=True"
        ):
            getattr(small, name)
    small.save(tmp_path / "small.parquet")
    loaded = cgscore.load(tmp_path / "small.parquet")
    with pytest.raises(OptionError, match="keep_predictions=True"):
        _ = loaded.loo
    for arguments in ({}, {"precision": 0.8}, {"expected_noise": 0.05}, {"by": "margin"}):
        expected = whole.label_issues(**arguments)
        for scores in (small, loaded):
            found = scores.label_issues(**arguments)
            assert (found["is_label_issue"] == expected["is_label_issue"]).all()
            assert (found["kind"] == expected["kind"]).all()
            np.testing.assert_allclose(found["label_score"], expected["label_score"], atol=1e-4)
    assert loaded.judged_accuracy() == whole.judged_accuracy()
    assert loaded.judged
    assert loaded.meta["verdicts"] == small.meta["verdicts"]
    small.report(tmp_path / "report.html")
    monkeypatch.setattr(method, "MAX_KEPT", 1000)
    with pytest.raises(OptionError, match="keep_predictions"):
        _ = cgscore.score(X, y, **options).loo
    np.testing.assert_array_equal(
        cgscore.score(X, y, keep_predictions=True, **options).loo, whole.loo
    )


def test_judging_whose_predictions_are_not_kept(
    no_room_for_a_matrix: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = blobs([60, 70], apart=1.5)
    whole = cgscore.score(X, y)
    monkeypatch.setattr(method, "MAX_KEPT", 10)
    small = cgscore.score(X, y)
    assert small.judged_loo is None
    np.testing.assert_array_equal(small.loo, whole.loo)
    small.save(tmp_path / "small.parquet")
    for scores in (small, cgscore.load(tmp_path / "small.parquet")):
        with pytest.raises(OptionError, match="keep_predictions"):
            _ = scores.judging_loo
        found, expected = scores.label_issues(), whole.label_issues()
        np.testing.assert_allclose(found["margin"], expected["margin"], atol=1e-6)
        np.testing.assert_allclose(found["label_score"], expected["label_score"], atol=1e-4)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("verdict_best", 7.0, "verdict_best has 7.0"),
        ("verdict_right", 1.5, "verdict_right has 1.5"),
        ("verdict_margin", np.inf, "verdict_margin has inf"),
        ("verdict_other", None, "verdict_other is missing"),
    ],
)
def test_damaged_verdicts_are_refused(
    name: str, value: float | None, message: str, tmp_path: Path
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = blobs([60, 70], apart=1.5)
    scores = cgscore.score(X, y, method="lowrank", ridge=0.1, keep_predictions=False)
    scores.save(tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    position = table.schema.get_field_index(name)
    if value is None:
        table = table.remove_column(position)
    else:
        column = pa.array([value, *table[name].to_pylist()[1:]], pa.float64())
        table = table.set_column(position, name, column)
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(cgscore.errors.ResultError, match=message):
        cgscore.load(tmp_path / "a.parquet")
