r"""Several labels per example: a consensus, and how reliable every annotator is.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
L           n x m    label of each example by each annotator, as a code; -1 where there is none
q           n x k    class probabilities from the inputs alone (`calibration.py`)
C_a         k x k    ``P(a says l | true c)``, the confusion of annotator a
g           n x k    probability of every true class, from inputs and labels
==========  =======  =========================================================================

``g_i(c) ~ q_i(c) prod_a C_a[c, L_ia]``, the model of Dawid and Skene (1979) with the inputs as one
more voice. It is fitted by expectation-maximisation. A confusion matrix has k^2 numbers, and many
annotators gave a few labels: each row is shrunk to a matrix that has the annotator's own rate of
right labels on its diagonal and the directions of everybody off it, and that rate to everybody's.

The *reliability* of an annotator is the rate of right labels. Its likelihood is that of
`cgscore.issues.sources`, with the true class judged by the inputs and the other annotators: a label
does not vouch for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from cgscore.data.annotations import Annotations
from cgscore.issues.noise_model import estimate_noise
from cgscore.issues.sources import MAX_ODDS, rates_of_ratios
from cgscore.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd

RATE_LABELS = 4.0  # labels for which everybody's rate of right labels counts,
ROW_LABELS = 10.0  # and for which an annotator's own rate counts in each row of the confusion
FIRST_RATE = 0.8  # rate of right labels to start from
ROUNDS = 2  # of judging labels by the inputs; a third changes next to nothing
MAX_STEPS, TOLERANCE = 100, 1e-4  # of expectation-maximisation

#: Leave-one-out predictions of labels, with the classes that their columns are.
Predict = Callable[[NDArray[Any]], tuple[NDArray[Any], Array | None]]


@dataclass(frozen=True)
class Consensus:
    """What several annotators and the inputs say together.

    Attributes
    ----------
    codes : (n,) array
        The most probable class of every example.
    confidence : (n,) array
        Its probability.
    confusion : (m, k, k) array
        Confusion matrix of every annotator.
    """

    codes: Index
    confidence: Array
    confusion: Array


@dataclass(frozen=True)
class Agreement:
    """Labels of several annotators, weighed.

    Attributes
    ----------
    labels : (n,) array
        The most probable label of every example.
    confidence : (n,) array
        Its probability.
    reliability : DataFrame
        `annotator_table`.
    """

    labels: NDArray[Any]
    confidence: Array
    reliability: pd.DataFrame


def agree(annotations: Annotations, predict: Predict, rounds: int = ROUNDS) -> Agreement:
    """The consensus of annotators and inputs.

    Every round judges the labels of the one before by the other examples, the first those of the
    majority; from these predictions follow class probabilities, and from them the next labels.

    Parameters
    ----------
    annotations : Annotations
        Who gave which label.
    predict : function
        Leave-one-out predictions of labels: the classes among them, and an (n, k) array, or None
        if there are no predictions; annotators are then weighed against each other alone.
    rounds : int
        Of judging.
    """
    L, k = annotations.codes, len(annotations.classes)
    labels = annotations.majority()
    for _ in range(rounds):
        classes, F = predict(labels)
        q = np.full((len(L), k), 1 / k)
        if F is not None:
            codes = np.searchsorted(classes, labels)
            q = _probabilities(F, codes, np.searchsorted(annotations.classes, classes), k)
        opinion = consensus(L, q)
        labels = annotations.classes[opinion.codes]
    reliability = annotator_table(annotations.names, L, q, opinion.confusion)
    return Agreement(labels, opinion.confidence, reliability)


def _probabilities(F: Array, codes: Index, columns: Index, k: int) -> Array:
    """Class probabilities from the inputs alone, of k classes of which `columns` were predicted."""
    predicted = ~np.isnan(F).any(axis=1)
    calibration = estimate_noise(F[predicted], codes[predicted]).calibration
    q = np.full((len(F), k), 1 / k)
    q[predicted] = 0.0
    q[np.ix_(predicted, columns)] = calibration.probabilities(F[predicted])
    return q


def consensus(L: Index, q: Array) -> Consensus:
    """The most probable classes, with the inputs as one more voice.

    Parameters
    ----------
    L : (n, m) array
        Codes of the labels; -1 where there is none.
    q : (n, k) array
        Class probabilities from the inputs alone.
    """
    k, m = q.shape[1], L.shape[1]
    log_q = np.log(np.maximum(q, np.finfo(float).tiny))
    off = (1 - FIRST_RATE) / max(1, k - 1)
    confusion = np.tile(np.where(np.eye(k, dtype=bool), FIRST_RATE, off), (m, 1, 1))
    g = softmax(log_q + _label_logs(L, confusion), axis=1)
    for _ in range(MAX_STEPS):
        confusion = _confusions(L, g)
        new = softmax(log_q + _label_logs(L, confusion), axis=1)
        change = float(np.abs(new - g).max())
        g = new
        if change < TOLERANCE:
            break
    codes = np.argmax(g, axis=1)
    return Consensus(codes, g[np.arange(len(g)), codes], confusion)


def annotator_table(names: Sequence[str], L: Index, q: Array, confusion: Array) -> pd.DataFrame:
    """How reliable every annotator is, the least reliable first.

    Parameters
    ----------
    names : sequence of str
        The annotators.
    L, q
        As for `consensus`.
    confusion : (m, k, k) array
        Their confusion matrices.

    Returns
    -------
    DataFrame
        ``annotator``, ``examples``, ``reliability`` (rate of right labels), ``low`` and ``high``,
        the ends of its 95 % interval, and ``differs``: empty, ``more`` or ``fewer`` right labels
        than the others by more than chance.
    """
    import pandas as pd

    log_q = np.log(np.maximum(q, np.finfo(float).tiny))
    all_logs = log_q + _label_logs(L, confusion)
    off = confusion.mean(axis=0)
    np.fill_diagonal(off, 0.0)
    off /= np.maximum(off.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    owners, ratios = [], []
    for a in range(L.shape[1]):
        rows = np.flatnonzero(L[:, a] >= 0)
        labels = L[rows, a]
        without = all_logs[rows] - np.log(confusion[a][:, labels].T)
        g = np.exp(log_softmax(without, axis=1))
        of_wrong = np.einsum("ic,ci->i", g, off[:, labels])
        of_right = g[np.arange(len(rows)), labels]
        ratios.append(of_wrong / np.maximum(of_right, of_wrong / MAX_ODDS))
        owners.append(np.full(len(rows), a))
    rates = rates_of_ratios(np.concatenate(owners), np.concatenate(ratios), L.shape[1])
    direction = np.where(rates.rate > np.median(rates.rate), "fewer", "more")
    table: pd.DataFrame = pd.DataFrame(
        {
            "annotator": list(names),
            "examples": (L >= 0).sum(axis=0),
            "reliability": 1 - rates.rate,
            "low": 1 - rates.high,
            "high": 1 - rates.low,
            "differs": np.where(rates.differs, direction, ""),
        }
    )
    ordered: pd.DataFrame = table.sort_values("reliability", kind="stable")
    renumbered: pd.DataFrame = ordered.reset_index(drop=True)
    return renumbered


def _label_logs(L: Index, confusion: Array) -> Array:
    """``sum_a log C_a[c, L_ia]`` for every true class, (n, k)."""
    logs = np.zeros((len(L), confusion.shape[1]))
    for a, matrix in enumerate(np.log(confusion)):
        rows = np.flatnonzero(L[:, a] >= 0)
        logs[rows] += matrix[:, L[rows, a]].T
    return logs


def _confusions(L: Index, g: Array) -> Array:
    """Confusion matrices of all annotators from the probabilities of true classes."""
    m, k = L.shape[1], g.shape[1]
    counts = np.zeros((m, k, k))  # a, label, true
    for a in range(m):
        rows = np.flatnonzero(L[:, a] >= 0)
        np.add.at(counts[a], L[rows, a], g[rows])
    counts = counts.transpose(0, 2, 1)  # a, true, label
    diagonal = np.eye(k, dtype=bool)
    right = counts[:, diagonal].sum(axis=1)
    total = counts.sum(axis=(1, 2))
    everybody = (right.sum() + FIRST_RATE) / (total.sum() + 1)
    rate = (right + RATE_LABELS * everybody) / (total + RATE_LABELS)
    directions = np.where(diagonal, 0.0, counts.sum(axis=0) + 1 / k)
    directions /= np.maximum(directions.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    base = rate[:, None, None] * np.eye(k) + (1 - rate)[:, None, None] * directions
    rows = counts.sum(axis=2, keepdims=True)
    shrunk: Array = (counts + ROW_LABELS * base) / (rows + ROW_LABELS)
    return shrunk
