r"""Wrong labels that follow the borders between classes.

People err where classes meet, and towards the class that an example resembles. With strength
``beta`` a label of an example of class c becomes

.. math:: P(j \mid x, c) = S_{cj} q_j(x)^\beta / \sum_m S_{cm} q_m(x)^\beta ,

with ``q`` the class probabilities (`calibration.py`) and ``S`` (k x k, diagonal 1) the odds of
label j against the right one where both classes are equally probable. ``beta = 0`` is a noise
matrix, the same everywhere. For a larger ``beta`` wrong labels are rare where the class is clear
and frequent where it is not.

Inputs and labels tell noise at a border from classes that overlap by nature only in part. So no
``beta`` is chosen. Each of `STRENGTHS` is a hypothesis: its level of noise is the one seen among
the most certain quarter of the examples, its sharpness of ``q`` the one under which all given
labels are most likely. Verdicts are averages over the hypotheses. Their weights are likelihoods as
of `EVIDENCE` examples (a coarsened posterior: all models are idealised, and more examples do not
make them true) times a prior that favours weak strengths.

Labels that people gave, and labels made wrong at borders, are wrong more often than the average of
the hypotheses says where these have weight: there natural confusion and noise are one, and
likelihoods take most of it for nature. The odds of being wrong are multiplied by a factor of up to
two, or six where predictions disagree with three labels in ten (with two to three in ten: less, and
not where strong hypotheses are clearly right); the more the larger the weight of hypotheses with a
border is, and only if labels of clear examples are wrong at all. The factor was chosen for
calibration.

One trace of noise at borders does not depend on how frequent natural confusion is: which class a
wrong label names. Among clear examples it is any class if noise does not look at the input, and
the runner-up if it does. The slope of that preference (`direction`) decides on the prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from cgscore.issues.anchors import MIN_ANCHORS, most_certain
from cgscore.issues.calibration import Calibration
from cgscore.typing import Array, Index

STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75)
STRONG = 0.3  # strengths from here on are for noise that clearly follows borders
EVIDENCE = 300.0  # examples that likelihoods count for,
CONTESTED_EVIDENCE = 100.0  # and in verdicts where directions speak for noise at borders
PRIOR = (1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3)
PRIOR_WITHOUT_NOISE = (1.0, 1.0, 1.0, 0.3, 0.1, 0.1, 0.1)  # if hardly any clear label is wrong
MIN_CLEAR_NOISE = 0.03  # share of the labels of clear examples that differ
DIRECTION_FACTOR = 100.0  # on the prior of strong hypotheses where directions speak for them
MIN_DIRECTION = 0.5  # slope of directions, two standard errors off, that speaks for them,
DIRECTION_WEIGHT = 10.0  # and the log likelihood that each unit of slope above makes up for
MIN_AGREEMENT = 0.73  # share of labels that predictions agree with, without which nature is tried,
MIN_BORDER_AGREEMENT = 0.5  # and without which no noise at borders is
#: Shares up to which labels may be careless, and from which on they are not.
CARELESS_AGREEMENT, CAREFUL_AGREEMENT = 0.7, 0.8
MAX_OVERLAP_DIRECTION = 0.1  # slope above which classes then overlap by nature
MAX_NOISE_DIRECTION = 0.75  # slope up to which it may be noise; nature has 1
#: Slope up to which wrong labels name any class, and weight of borders from which on there is more.
MAX_UNDIRECTED, MIN_MIXED_WEIGHT = 0.25, 0.4
MAX_CLASSES = 128  # beyond that a noise matrix alone is tried
CLEAR_SHARE, DIRECTION_SHARE = 0.25, 0.5  # of each predicted class, for levels and directions
MIN_WEIGHED = round(MIN_ANCHORS / CLEAR_SHARE)  # examples from which on a border has a say
BORDER_SLOPE = 1.2  # of the factor on the odds, for the weight of hypotheses with a border,
CARELESS_SLOPE = 4.0  # and for its square where predictions disagree with many labels
MIN_WEIGHT = 1e-3  # hypotheses with less are left out


@dataclass(frozen=True)
class Hypothesis:
    """One strength with which wrong labels follow borders.

    Attributes
    ----------
    strength : float
        ``beta``.
    odds : (k, k) array
        ``S``.
    sharpness : float
        Factor on the logits of the calibration.
    weight : float
        Weight in verdicts; all weights add up to 1.
    plausibility : float
        The same without a prior.
    """

    strength: float
    odds: Array
    sharpness: float
    weight: float = 1.0
    plausibility: float = 1.0

    def joint(self, logits: Array, codes: Index) -> Array:
        """Probability of each true class together with the given label, (n, k)."""
        log_q = log_softmax(self.sharpness * logits, axis=1)
        given: Array = np.exp(log_q) * self.odds[:, codes].T
        if self.strength == 0:
            given /= self.odds.sum(axis=1)
            return given
        tilt = np.exp(self.strength * (log_q - log_q.max(axis=1, keepdims=True)))
        given *= tilt[np.arange(len(codes)), codes][:, None]
        given /= tilt @ self.odds.T
        return given


@dataclass(frozen=True)
class Hypotheses:
    """Hypotheses on where wrong labels are, and what speaks for a border.

    Attributes
    ----------
    members : tuple of Hypothesis
        Those with a weight or a plausibility of at least `MIN_WEIGHT`; the first has strength 0.
    direction : float
        Lower end of the slope with which wrong labels of clear examples name the runner-up; NaN
        for two classes.
    contested : bool
        Whether wrong labels follow borders so clearly that they cannot be told from classes that
        overlap by nature.
    overlap : bool
        Whether classes overlap so much that even clear examples are confused by nature.
    odds_factor : float
        By which the odds of being wrong are multiplied in verdicts, from 1 to 6.
    weighed : bool
        Whether noise at borders had a say. It has none with two classes, few examples, classes that
        overlap, or predictions that disagree with most labels; with very many classes, if wrong
        labels of clear examples name the runner-up. Not saved in results.
    """

    members: tuple[Hypothesis, ...]
    direction: float
    contested: bool
    overlap: bool
    odds_factor: float = 1.0
    weighed: bool = False

    @property
    def explains(self) -> bool:
        """Whether labels that differ are noise rather than nature.

        Noise at borders was weighed, strong hypotheses do not have most of the weight, and wrong
        labels of clear examples do not name the runner-up as often as nature does.
        """
        strong = sum(each.weight for each in self.members if each.strength >= STRONG)
        return self.weighed and strong <= 0.5 and self.direction <= MAX_NOISE_DIRECTION

    @property
    def mixed(self) -> bool:
        """Whether labels that differ may be noise and nature.

        Wrong labels of clear examples name nearly any class, as those that are wrong at random, and
        yet hypotheses with a border have much weight.
        """
        at_borders = 1 - self.members[0].weight
        return self.direction <= MAX_UNDIRECTED and at_borders >= MIN_MIXED_WEIGHT


def noise_odds(T: Array) -> Array:
    """Odds of each label against the right one, from a noise matrix."""
    odds: Array = T / np.diagonal(T)[:, None]
    return odds


def border_hypotheses(
    F: Array,
    codes: Index,
    T: Array,
    calibration: Calibration,
    *,
    overlap: bool,
    alone: bool = False,
) -> Hypotheses:
    """Hypotheses on the strength with which wrong labels follow borders.

    Parameters
    ----------
    F : (n, k) array
        Leave-one-out predictions.
    codes : (n,) array
        The given class of every example.
    T : (k, k) array
        Noise matrix, estimated as if noise were the same everywhere.
    calibration : Calibration
        Class probabilities that go with it.
    overlap : bool
        Whether even the most certain examples are confused by nature. Then noise at borders is not
        tried.
    alone : bool
        Whether T is the only hypothesis for another reason.
    """
    k = F.shape[1]
    uniform = Hypothesis(0.0, noise_odds(T), 1.0)
    logits = calibration.logits(F)
    log_q = log_softmax(logits, axis=1)
    predicted, certainty = np.argmax(log_q, axis=1), log_q.max(axis=1)
    slope = clear_direction(log_q, codes)
    if overlap or alone or agreement(F, codes) < MIN_BORDER_AGREEMENT:
        return Hypotheses((uniform,), slope, False, overlap)
    if k > MAX_CLASSES:
        return Hypotheses((uniform,), slope, False, False, weighed=slope <= MAX_OVERLAP_DIRECTION)
    clear = most_certain(predicted, certainty, k, CLEAR_SHARE)
    noise = float(np.mean(predicted[clear] != codes[clear]))
    found = [uniform]
    for strength in STRENGTHS[1:]:
        start = found[-1].sharpness
        found.append(_fitted(strength, logits, codes, T, predicted, clear, start))
    logs = np.array([np.log(each.joint(logits, codes).sum(axis=1)).mean() for each in found])
    strong = np.array(STRENGTHS) >= STRONG
    few = len(codes) < MIN_WEIGHED  # then levels are not those of clear examples
    contested = bool(
        not few
        and noise >= MIN_CLEAR_NOISE
        and slope > MIN_DIRECTION
        and EVIDENCE * (logs[0] - logs[strong].max()) < DIRECTION_WEIGHT * (slope - MIN_DIRECTION)
    )
    prior = np.array(PRIOR if noise >= MIN_CLEAR_NOISE else PRIOR_WITHOUT_NOISE)
    if contested:
        prior[strong] *= DIRECTION_FACTOR
    if few or k == 2:  # with two classes no direction can speak for a border
        prior[1:] = 0
    evidence = CONTESTED_EVIDENCE if contested else EVIDENCE
    weights = _normalised(prior * np.exp(evidence * (logs - logs.max())))
    plausible = _normalised(np.exp(EVIDENCE * (logs - logs.max())))
    kept = (weights >= MIN_WEIGHT) | (plausible >= MIN_WEIGHT)
    kept[0] = True
    weights, plausible = _normalised(weights * kept), _normalised(plausible * kept)
    members = tuple(
        Hypothesis(each.strength, each.odds, each.sharpness, float(weight), float(chance))
        for each, weight, chance, keep in zip(found, weights, plausible, kept, strict=True)
        if keep
    )
    factor, at_borders = 1.0, 1 - members[0].weight
    if noise >= MIN_CLEAR_NOISE:
        factor += min(1.0, BORDER_SLOPE * at_borders)
        factor += CARELESS_SLOPE * at_borders**2 * carelessness(agreement(F, codes), contested)
    return Hypotheses(members, slope, contested, False, factor, not (few or k == 2))


def agreement(F: Array, codes: Index) -> float:
    """Share of the labels that predictions agree with."""
    return float(np.mean(np.argmax(F, axis=1) == codes))


def carelessness(share: float, contested: bool) -> float:
    """How much labels with this agreement count as careless, from 0 to 1.

    Borders that are clear explain disagreement by themselves, unless there is too much of it.
    """
    if contested:
        return float(share < CARELESS_AGREEMENT)
    spread = CAREFUL_AGREEMENT - CARELESS_AGREEMENT
    return float(np.clip((CAREFUL_AGREEMENT - share) / spread, 0, 1))


def overlapping(F: Array, codes: Index, calibration: Calibration) -> bool:
    """Whether predictions disagree with most labels because classes overlap by nature.

    Labels that are wrong at random name any class; those of classes that overlap name the runner-up
    even of the clearest half.
    """
    log_q = log_softmax(calibration.logits(F), axis=1)
    often = agreement(F, codes) < MIN_BORDER_AGREEMENT
    return often and clear_direction(log_q, codes) > MAX_OVERLAP_DIRECTION


def clear_direction(log_q: Array, codes: Index) -> float:
    """The `direction` among the clearest half of the examples."""
    predicted = np.argmax(log_q, axis=1)
    halves = most_certain(predicted, log_q.max(axis=1), log_q.shape[1], DIRECTION_SHARE)
    return direction(log_q[halves], predicted[halves], codes[halves])


def direction(log_q: Array, predicted: Index, codes: Index) -> float:
    """Lower end of the slope with which wrong labels prefer probable classes.

    Given that the label differs from the predicted class, it is j with a probability proportional
    to ``q_j^slope``; the slope of the largest likelihood, less two standard errors.
    """
    wrong = predicted != codes
    if log_q.shape[1] == 2 or not wrong.any():
        return float("nan")
    rows = np.arange(int(wrong.sum()))
    values, best, given = log_q[wrong], predicted[wrong], codes[wrong]
    barred = np.zeros_like(values)
    barred[rows, best], values[rows, best] = -np.inf, 0.0
    slope, information = 0.0, 0.0
    for _ in range(30):  # Newton's method, on a concave function
        chance = softmax(barred + slope * values, axis=1)
        mean = (chance * values).sum(axis=1)
        information = float(((chance * values**2).sum(axis=1) - mean**2).sum())
        if information <= 0:
            return float("nan")
        step = float((values[rows, given] - mean).sum()) / information
        slope = float(np.clip(slope + np.clip(step, -0.3, 0.3), -1, 2))
    return slope - 2 / float(np.sqrt(information))


def _fitted(
    strength: float,
    logits: Array,
    codes: Index,
    T: Array,
    predicted: Index,
    clear: Index,
    sharpness: float,
) -> Hypothesis:
    """Level and sharpness of one strength, found in turn."""
    base = noise_odds(T)
    off_diagonal = ~np.eye(len(T), dtype=bool)
    odds = base
    for _ in range(2):
        log_q = log_softmax(sharpness * logits[clear], axis=1)
        level = _level(strength, log_q, predicted[clear], codes[clear], base)
        # Where classes are equally probable no wrong label is more frequent than the right one.
        odds = np.where(off_diagonal, np.minimum(level * base, 1.0), 1.0)
        sharpness = _sharpness(Hypothesis(strength, odds, 1.0), logits, codes)
    return Hypothesis(strength, odds, sharpness)


def _level(strength: float, log_q: Array, predicted: Index, codes: Index, odds: Array) -> float:
    """Factor on the odds under which the labels of clear examples are most likely wrong or right.

    Half a wrong label is added to those that are, so that there is a factor where none is.
    """
    rows = np.arange(len(codes))
    of_wrong = np.exp(strength * (log_q - log_q[rows, predicted][:, None])) * odds[predicted]
    of_wrong[rows, predicted] = 0
    total = np.log(of_wrong.sum(axis=1))
    wrong = float((predicted != codes).sum()) + 0.5
    found = minimize_scalar(
        lambda level: np.logaddexp(0, level + total).sum() - level * wrong,
        bounds=(-8, 12),
        method="bounded",
    )
    return float(np.exp(found.x))


def _sharpness(hypothesis: Hypothesis, logits: Array, codes: Index) -> float:
    """Factor on the logits under which all given labels are most likely."""

    def cost(log_sharpness: float) -> float:
        scaled = np.exp(log_sharpness) * logits
        return -float(np.log(hypothesis.joint(scaled, codes).sum(axis=1)).sum())

    found = minimize_scalar(cost, bounds=(-1, 1.5), method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x))


def _normalised(weights: Array) -> Array:
    total: Array = weights / weights.sum()
    return total
