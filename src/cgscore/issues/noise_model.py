r"""A model of label noise, estimated from leave-one-out predictions and given labels.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
F           n x k    leave-one-out predictions: what all *other* examples predict
j           n        given labels
T           k x k    noise matrix ``T_cj = P(given j | true c)``
q           n x k    class probabilities from the inputs alone (`calibration.py`)
==========  =======  =========================================================================

With the true class hidden, ``P(true c | x_i, given j) ~ q_i(c) T_cj`` (`verdicts.py`).

T is estimated from anchors (`anchors.py`): first those with the largest gap between the best and
the second prediction; then, with the probabilities that follow from this T, those with the largest
probability. The user states no rate of noise.

T is the same everywhere. That wrong labels may be more frequent at the borders between classes is
the subject of further hypotheses (`border.py`), over which verdicts are averaged.

Where classes may overlap by nature, T is scaled to the level of noise under which the given labels
are most likely. That is so for two classes, which show no directions of noise, and where
predictions disagree with many labels, unless weak noise at borders explains these. Strong noise at
borders cannot be told from nature. Where wrong labels name any class and borders have weight all
the same, labels are more likely under a lower level if a part of them is nature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgscore.issues.anchors import (
    ANCHOR_SHARES,
    certainty_by_gap,
    certainty_by_probability,
    choose_anchors,
)
from cgscore.issues.border import (
    MIN_AGREEMENT,
    Hypotheses,
    Hypothesis,
    agreement,
    border_hypotheses,
    noise_odds,
    overlapping,
)
from cgscore.issues.calibration import (
    Calibration,
    best_penalty,
    calibrate,
    halves,
    log_likelihood,
    sample_rows,
    sharpest,
)
from cgscore.issues.noise_matrix import noise_matrix
from cgscore.typing import Array, Index

#: Levels of noise considered where classes may overlap, relative to the noise among anchors.
NOISE_LEVELS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)
MIN_GAIN = 3.0  # of the log likelihood, for which a lower level is taken
MAX_OVERLAP_LEVEL = 0.7  # from which level down odd labels of anchors are natural confusion, too


@dataclass(frozen=True)
class NoiseModel:
    """A model of the noise of labels.

    Attributes
    ----------
    T : (k, k) array
        Probability of each given label (columns) for each true class (rows).
    calibration : Calibration
        Class probabilities from predictions.
    anchors : int
        Number of examples from which T is estimated.
    border : Hypotheses or None
        Hypotheses on noise at borders; None stands for T alone.
    """

    T: Array
    calibration: Calibration
    anchors: int
    border: Hypotheses | None = None

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What verdicts are averaged over; the first is T everywhere."""
        if self.border is None:
            return (Hypothesis(0.0, noise_odds(self.T), 1.0),)
        return self.border.members

    @property
    def contested(self) -> bool:
        """Whether wrong labels follow the borders between classes."""
        return self.border is not None and self.border.contested

    @property
    def odds_factor(self) -> float:
        """By which the odds of being wrong are multiplied in verdicts."""
        return 1.0 if self.border is None else self.border.odds_factor

    @property
    def overlap(self) -> bool:
        """Whether classes overlap so much that noise and nature cannot be told apart."""
        return self.border is not None and self.border.overlap


def estimate_noise(
    F: Array, codes: Index, *, anchor_shares: tuple[float, ...] = ANCHOR_SHARES
) -> NoiseModel:
    """The noise model of leave-one-out predictions and given labels.

    Parameters
    ----------
    F : (n, k) array
        Leave-one-out predictions.
    codes : (n,) array
        The given class of every example.
    anchor_shares : tuple of float
        Shares of each predicted class to consider as anchors, descending.
    """
    k = F.shape[1]
    sample = sample_rows(*F.shape)
    G, j = F[sample].astype(np.float64), codes[sample]  # predictions in files are float32
    by_gap = choose_anchors(*certainty_by_gap(F), codes, k, anchor_shares[:1])
    T = noise_matrix(by_gap.counts)
    start = sharpest(G, j, T)
    penalty = best_penalty(G, j, T, start)
    calibration = calibrate(G, j, T, start, penalty)
    certainty = certainty_by_probability(F, calibration)
    anchors = choose_anchors(*certainty, codes, k, anchor_shares)
    T = noise_matrix(anchors.counts)
    overlap = anchors.overlap or overlapping(G, j, calibration)
    calibration = calibrate(G, j, T, calibration, penalty)
    border = border_hypotheses(G, j, T, calibration, overlap=overlap)
    many_differ = agreement(G, j) < MIN_AGREEMENT
    tried = (k == 2 or many_differ) and (border.mixed or not border.explains)
    if overlap or tried:
        level, likely_T, likely_calibration = _likely_level(G, j, T, penalty, overlap)
        if overlap or level < 1 or not border.explains:
            T, calibration = likely_T, likely_calibration
            overlap = overlap or level <= MAX_OVERLAP_LEVEL
            border = border_hypotheses(G, j, T, calibration, overlap=overlap, alone=many_differ)
    return NoiseModel(T, calibration, len(anchors), border)


def _likely_level(
    F: Array, codes: Index, T: Array, penalty: float | None, overlap: bool
) -> tuple[float, Array, Calibration]:
    """The level of noise under which the labels are most likely, T scaled to it, and calibration.

    The less noise, the more of the odd labels is confusion by nature, and the blunter are
    predictions. Labels that a matrix W was learnt from are too likely, the more so the more classes
    there are, and held-out ones too unlikely, as only half of the labels are learnt from: the mean
    of both logarithms counts. Unless classes are known to overlap, labels have to be more likely
    by `MIN_GAIN` than under the level of the anchors.
    """
    fits = []
    for level in NOISE_LEVELS:
        scaled = level * T + (1 - level) * np.eye(len(T))
        calibration = calibrate(F, codes, scaled, sharpest(F, codes, scaled), penalty)
        logs = log_likelihood(F, codes, scaled, calibration)
        if penalty is not None:
            logs = (logs + _held_out(F, codes, scaled, penalty)) / 2
        fits.append((logs, level, scaled, calibration))
    best = max(fits, key=lambda fit: fit[0])
    clearly = overlap or best[0] >= fits[0][0] + MIN_GAIN
    _, level, scaled, calibration = best if clearly else fits[0]
    return level, scaled, calibration


def _held_out(F: Array, codes: Index, T: Array, penalty: float) -> float:
    """Log likelihood of all labels, each half under what was learnt from the other."""
    first, second = halves(F, codes)
    logs = 0.0
    for fit, held in ((first, second), (second, first)):
        start = sharpest(F[fit], codes[fit], T)
        calibration = calibrate(F[fit], codes[fit], T, start, penalty)
        logs += log_likelihood(F[held], codes[held], T, calibration)
    return logs
