"""Verdicts: the probability that each label is right, and which labels are flagged.

With the true class hidden, ``P(true c | x_i, given j) ~ q_i(c) P(j | x_i, c)`` under each
hypothesis on how labels go wrong (symbols: `noise_model.py`, hypotheses: `border.py`). Posteriors
are averaged over the hypotheses. The entry at the given label is the **label score**.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from cgscore.issues.border import CARELESS_AGREEMENT, MIN_DIRECTION, MIN_WEIGHED
from cgscore.issues.intervals import mixture_interval
from cgscore.issues.noise_model import NoiseModel
from cgscore.typing import Array, Index
from cgscore.valuation import row_chunks

#: Of the wrong verdicts that a promise allows, the share that is used: models may be mistaken.
PROMISE_SHARE = 0.7
PROMISE_CHANCE = 0.975  # with which no more are wrong than a promise allows
MIN_CLEAR = 0.9  # probability of the best class from which on a verdict is clear
MIN_MEMBERS = 3  # examples without which a class is not suggested to others
MIN_PLAUSIBILITY = 0.08  # relative to the best hypothesis, for a say in promises
HIDDEN_FACTOR = 1.25  # wrong labels for each that differs from its prediction, at borders at most,
HIDDEN_FACTOR_OF_TWO = 1.5  # and with two classes, where each border hides more of them
MIN_CARELESS_WEIGHT = 0.1  # of hypotheses with a border, if predictions disagree with many labels,
MIN_BORDER_WEIGHT = 0.25  # and if directions speak for a border, from which on labels may be hidden


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
    other : (n,) array
        The best class other than the given one: the most probable, and by the prediction alone
        where wrong labels follow borders, since where labels go then tells nothing more.
    other_probability : (n,) array
        Its probability.
    wrong_by_class : (k,) array
        Expected number of wrong labels among those given as each class.
    right_by_hypothesis : (h, n) array
        `right` under each hypothesis.
    differs : (n,) array of bool
        Whether the prediction is another class than the given one.
    """

    right: Array
    best: Index
    second: Index
    best_probability: Array
    second_probability: Array
    other: Index
    other_probability: Array
    wrong_by_class: Array
    right_by_hypothesis: Array
    differs: NDArray[np.bool_]


def judge(F: Array, codes: Index, noise: NoiseModel) -> Verdicts:
    """Posterior probabilities under a noise model.

    A class of one or two examples is no candidate for the label of another example: what so few
    have in common nobody can tell.

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
    best_probability, second_probability = np.empty(n), np.empty(n)
    best, second = np.empty(n, np.intp), np.empty(n, np.intp)
    right, by_hypothesis = np.empty(n), np.empty((len(noise.hypotheses), n))
    other, other_probability = np.empty(n, np.intp), np.empty(n)
    differs = np.empty(n, bool)
    tiny = np.bincount(codes, minlength=k) < MIN_MEMBERS
    for chunk in row_chunks(n, k):
        j = codes[chunk]
        rows, logits = np.arange(len(j)), noise.calibration.logits(F[chunk])
        barred = np.broadcast_to(tiny, (len(j), k)).copy()
        barred[rows, j] = False
        logits[barred] = -np.inf
        posterior = np.zeros((len(j), k))
        for number, hypothesis in enumerate(noise.hypotheses):
            joint = hypothesis.joint(logits, j)
            joint /= joint.sum(axis=1, keepdims=True)
            by_hypothesis[number, chunk] = joint[rows, j]
            posterior += hypothesis.weight * joint
        posterior[rows, j] /= noise.odds_factor
        posterior /= posterior.sum(axis=1, keepdims=True)
        right[chunk] = posterior[rows, j]
        differs[chunk] = np.argmax(F[chunk], axis=1) != j
        others = F[chunk].copy() if noise.contested else posterior.copy()
        others[barred], others[rows, j] = -1e300, -np.inf
        other[chunk] = np.argmax(others, axis=1)
        other_probability[chunk] = posterior[rows, other[chunk]]
        best[chunk] = np.argmax(posterior, axis=1)
        best_probability[chunk] = posterior[rows, best[chunk]]
        posterior[rows, best[chunk]] = -1
        second[chunk] = np.argmax(posterior, axis=1)
        second_probability[chunk] = posterior[rows, second[chunk]]
    wrong: Array = np.bincount(codes, 1 - right, minlength=k).astype(float)
    return Verdicts(
        right,
        best,
        second,
        best_probability,
        second_probability,
        other,
        other_probability,
        wrong,
        by_hypothesis,
        differs,
    )


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


def expected_wrong(
    verdicts: Verdicts, noise: NoiseModel, rows: NDArray[np.bool_] | None = None
) -> tuple[float, float, float]:
    """Expected number of wrong labels, and the ends of its 95 % interval.

    Under each hypothesis the variance is that of independent verdicts plus that of a rate that is
    seen among the examples with a clear verdict, of which anchors are a part; the interval is that
    of the mixture of all hypotheses without their prior. Where wrong labels may follow borders,
    those that agree with their prediction are hidden (`may_be_hidden`): then the upper end is at
    least `HIDDEN_FACTOR` times the number of labels that differ, or `HIDDEN_FACTOR_OF_TWO` times
    with two classes. Where classes overlap so much that even clear examples are confused, all of it
    may be nature as well: then the lower end is 0.

    Parameters
    ----------
    verdicts : Verdicts
        The verdicts.
    noise : NoiseModel
        How labels go wrong.
    rows : (n,) array of bool, optional
        The labels that count; by default all.
    """
    chosen = np.ones(len(verdicts.right), bool) if rows is None else rows
    n = int(chosen.sum())
    if not n:
        return 0.0, 0.0, 0.0
    expected = float((1 - verdicts.right[chosen]).sum())
    right = verdicts.right_by_hypothesis[:, chosen]
    counts = (1 - right).sum(axis=1)
    rate = counts / n
    clear = max(1, noise.anchors, int((verdicts.best_probability >= MIN_CLEAR).sum()))
    of_rate = n**2 * rate * (1 - rate) / clear
    deviations = np.sqrt((right * (1 - right)).sum(axis=1) + of_rate)
    weights = np.array([each.plausibility for each in noise.hypotheses])
    low, high = mixture_interval(counts, deviations, weights)
    if may_be_hidden(verdicts, noise):
        factor = HIDDEN_FACTOR_OF_TWO if len(noise.T) == 2 else HIDDEN_FACTOR
        high = max(high, factor * float(verdicts.differs[chosen].sum()))
    if noise.overlap:
        low = 0.0
    return expected, max(0.0, min(low, expected)), min(float(n), max(high, expected))


def may_be_hidden(verdicts: Verdicts, noise: NoiseModel) -> bool:
    """Whether wrong labels may follow borders, where many of them agree with their prediction.

    That is so if it is clear that they do, or that classes overlap; if hypotheses with a border
    have some weight and either predictions disagree with many labels or directions support it;
    and where such hypotheses have no say, with two classes or few examples.
    """
    border, few = noise.border, len(verdicts.right) < MIN_WEIGHED
    if border is None:
        return False
    if noise.contested or noise.overlap or few or len(noise.T) == 2:
        return True
    weight = 1 - noise.hypotheses[0].weight
    if verdicts.differs.mean() > 1 - CARELESS_AGREEMENT:
        return weight >= MIN_CARELESS_WEIGHT
    return border.direction > MIN_DIRECTION and weight >= MIN_BORDER_WEIGHT


def flag(right: Array, *, expected_noise: float | None = None) -> NDArray[np.bool_]:
    """Which labels count as wrong: by default those more likely wrong than right.

    Parameters
    ----------
    right : (n,) array
        Probability that each label is right.
    expected_noise : float, optional
        Flag the worst of this share (below 1) or number.
    """
    if expected_noise is None:
        unlikely: NDArray[np.bool_] = right < 0.5
        return unlikely
    number = expected_noise * len(right) if expected_noise < 1 else expected_noise
    flagged = np.zeros(len(right), dtype=bool)
    flagged[np.argsort(right, kind="stable")[: round(min(number, len(right)))]] = True
    return flagged


def flag_with_precision(right: Array, precision: float) -> NDArray[np.bool_]:
    """Labels of which this share is wrong, even if probabilities are somewhat mistaken.

    Right labels among the flagged are taken for a Poisson variable whose mean is their expected
    number over `PROMISE_SHARE`. As many of the worst are flagged as keep it within what is allowed
    with a probability of `PROMISE_CHANCE`: of a few flagged labels hardly one may be right. Labels
    more likely right than wrong are never among them.

    Parameters
    ----------
    right : (n,) array
        Probability that each label is right.
    precision : float
        The share that is promised.
    """
    order = np.argsort(right, kind="stable")
    mistakes = np.cumsum(right[order])
    allowed = np.floor((1 - precision) * np.arange(1, len(order) + 1) + 1e-9)
    kept = (right[order] < 0.5) & (pdtr(allowed, mistakes / PROMISE_SHARE) >= PROMISE_CHANCE)
    flagged = np.zeros(len(right), dtype=bool)
    flagged[order[: int(np.flatnonzero(kept).max(initial=-1)) + 1]] = True
    return flagged


def cautious_right(verdicts: Verdicts, noise: NoiseModel) -> Array:
    """Probability that a label is right, as promises count it: without the factor on the odds.

    For two classes the largest under any plausible hypothesis: which of them holds, directions
    cannot tell there (`border.py`).
    """
    right: Array = np.array([each.weight for each in noise.hypotheses]) @ (
        verdicts.right_by_hypothesis
    )
    if len(noise.T) > 2:
        return right
    chance = np.array([each.plausibility for each in noise.hypotheses])
    plausible = chance >= MIN_PLAUSIBILITY * chance.max()
    largest: Array = verdicts.right_by_hypothesis[plausible].max(axis=0)
    return np.maximum(largest, right)


def promised(
    verdicts: Verdicts, noise: NoiseModel, precision: float, rows: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """What `flag_with_precision` flags, by the cautious probabilities of `cautious_right`.

    None where wrong labels follow the borders between classes, or classes overlap strongly: there
    no promise can be kept.

    Parameters
    ----------
    verdicts : Verdicts
        The verdicts.
    noise : NoiseModel
        How labels go wrong.
    precision : float
        The share that is promised.
    rows : (n,) array of bool
        The labels to choose from.
    """
    flagged = np.zeros(len(verdicts.right), dtype=bool)
    if not noise.contested and not noise.overlap:
        flagged[rows] = flag_with_precision(cautious_right(verdicts, noise)[rows], precision)
    return flagged
