"""C-scores by training on subsets, and the published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cgscore.errors import CGScoreWarning, DataError, LabelError, OptionError, SourceError
from cgscore.training.scores.consistency import RATIOS, consistency, read_consistency


def test_only_what_was_held_out_counts() -> None:
    """A learner that knows what it was given, and of the rest only the even ones."""
    seen: list[tuple[tuple[int, ...], int]] = []

    def train(rows: np.ndarray, seed: int) -> np.ndarray:
        right: np.ndarray = np.arange(12) % 2 == 0
        right[rows] = True
        seen.append((tuple(rows.tolist()), seed))
        return right

    found = consistency(train, 12, ratios=(0.25, 0.5), runs=20, seed=3)
    assert found.score.tolist() == [1.0, 0.0] * 6
    assert [len(rows) for rows, _ in seen] == [3] * 20 + [6] * 20
    assert len(set(seen)) == 40  # fresh subsets and seeds
    out = np.array([[i not in rows for i in range(12)] for rows, _ in seen])
    assert (found.held_out == [out[:20].sum(axis=0), out[20:].sum(axis=0)]).all()
    first = list(seen)
    seen.clear()
    consistency(train, 12, ratios=(0.5,), runs=20, seed=3)
    assert seen == first[20:]  # whatever the other ratios are


def test_ratios_weigh_alike() -> None:
    """Right at one ratio and half right at the other: three quarters, whatever the counts."""

    def train(rows: np.ndarray, seed: int) -> np.ndarray:
        return np.full(10, 1.0 if len(rows) == 2 else 0.5)

    found = consistency(train, 10, ratios=(0.2, 0.8), runs=30)
    assert found.score == pytest.approx(np.full(10, 0.75))
    assert found.by_ratio[:, 0].tolist() == [1.0, 0.5]


def test_a_real_learner_finds_the_wrong_label() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 6 * y[:, None]
    y[7] = 1

    def train(rows: np.ndarray, seed: int) -> np.ndarray:
        right: np.ndarray = KNeighborsClassifier(3).fit(X[rows], y[rows]).predict(X) == y
        return right

    found = consistency(train, 40, ratios=(0.3, 0.6), runs=15)
    assert found.score[7] < 0.2 < np.delete(found.score, 7).min()


def test_who_was_never_held_out_is_told() -> None:
    with pytest.warns(CGScoreWarning, match="9 examples .* Raise runs=1"):
        found = consistency(lambda rows, seed: np.ones(10), 10, ratios=(0.9,), runs=1)
    assert np.isnan(found.score).sum() == 9
    with pytest.warns(CGScoreWarning):
        mixed = consistency(lambda rows, seed: np.ones(10), 10, ratios=(0.1, 0.9), runs=2)
    assert (mixed.score == 1).all()


def test_wrong_arguments() -> None:
    for options in ({"ratios": (1.0,)}, {"ratios": ()}, {"runs": 0}):
        with pytest.raises(OptionError, match=f"{next(iter(options))} must be"):
            consistency(lambda rows, seed: np.ones(5), 5, **options)
    for wrong in (np.ones(4), np.full(5, 2.0), np.full(5, np.nan)):
        with pytest.raises(DataError, match="train returned"):
            consistency(lambda rows, seed, wrong=wrong: wrong, 5)  # type: ignore[misc]
    assert RATIOS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def test_published_scores_fit_the_data(real_data: Path) -> None:
    path = real_data / "cscores" / "cifar10-cscores-orig-order.npz"
    parquet = real_data / "cifar10" / "train.parquet"
    labels = pq.read_table(parquet, columns=["label"])["label"].to_numpy()
    scores = read_consistency(path, labels)
    assert scores.shape == (50_000,)
    assert scores[:3] == pytest.approx([0.70313692, 0.8984598, 0.83149057])
    with pytest.raises(LabelError, match=r"for 45,\d+ examples, first at position 0"):
        read_consistency(path, np.roll(labels, 1))
    with pytest.raises(LabelError, match="50,000"):
        read_consistency(path, labels[:10])
    hundred = read_consistency(real_data / "cscores" / "cifar100-cscores-orig-order.npz")
    assert 0 <= hundred.min() < 0.001 < 0.999 < hundred.max() <= 1


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    with pytest.raises(SourceError, match="does not exist"):
        read_consistency(path)
    for arrays, message in (
        ({"X": np.ones(3)}, "arrays X. Expected scores"),
        ({"scores": np.ones(3), "labels": np.ones(2)}, "one number and one label"),
        ({"scores": np.full(3, 2.0), "labels": np.ones(3)}, "outside of 0 to 1"),
        ({"scores": np.array([{}], object), "labels": np.ones(1)}, "pickled"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(SourceError, match=message):
            read_consistency(path)
