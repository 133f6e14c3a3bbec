"""How labels go wrong, estimated from predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from cgscore.issues import noise_model
from cgscore.issues.border import MIN_AGREEMENT, agreement
from cgscore.issues.noise_model import estimate_noise
from cgscore.issues.verdicts import expected_wrong, flag, judge
from tests.issues.examples import auroc, f1, flipped, predictions


@pytest.mark.parametrize(("share", "step"), [(0.05, None), (0.2, None), (0.3, 1), (0.0, None)])
def test_the_noise_is_estimated(share: float, step: int | None) -> None:
    k = 6
    y = np.arange(6000) % k
    z = flipped(y, share, k, step=step)
    F = predictions(y, z, k)
    noise = estimate_noise(F, z)
    np.testing.assert_allclose(noise.T.sum(axis=1), 1)
    truth = np.array([[np.mean(z[y == c] == j) for j in range(k)] for c in range(k)])
    assert np.abs(noise.T - truth).max() < 0.04
    verdicts = judge(F, z, noise)
    expected, low, high = expected_wrong(verdicts, noise)
    assert low <= (y != z).sum() <= high
    assert expected == pytest.approx(verdicts.wrong_by_class.sum())
    if share:
        assert f1(y != z, flag(verdicts.right)) > 0.85
        assert auroc(y != z, verdicts.right) > 0.97


def test_classes_that_overlap_are_not_taken_for_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a third is misclassified by nature: most of that is not called noise."""
    k, n = 6, 8000
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    logits = 1.6 * (1.6 * np.eye(k)[y] + rng.standard_normal((n, k)))
    q = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.mean(q.argmax(axis=1) != y) > 0.35
    F = 0.6 * (2 * q - 1) + 0.1 * rng.standard_normal((n, k))
    right = judge(F, y, estimate_noise(F, y)).right
    assert flag(right).mean() < 0.02
    assert (1 - right).sum() < 0.05 * n
    monkeypatch.setattr("cgscore.issues.noise_model.NOISE_LEVELS", (1.0,))
    naive = judge(F, y, estimate_noise(F, y, anchor_shares=(0.25,))).right
    assert (1 - naive).sum() > 2 * (1 - right).sum()


def test_held_out_labels_count_for_the_level_of_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few labels of many classes: a matrix W learnt from them explains their noise as confusion."""
    k, n = 30, 900
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    z = flipped(y, 0.2, k)
    logits = 1.6 * (3.2 * np.eye(k)[y] + rng.standard_normal((n, k)))
    q = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    F = 0.6 * (2 * q - 1) + 0.1 * rng.standard_normal((n, k))
    T = np.full((k, k), 0.2 / (k - 1))
    np.fill_diagonal(T, 0.8)
    level, _, _ = noise_model._likely_level(F, z, T, 1.0, overlap=True)
    assert level == 1.0
    monkeypatch.setattr(noise_model, "_held_out", lambda *_: 0.0)
    level, _, _ = noise_model._likely_level(F, z, T, 1.0, overlap=True)
    assert level <= 0.5


@pytest.mark.parametrize("k", [2, 4])
def test_natural_confusion_of_few_clear_examples_is_no_noise(k: int) -> None:
    """Labels are drawn by nature: even of the clearest examples some are of another class."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((1200, k))
    q = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (q.cumsum(axis=1) > rng.random((1200, 1))).argmax(axis=1)
    F = 2 * q - 1 + 0.05 * rng.standard_normal((1200, k))
    noise = estimate_noise(F, y)
    verdicts = judge(F, y, noise)
    assert noise.overlap
    assert np.mean(F.argmax(axis=1) != y) > 0.25
    assert flag(verdicts.right).mean() < 0.01
    _, low, high = expected_wrong(verdicts, noise)
    assert low == 0
    assert high > np.sum(F.argmax(axis=1) != y)


def test_nature_is_tried_where_predictions_agree_with_seven_labels_in_ten() -> None:
    """Labels are drawn by nature; strong noise at borders would explain them, too."""
    k, n = 5, 3000
    rng = np.random.default_rng(0)
    q = softmax(2.6 * rng.standard_normal((n, k)), axis=1)
    y = (q.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    F = 2 * q - 1 + 0.05 * rng.standard_normal((n, k))
    assert 0.7 < agreement(F, y) < MIN_AGREEMENT
    noise = estimate_noise(F, y)
    assert noise.overlap
    assert flag(judge(F, y, noise).right).mean() < 0.01


def test_noise_on_top_of_nature_is_not_taken_for_all_of_it() -> None:
    """A quarter differs by nature, and a fifth of the labels are wrong at random."""
    k, n = 5, 3000
    rng = np.random.default_rng(0)
    q = softmax(3 * rng.standard_normal((n, k)), axis=1)
    y = (q.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    z = flipped(y, 0.2, k)
    F = 0.75 * (2 * q - 1) - 0.15 + 0.15 * rng.standard_normal((n, k))
    noise = estimate_noise(F, z)
    flagged = flag(judge(F, z, noise).right)
    assert noise.overlap
    assert flagged.sum() > 50
    assert np.mean((y != z)[flagged]) > 0.8


def test_much_noise_near_borders_is_not_taken_for_overlap() -> None:
    """As many people label: two labels in five are wrong, more of them where classes meet."""
    k, n, odds, strength = 10, 3000, 0.2, 0.3
    rng = np.random.default_rng(0)
    q = 3.2 * np.eye(k)[np.arange(n) % k] + rng.standard_normal((n, k))
    q = np.exp(1.5 * q) / np.exp(1.5 * q).sum(axis=1, keepdims=True)
    y = (q.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    given = np.repeat(odds * q[:, None] ** strength, k, axis=1)  # true class, then label
    given[:, np.arange(k), np.arange(k)] /= odds
    given /= given.sum(axis=2, keepdims=True)
    z = (given[np.arange(n), y].cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    F = 2 * np.einsum("ic,icj->ij", q, given) - 1 + 0.1 * rng.standard_normal((n, k))
    assert 0.5 < np.mean(F.argmax(axis=1) == z) < 0.65
    noise = estimate_noise(F, z)
    assert not noise.overlap
    verdicts = judge(F, z, noise)
    assert f1(y != z, flag(verdicts.right)) > 0.8
    _, low, high = expected_wrong(verdicts, noise)
    assert low <= (y != z).sum() <= high
    assert high >= verdicts.differs.sum()  # all of them may be wrong


def test_noise_of_two_classes_that_are_apart_is_not_taken_for_overlap() -> None:
    y = np.arange(600) % 2
    z = flipped(y, 0.15, 2)
    F = predictions(y, z, 2)
    noise = estimate_noise(F, z)
    assert not noise.overlap
    assert f1(y != z, flag(judge(F, z, noise).right)) > 0.9


@pytest.mark.parametrize("wrong", [16, 80])
def test_rare_noise_is_not_taken_for_overlap(wrong: int) -> None:
    k, n = 10, 8000
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, k, n)
        z = y.copy()
        rows = rng.choice(n, wrong, replace=False)
        z[rows] = (y[rows] + rng.integers(1, k, wrong)) % k
        F = 2.0 * np.eye(k)[y] - 1 + 0.25 * rng.standard_normal((n, k))
        right = judge(F, z, estimate_noise(F, z)).right
        assert f1(y != z, flag(right)) > 0.9


@pytest.mark.parametrize("k", [2, 6])
def test_the_order_of_rows_does_not_matter(k: int) -> None:
    y = np.arange(3000) % k  # in this order every other row is of an even class
    z = flipped(y, 0.1, k)
    F = predictions(y, z, k)
    mixed = np.random.default_rng(5).permutation(len(y))
    one = judge(F, z, estimate_noise(F, z)).right
    two = judge(F[mixed], z[mixed], estimate_noise(F[mixed], z[mixed])).right
    np.testing.assert_allclose(one[mixed], two, atol=1e-4)
