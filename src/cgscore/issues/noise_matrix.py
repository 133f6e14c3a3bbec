r"""The noise matrix ``T_cj = P(given j | true c)`` from the labels of anchors.

Few labels of anchors are wrong, so the rows of T are shrunk: rates of noise towards their mean
(beta-binomial model), and the classes to which labels go towards the uniform distribution
(Dirichlet-multinomial model). The strength of the shrinkage is the one under which the labels are
most likely (empirical Bayes).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from cgscore.typing import Array

STRENGTHS = 10.0 ** np.arange(0, 4.01, 0.25)  # candidates, in pseudo-counts


def noise_matrix(counts: Array) -> Array:
    """T from the number of anchors of each class (rows) with each given label (columns)."""
    k, total = len(counts), counts.sum(axis=1)
    rate = _shrunk_rates(total - np.diagonal(counts), total)
    T: Array = rate[:, None] * _shrunk_targets(counts)
    T[np.arange(k), np.arange(k)] = 1 - rate
    return T


def _shrunk_rates(wrong: Array, total: Array) -> Array:
    """Share of wrong labels in each class, shrunk to the share in all classes."""
    mean = (wrong.sum() + 0.5) / (total.sum() + 1)

    def log_likelihood(strength: float) -> float:
        a, b = mean * strength, (1 - mean) * strength
        of_wrong = gammaln(wrong + a) - gammaln(a)
        of_right = gammaln(total - wrong + b) - gammaln(b)
        return float((of_wrong + of_right + gammaln(strength) - gammaln(total + strength)).sum())

    strength = _most_likely(log_likelihood)
    rates: Array = (wrong + mean * strength) / (total + strength)
    return rates


def _shrunk_targets(counts: Array) -> Array:
    """Distribution of the wrong labels of each class: (k, k), rows add up to 1, diagonal 0."""
    k = len(counts)
    off_diagonal = ~np.eye(k, dtype=bool)
    wrong = np.where(off_diagonal, counts, 0.0)
    total = wrong.sum(axis=1)

    def log_likelihood(strength: float) -> float:
        prior = strength / (k - 1)
        of_labels = (gammaln(wrong + prior) - gammaln(prior))[off_diagonal].sum()
        return float(of_labels + (gammaln(strength) - gammaln(total + strength)).sum())

    strength = _most_likely(log_likelihood)
    targets: Array = np.where(off_diagonal, wrong + strength / (k - 1), 0.0)
    targets /= targets.sum(axis=1, keepdims=True)
    return targets


def _most_likely(log_likelihood: Callable[[float], float]) -> float:
    return float(max(STRENGTHS, key=log_likelihood))
