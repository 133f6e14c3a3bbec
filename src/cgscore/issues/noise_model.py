r"""Which labels are wrong, what they should be, and how sure that is.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
F           n x k    leave-one-out predictions: what all *other* examples say of example i
j           n        given labels
T           k x k    ``T_cj = P(given j | true c)``: how labels go wrong
q           n x k    class probabilities from the inputs alone (`calibration.py`)
==========  =======  =========================================================================

With the true class hidden, ``P(true c | x_i, given j) ~ q_i(c) T_cj``. Its entry at the given label
is the **label score**: the probability that the label is right, as far as the other examples tell.

T comes from *anchors*: the examples of which predictions are most certain, a share of those
predicted to be of each class. F_i does not depend on the label of example i, so the labels of the
anchors of class c are draws from row c of T, with little natural confusion among them. Few of them
are wrong, so rows are shrunk, and how much is decided by the data (empirical Bayes): rates of noise
towards the common rate (beta-binomial), and where labels go towards all classes alike
(Dirichlet-multinomial). Anchors are first taken by the gap between the best and the second
prediction, then, with the probabilities that follow, by the largest probability.

Where classes overlap, even anchors are confused by nature. It shows: the most certain of them have
far fewer "wrong" labels. Then fewer anchors are taken, and the level of noise becomes the one under
which the given labels are most likely. No rate of noise is asked for; it is what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cgscore.issues.calibration import (
    Calibration,
    Index,
    best_penalty,
    calibrated,
    likelihood,
    parts,
    sampled,
    sharpest,
)
from cgscore.kernel import Array

SHARES = (0.25, 0.1, 0.05, 0.025)  # of the examples predicted to be of a class: its anchors
FEWEST = 200  # anchors, if there are as many examples
DEVIATIONS = 3.0  # by which the rate must fall for a smaller share to be taken
LEVELS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)  # of the noise seen among anchors
STRENGTHS = 10.0 ** np.arange(0, 4.01, 0.25)  # pseudo-counts of the shrinkage


@dataclass(frozen=True)
class Noise:
    """How labels go wrong.

    Attributes
    ----------
    T : (k, k) array
        Probability of each given label, for each true class.
    how : Calibration
        Class probabilities from predictions.
    anchors : int
        Examples from which T is estimated.
    """

    T: Array
    how: Calibration
    anchors: int


@dataclass(frozen=True)
class Verdicts:
    """What is said of every example.

    Attributes
    ----------
    right : (n,) array
        Probability that the given label is right.
    best, second : (n,) arrays
        The most probable class, the given label considered, and the next.
    sure, next_sure : (n,) arrays
        Probabilities of these two.
    wrong_by_class : (k,) array
        Expected number of wrong labels among those given as each class.
    """

    right: Array
    best: Index
    second: Index
    sure: Array
    next_sure: Array
    wrong_by_class: Array


def estimate_noise(F: Array, codes: Index) -> Noise:
    """T, and class probabilities, from leave-one-out predictions and given labels."""
    some = sampled(*F.shape)
    G, j = F[some], codes[some]
    by_gap = _anchors(*_by_gap(F), codes, F.shape[1], SHARES[:1])
    T = _noise_matrix(by_gap.counts)
    start = sharpest(G, j, T)
    penalty = best_penalty(G, j, T, start)
    how = calibrated(G, j, T, start, penalty)
    found = _anchors(*_by_probability(F, how), codes, F.shape[1], SHARES)
    T = _noise_matrix(found.counts)
    tried: list[tuple[float, Array, Calibration]] = []
    for level in LEVELS if found.fell else LEVELS[:1]:
        less = level * T + (1 - level) * np.eye(len(T))
        how = calibrated(G, j, less, how, penalty)
        tried.append((likelihood(G, j, less, how), less, how))
    _, T, how = max(tried, key=lambda one: one[0])
    return Noise(T, how, int(found.counts.sum()))


def judge(F: Array, codes: Index, noise: Noise) -> Verdicts:
    """Posterior probabilities under the estimated noise."""
    n, k = F.shape
    right, sure, next_sure = np.empty(n), np.empty(n), np.empty(n)
    best, second = np.empty(n, np.intp), np.empty(n, np.intp)
    wrong = np.zeros(k)
    for part in parts(n, k):
        posterior = noise.how.probabilities(F[part]) * noise.T[:, codes[part]].T
        posterior /= posterior.sum(axis=1, keepdims=True)
        rows = np.arange(len(posterior))
        right[part] = posterior[rows, codes[part]]
        np.add.at(wrong, codes[part], 1 - right[part])
        best[part] = np.argmax(posterior, axis=1)
        sure[part] = posterior[rows, best[part]]
        posterior[rows, best[part]] = -1
        second[part] = np.argmax(posterior, axis=1)
        next_sure[part] = posterior[rows, second[part]]
    return Verdicts(right, best, second, sure, next_sure, wrong)


def uninformative(F: Array, codes: Index) -> bool:
    """Whether predictions agree with given labels no better than a constant or chance would.

    By the mean share of agreement over classes, which is ``1 / k`` for any prediction that does not
    depend on the inputs; less than two standard errors above it counts as no better.
    """
    size = np.bincount(codes, minlength=F.shape[1])
    there = size > 0
    agree = np.bincount(codes[np.argmax(F, axis=1) == codes], minlength=F.shape[1])
    share, k = agree[there] / size[there], int(there.sum())
    error = np.sqrt((1 / k * (1 - 1 / k) / size[there]).sum()) / k
    return bool(share.mean() <= 1 / k + 2 * error)


def interval(right: Array, noise: Noise) -> tuple[float, float, float]:
    """Expected number of wrong labels with its 95 % interval.

    The spread is that of independent verdicts and, on top, of the rate as the anchors give it.
    """
    expected = float((1 - right).sum())
    rate = expected / len(right)
    of_rate = len(right) * np.sqrt(rate * (1 - rate) / max(1, noise.anchors))
    spread = 1.96 * float(np.sqrt((right * (1 - right)).sum() + of_rate**2))
    return expected, max(0.0, expected - spread), min(float(len(right)), expected + spread)


def flagged(
    right: Array, *, expected_noise: float | None = None, precision: float | None = None
) -> NDArray[np.bool_]:
    """Which labels count as wrong.

    By default those that are more likely wrong than right. With `expected_noise`, a share (below 1)
    or a number, the worst that many; with `precision`, as many of the worst as are right to flag in
    that share of cases, by their own probabilities.
    """
    if expected_noise is not None:
        many = expected_noise * len(right) if expected_noise < 1 else expected_noise
        count = round(min(many, len(right)))
    elif precision is not None:
        chance = np.sort(1 - right)[::-1]
        mean = np.cumsum(chance) / np.arange(1, len(chance) + 1)
        count = int((mean >= precision).sum())
    else:
        chosen: NDArray[np.bool_] = right < 0.5
        return chosen
    worst = np.argsort(right, kind="stable")[:count]
    marked = np.zeros(len(right), dtype=bool)
    marked[worst] = True
    return marked


def wilson(share: float, count: int, deviations: float) -> tuple[float, float]:
    """Wilson's interval of a share seen in so many cases; not empty where all were alike."""
    z2 = deviations**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    spread = np.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    half = deviations * float(spread) / (1 + z2 / count)
    return middle - half, middle + half


@dataclass(frozen=True)
class _Anchors:
    counts: Array  # given labels (columns) of the anchors of each predicted class (rows)
    fell: bool  # whether a smaller share was taken because the rate of noise fell


def _by_gap(F: Array) -> tuple[Index, Array]:
    """The predicted class, and how far it is ahead of the second."""
    n, k = F.shape
    top, gap = np.empty(n, np.intp), np.empty(n)
    for part in parts(n, k):
        ordered = np.partition(F[part], k - 2, axis=1)
        gap[part] = ordered[:, -1] - ordered[:, -2]
        top[part] = np.argmax(F[part], axis=1)
    return top, gap


def _by_probability(F: Array, how: Calibration) -> tuple[Index, Array]:
    """The most probable class, and its probability."""
    top, largest = np.empty(len(F), np.intp), np.empty(len(F))
    for part in parts(*F.shape):
        q = how.probabilities(F[part])
        top[part], largest[part] = np.argmax(q, axis=1), q.max(axis=1)
    return top, largest


def _anchors(
    top: Index, certainty: Array, codes: Index, k: int, shares: tuple[float, ...]
) -> _Anchors:
    """The most certain of each predicted class, by the largest share unless a smaller is purer."""
    n = len(top)
    order = np.lexsort((np.arange(n), -certainty, top))  # by class, the most certain first
    size = np.bincount(top, minlength=k)
    place = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    taken, taken_rate, fell = order[:0], np.inf, False
    for share in shares:
        of_all = min(1.0, max(share, FEWEST / n))
        chosen = order[place < np.ceil(of_all * size)[top[order]]]
        rate = float(np.mean(top[chosen] != codes[chosen]))
        if wilson(rate, len(chosen), DEVIATIONS)[1] < taken_rate:
            fell = len(taken) > 0
            taken, taken_rate = chosen, rate
    counts = np.zeros((k, k))
    np.add.at(counts, (top[taken], codes[taken]), 1)
    return _Anchors(counts, fell)


def _noise_matrix(counts: Array) -> Array:
    """T from the given labels of anchors, shrunk."""
    k, total = len(counts), counts.sum(axis=1)
    rate = _shrunk_rates(total - np.diagonal(counts), total)
    T: Array = rate[:, None] * _shrunk_targets(counts)
    T[np.arange(k), np.arange(k)] = 1 - rate
    return T


def _shrunk_rates(wrong: Array, total: Array) -> Array:
    """Share of wrong labels per class, shrunk to the common share."""
    mean = (wrong.sum() + 0.5) / (total.sum() + 1)

    def likelihood(strength: float) -> float:
        a, b = mean * strength, (1 - mean) * strength
        each = gammaln(wrong + a) - gammaln(a) + gammaln(total - wrong + b) - gammaln(b)
        return float((each + gammaln(strength) - gammaln(total + strength)).sum())

    strength = _most_likely(likelihood)
    rates: Array = (wrong + mean * strength) / (total + strength)
    return rates


def _shrunk_targets(counts: Array) -> Array:
    """Where wrong labels of each class go: (k, k) with rows that add up to 1, zero diagonal."""
    k = len(counts)
    off = ~np.eye(k, dtype=bool)
    wrong = np.where(off, counts, 0.0)
    total = wrong.sum(axis=1)

    def likelihood(strength: float) -> float:
        each = strength / (k - 1)
        inner = (gammaln(wrong + each) - gammaln(each))[off].sum()
        return float(inner + (gammaln(strength) - gammaln(total + strength)).sum())

    strength = _most_likely(likelihood)
    targets: Array = np.where(off, wrong + strength / (k - 1), 0.0)
    targets /= targets.sum(axis=1, keepdims=True)
    return targets


def _most_likely(likelihood: Callable[[float], float]) -> float:
    return float(max(STRENGTHS, key=likelihood))
