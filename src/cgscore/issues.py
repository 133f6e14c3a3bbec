r"""Which labels are wrong, what they should be, and how sure that is.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
F           n x k    leave-one-out predictions: what all *other* examples say of example i
j           n        given labels
T           k x k    ``T_cj = P(given j | true c)``: how labels go wrong
q           n x k    ``softmax(b F_i)``: class probabilities from the inputs alone
==========  =======  =========================================================================

With the true class hidden, ``P(true c | x_i, given j) ~ q_i(c) T_cj``. Its entry at the given label
is the **label score**: the probability that the label is right, as far as the other examples tell.

T comes from *anchors*: the examples on which predictions are most certain (the largest gap between
the best and the second class), a share of those predicted to be of each class. F_i does not depend
on the label of example i, so the labels of the anchors of class c are draws from row c of T, with
little natural confusion among them. Few of them are wrong, so rows are shrunk, and how much is
decided by the data (empirical Bayes): rates of noise towards the common rate (beta-binomial), and
where labels go towards all classes alike (Dirichlet-multinomial). Then b is the one under which the
given labels are most likely. No rate of noise is asked for; it is what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cgscore.kernel import Array

Index = NDArray[np.intp]

SHARE = 0.25  # of the examples predicted to be of a class: its anchors
FEWEST = 200  # anchors, if there are as many examples
SHARPNESS = 2.0 ** np.arange(-2, 6.01, 0.25)  # values of b
STRENGTHS = 10.0 ** np.arange(0, 4.01, 0.25)  # pseudo-counts of the shrinkage
SAMPLE = 20_000  # examples on which b is chosen
_CHUNK = 1 << 22  # numbers handled at once


@dataclass(frozen=True)
class Noise:
    """How labels go wrong.

    Attributes
    ----------
    T : (k, k) array
        Probability of each given label, for each true class.
    b : float
        Sharpness of the probabilities.
    anchors : int
        Examples from which T is estimated.
    """

    T: Array
    b: float
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
    sure : (n,) array
        Probability of the best.
    wrong_by_class : (k,) array
        Expected number of wrong labels among those given as each class.
    """

    right: Array
    best: Index
    second: Index
    sure: Array
    wrong_by_class: Array


def estimate_noise(F: Array, own: Index) -> Noise:
    """T and b from leave-one-out predictions and given labels."""
    counts = _anchor_labels(F, own)
    k = len(counts)
    total, wrong = counts.sum(axis=1), counts.sum(axis=1) - np.diagonal(counts)
    rate = _shrunk_rates(wrong, total)
    T = rate[:, None] * _shrunk_targets(counts)
    T[np.arange(k), np.arange(k)] = 1 - rate
    some = slice(None) if len(F) <= SAMPLE else _spaced(len(F))
    scores = [_log_likelihood(F[some], own[some], T, b) for b in SHARPNESS]
    return Noise(T, float(SHARPNESS[int(np.argmax(scores))]), int(total.sum()))


def judge(F: Array, own: Index, noise: Noise) -> Verdicts:
    """Posterior probabilities under the estimated noise."""
    n, k = F.shape
    right, sure = np.empty(n), np.empty(n)
    best, second = np.empty(n, np.intp), np.empty(n, np.intp)
    wrong = np.zeros(k)
    for part in _parts(n, k):
        posterior = softmax(noise.b * F[part]) * noise.T[:, own[part]].T
        posterior /= posterior.sum(axis=1, keepdims=True)
        rows = np.arange(len(posterior))
        right[part] = posterior[rows, own[part]]
        np.add.at(wrong, own[part], 1 - right[part])
        best[part] = np.argmax(posterior, axis=1)
        sure[part] = posterior[rows, best[part]]
        posterior[rows, best[part]] = -1
        second[part] = np.argmax(posterior, axis=1)
    return Verdicts(right, best, second, sure, wrong)


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


def softmax(A: Array) -> Array:
    """Rows of exponentials that add up to 1."""
    E = np.exp(A - A.max(axis=1, keepdims=True))
    scaled: Array = E / E.sum(axis=1, keepdims=True)
    return scaled


def _anchor_labels(F: Array, own: Index) -> Array:
    """Given labels of the anchors of each predicted class: counts (k, k)."""
    n, k = F.shape
    top, gap = np.empty(n, np.intp), np.empty(n)
    for part in _parts(n, k):
        ordered = np.partition(F[part], k - 2, axis=1)
        gap[part] = ordered[:, -1] - ordered[:, -2]
        top[part] = np.argmax(F[part], axis=1)
    share = min(1.0, max(SHARE, FEWEST / n))
    order = np.lexsort((np.arange(n), -gap, top))  # by class, the most certain first
    size = np.bincount(top, minlength=k)
    place = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    anchors = order[place < np.ceil(share * size)[top[order]]]
    counts = np.zeros((k, k))
    np.add.at(counts, (top[anchors], own[anchors]), 1)
    return counts


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


def _log_likelihood(F: Array, own: Index, T: Array, b: float) -> float:
    """Of the given labels, with the true ones hidden."""
    total = 0.0
    for part in _parts(*F.shape):
        q = softmax(b * F[part])
        total += float(np.log(np.einsum("ic,ci->i", q, T[:, own[part]])).sum())
    return total


def _spaced(n: int) -> Index:
    return np.linspace(0, n - 1, SAMPLE).astype(np.intp)


def _parts(n: int, k: int) -> Iterator[slice]:
    step = max(1, _CHUNK // k)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
