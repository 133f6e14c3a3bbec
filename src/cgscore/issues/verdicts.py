"""Verdicts: the probability that each label is right, and which labels are flagged.

With the true class hidden, ``P(true c | x_i, given j) ~ q_i(c) T_cj`` (symbols: `noise_model.py`).
Its entry at the given label is the **label score**.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgscore.issues.calibration import row_chunks
from cgscore.issues.noise_model import NoiseModel
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class Verdicts:
    """Probabilities of classes, given inputs and labels.

    Attributes
    ----------
    right : (n,) array
        Probability that the given label is right.
    best, second : (n,) arrays
        The most probable class and the second.
    best_probability, second_probability : (n,) arrays
        Probabilities of these two.
    wrong_by_class : (k,) array
        Expected number of wrong labels among those given as each class.
    """

    right: Array
    best: Index
    second: Index
    best_probability: Array
    second_probability: Array
    wrong_by_class: Array


def judge(F: Array, codes: Index, noise: NoiseModel) -> Verdicts:
    """Posterior probabilities under a noise model.

    Parameters
    ----------
    F : (n, k) array
        Leave-one-out predictions.
    codes : (n,) array
        The given class of every example.
    noise : NoiseModel
        How labels go wrong.
    """
    n, k = F.shape
    right, best_probability, second_probability = np.empty(n), np.empty(n), np.empty(n)
    best, second = np.empty(n, np.intp), np.empty(n, np.intp)
    wrong = np.zeros(k)
    for chunk in row_chunks(n, k):
        posterior = noise.calibration.probabilities(F[chunk]) * noise.T[:, codes[chunk]].T
        posterior /= posterior.sum(axis=1, keepdims=True)
        rows = np.arange(len(posterior))
        right[chunk] = posterior[rows, codes[chunk]]
        np.add.at(wrong, codes[chunk], 1 - right[chunk])
        best[chunk] = np.argmax(posterior, axis=1)
        best_probability[chunk] = posterior[rows, best[chunk]]
        posterior[rows, best[chunk]] = -1
        second[chunk] = np.argmax(posterior, axis=1)
        second_probability[chunk] = posterior[rows, second[chunk]]
    return Verdicts(right, best, second, best_probability, second_probability, wrong)


def uninformative(F: Array, codes: Index) -> bool:
    """Whether predictions agree with given labels no better than chance.

    The measure is the mean over classes of the share that agrees. It is ``1 / k`` for any
    prediction that does not depend on the inputs; less than two standard errors above that counts
    as chance.
    """
    size = np.bincount(codes, minlength=F.shape[1])
    present = size > 0
    agree = np.bincount(codes[np.argmax(F, axis=1) == codes], minlength=F.shape[1])
    share, k = agree[present] / size[present], int(present.sum())
    error = np.sqrt((1 / k * (1 - 1 / k) / size[present]).sum()) / k
    return bool(share.mean() <= 1 / k + 2 * error)


def expected_wrong(right: Array, noise: NoiseModel) -> tuple[float, float, float]:
    """Expected number of wrong labels, and the ends of its 95 % interval.

    The variance is that of independent verdicts plus that of the rate among anchors.
    """
    if not len(right):
        return 0.0, 0.0, 0.0
    expected = float((1 - right).sum())
    rate = expected / len(right)
    of_rate = len(right) * np.sqrt(rate * (1 - rate) / max(1, noise.anchors))
    half = 1.96 * float(np.sqrt((right * (1 - right)).sum() + of_rate**2))
    return expected, max(0.0, expected - half), min(float(len(right)), expected + half)


def flag(
    right: Array, *, expected_noise: float | None = None, precision: float | None = None
) -> NDArray[np.bool_]:
    """Which labels count as wrong: by default those more likely wrong than right.

    Parameters
    ----------
    right : (n,) array
        Probability that each label is right.
    expected_noise : float, optional
        Flag the worst of this share (below 1) or number.
    precision : float, optional
        Flag as many of the worst as keep the expected share of wrong labels among them this high.
    """
    if expected_noise is not None:
        number = expected_noise * len(right) if expected_noise < 1 else expected_noise
        count = round(min(number, len(right)))
    elif precision is not None:
        wrong = np.sort(1 - right)[::-1]
        reached = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
        count = int((reached >= precision).sum())
    else:
        unlikely: NDArray[np.bool_] = right < 0.5
        return unlikely
    flagged = np.zeros(len(right), dtype=bool)
    flagged[np.argsort(right, kind="stable")[:count]] = True
    return flagged
