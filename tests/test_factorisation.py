from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import (
    CGScoreError,
    CGScoreWarning,
    DataError,
    LabelError,
    MemoryLimitError,
    OptionError,
    SingularKernelError,
    StorageError,
)
from cgscore.methods.auto import choose
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers import reference

LIMIT = 900_000  # bytes; panels of `many` are then kept on disk
COLUMNS = ["cg", "first_term", "partial", "third_term", "residual", "margin"]


@pytest.fixture
def many() -> tuple[Any, Any]:
    """Nine hundred points in three classes that they do not tell."""
    return np.random.default_rng(0).standard_normal((900, 10)), np.arange(900) % 3


def test_any_labelling_from_one_factor(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    f = cgscore.factor(X, ridge=0.1)
    for labels in (y, (y + 1) % 3, y == 2):
        direct = cgscore.score(X, labels, ridge=0.1)
        again = f.score(labels)
        np.testing.assert_array_equal(again.table["cg"], direct.table["cg"])
        np.testing.assert_array_equal(again.loo, direct.loo)
        assert again.meta["fingerprint"] == direct.meta["fingerprint"]
    assert f.complexity(y) == f.score(y).complexity == cgscore.complexity(X, y, ridge=0.1)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("members", [[5], [0, 1, 2, 30], list(range(0, 60, 7))])
def test_gap_of_a_group(cloud: tuple[Any, Any], ridge: float, members: list[int]) -> None:
    X, y = cloud
    R = cgscore.gram(X) + ridge * np.eye(60)
    f = cgscore.factor(X, ridge=ridge)
    found = f.gap(members, y)
    for c in range(3):
        target = np.where(y == c, 1.0, -1.0)
        assert found[c] == pytest.approx(reference.gap(R, target, members), rel=1e-8)
    assert f.gap([members[0]], y)[y[members[0]]] == pytest.approx(
        f.score(y).table["cg"][members[0]]
    )


def test_gap_of_copies() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5))
    X[7] = X[2]
    y = np.arange(20) % 2
    y[7] = y[2]
    f = cgscore.factor(X)
    assert f.gap([7], y) == {0: 0.0, 1: 0.0}  # the other copy stays
    with pytest.warns(CGScoreWarning):
        whole = f.score(y).table["cg"][2]
    assert f.gap([2, 7], y)[y[2]] == pytest.approx(whole)
    single = np.delete(np.arange(20), 7)
    assert f.gap([2, 7, 4], y)[0] == pytest.approx(
        cgscore.factor(X[single]).gap([2, 4], y[single])[0]
    )
    y[7] = 1 - y[2]
    assert f.gap([7], y) == {0: np.inf, 1: np.inf}


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_new_examples_score_as_if_they_were_there(cloud: tuple[Any, Any], ridge: float) -> None:
    X, y = cloud
    rng = np.random.default_rng(4)
    X_new, y_new = rng.standard_normal((5, 8)), np.array([0, 1, 2, 0, 1])
    found = cgscore.factor(X, ridge=ridge).score_new(X_new, y_new, y=y)
    for i in range(5):
        whole = cgscore.score(np.vstack([X, X_new[i]]), np.append(y, y_new[i]), ridge=ridge)
        np.testing.assert_allclose(
            found[COLUMNS].iloc[i].astype(float),
            whole.table[COLUMNS].iloc[-1].astype(float),
            rtol=1e-7,
        )
        assert found["predicted_label"][i] == whole.table["predicted_label"].iloc[-1]


def test_a_new_example_of_a_new_class(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    x = np.random.default_rng(4).standard_normal((1, 8))
    found = cgscore.factor(X).score_new(x, [9], y=y)
    with pytest.warns(CGScoreWarning, match="one example only"):
        whole = cgscore.score(np.vstack([X, x]), np.append(y, 9))
    assert found["cg"][0] == pytest.approx(whole.table["cg"].iloc[-1])
    assert found["given_label"][0] == 9


def test_a_new_copy_changes_nothing_or_contradicts(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    f = cgscore.factor(X)
    for label in (y[3], (y[3] + 1) % 3):
        found = f.score_new(X[[3]] * 2, [label], y=y)
        with pytest.warns(CGScoreWarning):
            whole = cgscore.score(np.vstack([X, X[3] * 2]), np.append(y, label))
        for name in ("cg", "first_term", "partial", "third_term", "residual", "margin"):
            assert found[name][0] == pytest.approx(whole.table[name].iloc[-1]), name
        assert found["predicted_label"][0] == whole.table["predicted_label"].iloc[-1]
    # with a ridge a copy is an ordinary row
    ridged = cgscore.factor(X, ridge=0.1).score_new(X[[3]], [y[3]], y=y)
    whole = cgscore.score(np.vstack([X, X[3]]), np.append(y, y[3]), ridge=0.1)
    assert ridged["cg"][0] == pytest.approx(whole.table["cg"].iloc[-1])


def test_new_regression_examples(cloud: tuple[Any, Any]) -> None:
    X, _ = cloud
    rng = np.random.default_rng(6)
    t, x = rng.standard_normal(60), rng.standard_normal((1, 8))
    found = cgscore.factor(X).score_new(x, [0.7], y=t, task="regression")
    whole = cgscore.score(np.vstack([X, x]), np.append(t, 0.7), task="regression")
    assert found["cg"][0] == pytest.approx(whole.table["cg"].iloc[-1])


def test_a_singular_kernel_is_explained() -> None:
    half = np.random.default_rng(0).standard_normal((4, 2))
    X = np.vstack([half, -half])
    message = r"row \d is nearly a combination of rows .* Remove row \d, or use a ridge"
    with pytest.raises(SingularKernelError, match=message):
        cgscore.score(X, np.arange(8) % 2)
    cgscore.score(X, np.arange(8) % 2, ridge=1e-6)


def test_few_digits_are_told() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5))
    X[20] = X[10] + 1e-11
    with pytest.warns(CGScoreWarning, match="row 20 is nearly identical to row 10"):
        s = cgscore.score(X, np.arange(30) % 2)
    assert s.meta["condition"] > 1e10
    assert 0 < s.meta["digits"] < 6


def test_rows_are_named_by_their_input_position_when_copies_are_merged() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5))
    X[5] = X[2]
    X[20] = X[10] + 1e-11
    with pytest.warns(CGScoreWarning) as caught:
        cgscore.score(X, np.arange(30) % 2)
    assert any("row 20 is nearly identical to row 10" in str(one.message) for one in caught)


def test_too_large_is_refused_before_allocating() -> None:
    X = np.random.default_rng(0).standard_normal((500_000, 2))
    with pytest.raises(MemoryLimitError, match=r"500,000 .* 1.01 TB of disk; .* is free in"):
        cgscore.score(X, np.arange(500_000) % 2, method="exact")
    assert choose(Sizes(500_000, 2, 2), Options.checked(), None).method == "partition"
    with pytest.raises(MemoryLimitError, match="with any method"):
        choose(Sizes(500_000, 2, 2), Options.checked(memory_limit="1MB"), None)
    with pytest.raises(MemoryLimitError, match="68 kB is left of the limit"):
        cgscore.score(X[:2_000], np.arange(2_000) % 2, memory_limit="100kB")
    few = np.tile(X[:12], (100, 1))  # 1,200 rows, 12 of them different
    with pytest.warns(CGScoreWarning):
        cgscore.score(few, np.arange(1_200) % 2, memory_limit="100kB")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"method": "magic"}, OptionError, "method must be one of: auto, exact, .*; got 'magic'"),
        ({"ridge": -1}, OptionError, "ridge must be 0 or larger, or 'auto'; got -1"),
        ({"ridge": float("nan")}, OptionError, "got nan"),
        ({"ridge": "much"}, OptionError, "or 'auto'; got 'much'"),
        ({"ridge": True}, OptionError, "got True"),
        ({"task": "ranking"}, OptionError, "task must be one of: .*; got 'ranking'"),
        ({"dtype": "int8"}, OptionError, "dtype must be one of: .*; got 'int8'"),
        ({"duplicates": "drop"}, OptionError, "duplicates must be one of: .*; got 'drop'"),
        ({"memory_limit": "lots"}, OptionError, "memory_limit='lots' is not a size"),
        ({"memory_limit": -5}, OptionError, "memory_limit=-5 is not a size"),
        ({"runs": 3}, OptionError, "runs=3 has no effect"),
        ({"y": None}, LabelError, "There are no labels"),
        ({"y": [0, 1]}, LabelError, "2 labels for 4 examples"),
        ({"y": [0, 0, 0, 0]}, LabelError, "1 class"),
        ({"y": [0, 1, None, 1]}, LabelError, "no label in 1 row: 2"),
        ({"y": ["a", "b", float("nan"), "b"]}, LabelError, "no label in 1 row: 2"),
        ({"y": np.ma.masked_equal([0, 1, 0, 1], 1)}, LabelError, "masked"),
        ({"data": np.ma.masked_equal(np.eye(4), 0)}, DataError, "masked"),
        ({"y": [2**70, 1, 2, 1]}, LabelError, "more than 64 bits"),
        ({"y": ["a", "\ud800", "a", "\ud800"]}, LabelError, "not Unicode"),
        ({"y": [b"a", b"b", b"a", b"b"]}, LabelError, "type bytes"),
        (
            {"y": [0.5, 1, 2, 1], "task": "classification"},
            LabelError,
            "fractions such as 0.5.*task='regression'",
        ),
        ({"y": [[0, 1]] * 4}, LabelError, r"shape \(4, 2\)"),
        ({"y": ["a", 1, "b", 2]}, LabelError, "types int, str"),
        ({"data": np.empty((0, 3)), "y": []}, DataError, "no rows"),
        ({"data": [[1.0, 2.0]], "y": [1]}, CGScoreError, "needs at least two|at least 2"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], error: type[Exception], message: str) -> None:
    call: dict[str, Any] = {"data": np.eye(4), "y": np.array([0, 1, 0, 1])} | change
    if isinstance(call["y"], list) and any(isinstance(one, str) for one in call["y"]):
        call["y"] = np.array(call["y"], dtype=object)
    with pytest.raises(error, match=message):
        cgscore.score(**call)


@pytest.mark.parametrize("members", [[], [60], [-1], [0.5]])
def test_members_must_be_positions(cloud: tuple[Any, Any], members: list[int]) -> None:
    X, y = cloud
    with pytest.raises(OptionError, match="members must"):
        cgscore.factor(X).gap(members, y)


def test_extras_of_a_ridge_and_unknown_names_are_refused(cloud: tuple[Any, Any]) -> None:
    s = cgscore.score(*cloud, ridge=0.1)
    with pytest.raises(OptionError, match="ridge 0 only"):
        s.extra("accumulated_error")
    with pytest.raises(OptionError, match="got 'shapley'"):
        s.extra("shapley")


def test_new_examples_do_not_see_each_other(cloud: tuple[Any, Any]) -> None:
    X, y = cloud
    f = cgscore.factor(X)
    x, labels = np.random.default_rng(9).standard_normal((6, 8)), [0, 7, 1, 9, 7, 2]
    together = f.score_new(x, labels, y=y)
    assert together["id"].tolist() == list(range(6))
    for i in range(6):
        alone = f.score_new(x[[i]], [labels[i]], y=y)
        for name in [*COLUMNS, "predicted_label", "given_label"]:
            assert together[name][i] == pytest.approx(alone[name][0]), name


def test_a_determined_new_row_is_refused_and_a_near_one_warned_about() -> None:
    A = np.random.default_rng(0).standard_normal((8, 3))
    f = cgscore.factor(np.vstack([A, -A[:3]]))
    y = np.arange(11) % 2
    with pytest.raises(SingularKernelError, match=r"row 1 .* determined by the data"):
        f.score_new(np.vstack([A[0] + A[1], -A[5]]), [0, 1], y=y)
    with pytest.warns(CGScoreWarning, match=r"few digits .* rows 0"):
        f.score_new(A[[0]] + 1e-11, [0], y=y)


@pytest.mark.parametrize("labels", [["a"], [[0, 1]], [0, 1, 2], [None]])
def test_labels_of_new_examples_are_checked(cloud: tuple[Any, Any], labels: Any) -> None:
    X, y = cloud
    with pytest.raises(LabelError, match="y_new"):
        cgscore.factor(X).score_new(X[:1] + 1, labels, y=y)


def test_the_gap_of_near_copies_keeps_its_digits() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[20] = X[10] + 1e-9 * rng.standard_normal(6)
    y = np.arange(40) % 2
    y[20] = y[10]
    rest = np.setdiff1d(np.arange(40), [10, 20])
    with pytest.warns(CGScoreWarning):
        whole = cgscore.score(X, y).complexity[0]
    expected = whole - cgscore.complexity(X[rest], y[rest])[0]
    assert cgscore.factor(X).gap([10, 20], y)[0] == pytest.approx(expected, rel=1e-6)


def test_singular_kernels_of_many_kinds_are_explained() -> None:
    """Opposite pairs beyond the dimension, in any number: always an explanation, never a fault."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        half = rng.standard_normal((rng.integers(5, 40), 3))
        with pytest.raises(SingularKernelError, match="nearly a combination of rows"):
            cgscore.factor(np.vstack([half, -half]))
    corners = np.array(np.meshgrid([-1.0, 1], [-1.0, 1], [-1.0, 1])).reshape(3, -1).T
    with pytest.raises(SingularKernelError, match=r"and \d others"):
        cgscore.factor(corners)


def test_data_changed_in_place_are_noticed() -> None:
    X = np.random.default_rng(0).standard_normal((20, 5))
    s = cgscore.score(X, np.arange(20) % 2)
    X *= np.array([1.0, 2, 3, 4, 5])
    with pytest.raises(OptionError, match="fingerprint differs"):
        s.extra("cg_prime")


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_float32_says_what_it_costs(limit: int | None, many: tuple[Any, Any]) -> None:
    exact = cgscore.score(*many, judge=False, memory_limit=limit)
    rough = cgscore.score(*many, judge=False, memory_limit=limit, dtype="float32")
    loss = rough.meta["loss"]
    error = np.abs(rough.d / exact.d - 1)
    assert exact.meta["loss"] is None
    assert loss["examples"] == 32
    assert loss["d_largest"] <= error.max() * 1.5
    assert loss["d_weakest"] == pytest.approx(error[np.argmax(exact.d)], rel=0.5)
    assert 0.3 < loss["d_median"] / np.median(error) < 3
    change = np.linalg.norm(rough.alpha - exact.alpha) / np.linalg.norm(exact.alpha)
    assert change < 30 * loss["alpha"] + 1e-12
    assert change < 0.1 * loss["alpha_before_refinement"]
    assert rough.meta["dtype"] == "float32"


def test_float32_is_refused_or_doubted_where_it_is_not_enough(many: tuple[Any, Any]) -> None:
    X, y = many
    X[700] = X[30] + 3e-5 * X[31]
    with pytest.warns(CGScoreWarning, match="float32 can cost up to"):
        rough = cgscore.score(X, y, dtype="float32", judge=False)
    assert rough.meta["loss"]["d_weakest"] < rough.meta["loss"]["d_bound"] < 1
    X[700] = X[30] + 1e-6 * X[31]
    with pytest.raises(CGScoreError, match=r"row 700 .* row 30 .*Or use float64"):
        cgscore.score(X, y, dtype="float32", judge=False)
    with pytest.warns(CGScoreWarning, match="leaves about 6 digits"):
        cgscore.score(X, y)


def test_a_factor_on_disk_serves_threads_one_after_the_other(many: tuple[Any, Any]) -> None:
    X, y = many
    factor = cgscore.factor(X, memory_limit=LIMIT)
    assert factor.storage == "disk"
    labels = [np.roll(y, shift) for shift in range(4)] * 3
    serial = [factor.score(one) for one in labels]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(factor.score, labels))
    for one, other in zip(serial, found, strict=True):
        np.testing.assert_array_equal(one.d, other.d)
        np.testing.assert_array_equal(one.loo, other.loo)
        np.testing.assert_array_equal(one.alpha, other.alpha)
    factor.close()
    with pytest.raises(StorageError, match="This factor was closed"):
        factor.score(y)


def test_the_loss_of_each_labelling_is_its_own(many: tuple[Any, Any]) -> None:
    X, y = many
    factor = cgscore.factor(X, dtype="float32")
    other = (X[:, 0] > 0).astype(int)  # not y with its classes renamed, whose loss is the same
    first, second = factor.score(y).meta["loss"], factor.score(other).meta["loss"]
    assert first["d_largest"] == second["d_largest"]
    assert first["alpha_before_refinement"] != second["alpha_before_refinement"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factor.score_new(X[:5] + 0.5, y[:5], y=y)


def test_gaps_of_named_groups_are_those_of_removal() -> None:
    rng = np.random.default_rng(0)
    n = 300
    X, y = rng.standard_normal((n, 8)), np.arange(n) % 3
    groups = rng.choice(["a", "b", "c", "d"], n)
    table = cgscore.factor(X).group_gaps(groups, y)
    assert table["group"].tolist() == list(dict.fromkeys(groups.tolist()))
    whole = cgscore.complexity(X, y)
    for row in table.to_dict("records"):
        stay = groups != row["group"]
        assert row["examples"] == (~stay).sum()
        rest = cgscore.complexity(X[stay], y[stay])
        for c in range(3):
            assert row[f"gap_{c}"] == pytest.approx(whole[c] - rest[c], rel=1e-9)
        assert row["gap"] == pytest.approx(sum(whole.values()) - sum(rest.values()), rel=1e-9)


def test_gaps_of_named_groups_in_several_panels() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 5)), rng.standard_normal(400)
    groups = np.sort(rng.integers(0, 4, 400))
    factor = cgscore.factor(X, ridge=0.1)
    narrow = cgscore.factor(X, ridge=0.1, memory_limit="500kB")
    table, other = factor.group_gaps(groups, y), narrow.group_gaps(groups, y)
    assert list(table.columns) == ["group", "examples", "gap"]
    np.testing.assert_allclose(table["gap"], other["gap"], rtol=1e-9)
    members = np.flatnonzero(groups == 2)
    assert table["gap"][2] == pytest.approx(factor.gap(members.tolist(), y)["target"])
    with pytest.raises(OptionError, match="groups must have 400 values"):
        factor.group_gaps(groups[:3], y)
