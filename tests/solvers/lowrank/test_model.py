"""Landmarks with exact blocks against the matrix they stand for, written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cgscore.errors import SingularKernelError
from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.kernel import own_gram, unit_rows
from cgscore.rows import streamed_rows
from cgscore.solvers import reference
from cgscore.solvers.lowrank import blocks, model
from cgscore.solvers.lowrank import solve as passes
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.model import Landmarks, Targets
from cgscore.solvers.lowrank.solve import Outcome, Tree, solve
from cgscore.typing import Array
from cgscore.valuation import class_targets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5))
CODES = RNG.integers(0, 3, 60)
RIDGE = 0.05


def scored(X: Array, landmarks: Landmarks, targets: Targets, threads: int = 2) -> Outcome:
    return solve(
        streamed_rows(X), landmarks, targets, executor=Local(None, threads), progress=Silent()
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 16)
    monkeypatch.setattr(blocks, "MIN_LEAF_ROWS", 4)


def written_out(X: Array, landmarks: Landmarks) -> Array:
    """``Q + D`` of all rows."""
    rows = streamed_rows(X)
    H, S = own_gram(unit_rows(X)), landmarks.positions
    Q = H[:, S] @ np.linalg.solve(H[np.ix_(S, S)], H[S])
    M = Q + landmarks.ridge * np.eye(len(X))
    similar = blocks.similar_blocks(rows, seed=0, executor=Local())
    assert 3 < len(similar.ends) < 10
    for block in similar.positions(slice(0, len(similar.ends))):
        inside = np.ix_(block, block)
        M[inside] += (H - Q)[inside]
    return M


def test_scores_are_those_of_the_matrix_written_out() -> None:
    landmarks = landmarks_of(streamed_rows(X), 20, RIDGE, seed=0)
    M, Y = written_out(X, landmarks), class_targets(CODES, 3)
    found = scored(X, landmarks, Targets(CODES, 3))
    values = found.valuation
    np.testing.assert_allclose(values.d, np.linalg.inv(M).diagonal(), rtol=1e-10)
    for c in range(3):
        own = c == CODES
        np.testing.assert_allclose(
            values.loo[:, c], reference.leave_one_out(M, Y[:, c]), atol=1e-10
        )
        np.testing.assert_allclose(values.cg[own], reference.cg(M, Y[:, c])[own], rtol=1e-9)
        for name, term in zip(
            ("first_term", "partial", "third_term"), reference.terms(M, Y[:, c]), strict=True
        ):
            np.testing.assert_allclose(getattr(values, name)[own], term[own], atol=1e-9)
        np.testing.assert_allclose(
            found.complexity[c], reference.complexity(M, Y[:, c]), rtol=1e-10
        )
    assert 12 < found.digits < 17


def test_numbers_as_targets() -> None:
    landmarks = landmarks_of(streamed_rows(X), 20, RIDGE, seed=0)
    y = RNG.standard_normal(60)
    found = scored(X, landmarks, Targets(np.zeros(60, np.intp), 1, y))
    M = written_out(X, landmarks)
    np.testing.assert_allclose(found.valuation.loo[:, 0], reference.leave_one_out(M, y), atol=1e-10)
    np.testing.assert_allclose(found.complexity, reference.complexity(M, y))


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 1.0])
def test_all_rows_as_landmarks_give_the_exact_scores(ridge: float) -> None:
    landmarks = landmarks_of(streamed_rows(X), 60, ridge, seed=0)
    inverse = np.linalg.inv(own_gram(unit_rows(X), ridge))
    found = scored(X, landmarks, Targets(CODES, 3)).valuation
    np.testing.assert_allclose(found.d, inverse.diagonal(), rtol=1e-8)
    Y = class_targets(CODES, 3)
    np.testing.assert_allclose(found.loo, Y - inverse @ Y / inverse.diagonal()[:, None], atol=1e-8)


@pytest.mark.parametrize("most", [1, 2, 3, 64])
def test_any_segments(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    landmarks = landmarks_of(streamed_rows(X), 20, RIDGE, seed=0)
    expected = scored(X, landmarks, Targets(CODES, 3))
    monkeypatch.setattr(blocks, "MAX_SEGMENTS", most)
    monkeypatch.setattr(model, "PIECE_LANDMARKS", 6)
    found = scored(X, landmarks, Targets(CODES, 3))
    np.testing.assert_allclose(found.valuation.loo, expected.valuation.loo, atol=1e-12)
    np.testing.assert_allclose(found.complexity, expected.complexity)
    again = scored(X, landmarks, Targets(CODES, 3), threads=5)
    np.testing.assert_array_equal(again.valuation.loo, found.valuation.loo)


def test_one_block_of_all_rows_gives_the_exact_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 60)
    found = scored(X, landmarks_of(streamed_rows(X), 5, RIDGE, seed=0), Targets(CODES, 3))
    inverse = np.linalg.inv(own_gram(unit_rows(X), RIDGE))
    np.testing.assert_allclose(found.valuation.d, inverse.diagonal(), rtol=1e-10)


def test_permuted_rows_have_permuted_scores() -> None:
    landmarks = landmarks_of(streamed_rows(X), 20, RIDGE, seed=0)
    found = scored(X, landmarks, Targets(CODES, 3)).valuation
    order = RNG.permutation(60)
    places = np.argsort(order)[landmarks.positions]
    moved = landmarks_of(streamed_rows(X[order]), 60, RIDGE, seed=0)
    kept = np.sort(places)
    H = own_gram(unit_rows(X[order][kept]))
    moved = replace(
        moved,
        positions=kept,
        rows=streamed_rows(X[order])[kept],
        C=np.asfortranarray(np.linalg.cholesky(H)),
    )
    again = scored(X[order], moved, Targets(CODES[order], 3)).valuation
    np.testing.assert_allclose(again.loo, found.loo[order], atol=1e-11)
    np.testing.assert_allclose(again.cg, found.cg[order], rtol=1e-10)


def test_copies_are_ordinary_rows() -> None:
    repeated = X.copy()
    repeated[30:40] = X[:10]
    landmarks = landmarks_of(streamed_rows(repeated), 60, RIDGE, seed=0)
    assert len(landmarks) == 50
    found = scored(repeated, landmarks, Targets(CODES, 3)).valuation
    inverse = np.linalg.inv(own_gram(unit_rows(repeated), RIDGE))
    np.testing.assert_allclose(found.d, inverse.diagonal(), rtol=1e-8)


def test_features_beyond_the_diagonal_are_refused() -> None:
    landmarks = landmarks_of(streamed_rows(X), 20, RIDGE, seed=0)
    wrong = replace(landmarks, C=np.asfortranarray(0.9 * landmarks.C))
    with pytest.raises(
        SingularKernelError, match=r"Row \d+ .*exceed the diagonal.*fewer landmarks"
    ):
        scored(X, wrong, Targets(CODES, 3))


def test_a_matrix_without_a_factor_is_refused() -> None:
    landmarks = landmarks_of(streamed_rows(X), 5, RIDGE, seed=0)
    parts = blocks.similar_blocks(streamed_rows(X), seed=0, executor=Local())
    shared = model.FirstPass(streamed_rows(X), parts, landmarks, Targets(CODES, 3))
    sums = model.sum_segment(shared, slice(0, len(parts.ends)))
    assert sums.rows == 60
    sums.negative[2, 2] = 10.0
    with pytest.raises(SingularKernelError, match="LAPACK's status 3"):
        model.between_passes(shared, sums)


def test_the_tree_adds_neighbours_of_equal_size() -> None:
    def sums(number: int) -> model.Sums:
        values = np.full((2, 2), 0.1 * number, order="F")
        return model.Sums(values, np.full((3, 2), 0.3 * number), 1)

    for count in range(1, 12):
        tree, sizes = Tree(), []
        for number in range(count):
            tree.push(sums(number))
            tree = Tree.restored(tree.arrays())  # at any time
            sizes = tree.arrays()["sizes"].tolist()
        assert sizes == [2**bit for bit in range(4, -1, -1) if count >> bit & 1]
        assert tree.count == tree.rows() == count
        total = tree.total()
        assert total.rows == count
        np.testing.assert_allclose(total.negative, 0.1 * sum(range(count)))


def test_groups_of_segments_are_parts_of_the_tree() -> None:
    """However many segments a task has, and wherever a run was interrupted: the same bits."""
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((3, 3)) for _ in range(13)]

    def sums(number: int) -> model.Sums:
        return model.Sums(values[number].copy(order="F"), values[number] / 3, 1)

    def added(numbers: list[slice]) -> model.Sums:
        if len(numbers) == 1:
            return sums(numbers[0].start)
        half = len(numbers) // 2
        return model.add(added(numbers[:half]), added(numbers[half:]))

    segments = [slice(number, number + 1) for number in range(13)]
    for first in range(13):
        bits = set()
        for together in (1, 2, 4, 8):
            tree = Tree()
            for number in range(first):
                tree.push(sums(number))
            groups = passes._groups(segments, first, together)
            assert [one for group in groups for one in group] == segments[first:]
            assert max(len(group) for group in groups) <= together
            for group in groups:
                tree.push(added(list(group)), len(group))
            assert tree.count == 13
            bits.add(tree.total().negative.tobytes())
        assert len(bits) == 1


def test_segments_of_a_task_leave_every_worker_enough_tasks() -> None:
    assert [passes.segments_together(64, workers) for workers in (1, 2, 4, 5, 64)] == [
        8,
        4,
        2,
        1,
        1,
    ]
    assert passes.segments_together(3, 2) == 1


def test_memory_of_a_task_and_arithmetic_grow_as_they_should() -> None:
    assert model.flops(8000, 10, 3, 100) == pytest.approx(2 * model.flops(4000, 10, 3, 100))
    assert model.segment_bytes(10**6, 10, 3, 1000) > 8 * 1000**2
    assert model.segment_bytes(150, 10, 3, 100) < 2 * 10**6
    more = model.segment_bytes(150, 10, 3, 1000, 8) - model.segment_bytes(150, 10, 3, 1000)
    assert more >= 3 * 8 * 1000**2  # the sums of 4, 2 and 1 segments wait
