"""Labels with noise, predictions of them, and how well noise is found."""

from __future__ import annotations

from typing import Any

import numpy as np


def flipped(y: Any, share: float, k: int, seed: int = 0, step: int | None = None) -> Any:
    """Labels of which a share goes to other classes at random, or `step` classes on."""
    rng = np.random.default_rng(seed)
    z = y.copy()
    for c in range(k):
        wrong = rng.permutation(np.flatnonzero(y == c))[: round(share * (y == c).sum())]
        z[wrong] = (c + (step or rng.integers(1, k, len(wrong)))) % k
    return z


def f1(wrong: Any, marked: Any) -> float:
    return float(2 * (wrong & marked).sum() / (wrong.sum() + marked.sum()))


def auroc(wrong: Any, right: Any) -> float:
    ranks = right.argsort().argsort()
    low, n = wrong.sum(), len(wrong)
    return float(1 - (ranks[wrong].sum() - low * (low - 1) / 2) / (low * (n - low)))


def predictions(y: Any, z: Any, k: int, seed: int = 1) -> Any:
    """Something like leave-one-out predictions: the mean target of the noisy class, and spread."""
    rng = np.random.default_rng(seed)
    T = np.array([[np.mean(z[y == c] == j) for j in range(k)] for c in range(k)])
    hard = rng.random(len(y)) < 0.1
    mix = np.where(hard, 0.55, 1.0)[:, None]
    other = rng.integers(0, k, len(y))
    clean = mix * np.eye(k)[y] + (1 - mix) * np.eye(k)[other]
    return 2 * clean @ T - 1 + 0.15 * rng.standard_normal((len(y), k))


def blobs(counts: Any, apart: float = 5.0, p: int = 20) -> Any:
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(len(counts)), counts)
    return rng.standard_normal((len(y), p)) + apart * rng.standard_normal((len(counts), p))[y], y
