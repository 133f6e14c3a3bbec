r"""Leave-one-out predictions as class probabilities, learnt from labels of which some are wrong.

Predictions F (n x k) become ``q_i = softmax(F_i W + c)``, the probabilities of the true class. With
``T_cj = P(given j | true c)`` the given labels have the likelihood ``prod_i sum_c q_i(c) T_cj(i)``;
W and c are where it is largest. Labels that T explains do not bend the probabilities, confusion
between classes by nature does.

W starts as ``b I`` with the b of the largest likelihood, and is held to it by a penalty. How
strongly is decided on held-out labels, for the simpler where that is as good: with few examples, or
many classes, b alone remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from cgscore.kernel import Array

Index = NDArray[np.intp]

SHARPNESS = 2.0 ** np.arange(-2, 7)  # values of b, and then between the best and its neighbours
BETWEEN = 2.0 ** np.array([-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75])
PENALTIES = (1000.0, 100.0, 10.0, 1.0)  # on half the squared distance of W from b I
WIDEST = 128  # classes for which W is more than b I
SAMPLE = 1_000_000  # numbers of F from which all this is learnt, within
ROWS = (2_000, 20_000)  # at least and at most
STEPS = 100  # of the search for W and c
_CHUNK = 1 << 22  # numbers handled at once


@dataclass(frozen=True)
class Calibration:
    """How predictions turn into logits: ``b F``, or ``F W + c``."""

    b: float
    W: Array | None = None
    c: Array | float = 0.0

    def probabilities(self, F: Array) -> Array:
        """The probability of every class, for each row of F."""
        return softmax(self.b * F if self.W is None else F @ self.W + self.c)


def sampled(n: int, k: int) -> Index:
    """The rows from which a calibration is learnt: evenly spaced, all if they are few."""
    return np.linspace(0, n - 1, min(n, max(ROWS[0], min(ROWS[1], SAMPLE // k)))).astype(np.intp)


def sharpest(F: Array, codes: Index, T: Array) -> Calibration:
    """The ``b`` under which the given labels are most likely."""

    def best(values: NDArray[np.floating]) -> float:
        return float(max(values, key=lambda b: likelihood(F, codes, T, Calibration(float(b)))))

    return Calibration(best(BETWEEN * best(SHARPNESS)))


def calibrated(
    F: Array, codes: Index, T: Array, start: Calibration, penalty: float | None
) -> Calibration:
    """W and c under which the given labels are most likely; without a penalty b alone."""
    if penalty is None:
        return sharpest(F, codes, T)
    k = F.shape[1]
    home = np.concatenate([(start.b * np.eye(k)).ravel(), np.zeros(k)])
    first = home if start.W is None else np.r_[start.W.ravel(), start.c]
    of_own = T[:, codes].T

    def cost(x: Array) -> tuple[float, Array]:
        q = softmax(F @ x[: k * k].reshape(k, k) + x[k * k :])
        posterior = q * of_own
        total = posterior.sum(axis=1)
        posterior /= total[:, None]
        posterior -= q
        away = x - home
        slope = np.concatenate([(F.T @ posterior).ravel(), posterior.sum(axis=0)])
        return penalty / 2 * float(away @ away) - float(np.log(total).sum()), penalty * away - slope

    # a search cut short is no error: whatever it reached is judged by the likelihood
    found = minimize(cost, first, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return Calibration(start.b, found[: k * k].reshape(k, k), found[k * k :])


def best_penalty(F: Array, codes: Index, T: Array, start: Calibration) -> float | None:
    """The strongest penalty that tells held-out labels as well as any; None is b alone.

    As well: the likelihood of one half after learning from the other is within its standard error
    of the best.
    """
    if F.shape[1] > WIDEST:
        return None
    fit, held = _halves(F, codes)
    logs = {
        penalty: log_likelihoods(
            F[held], codes[held], T, calibrated(F[fit], codes[fit], T, start, penalty)
        )
        for penalty in (None, *PENALTIES)
    }
    best = max(logs.values(), key=lambda one: float(one.sum()))
    return next(
        penalty
        for penalty, one in logs.items()  # the simplest first
        if (best - one).sum() <= np.sqrt(len(one)) * (best - one).std()
    )


def _halves(F: Array, codes: Index) -> tuple[Index, Index]:
    """Two halves with the same classes, as hard to predict, in whatever order rows come."""
    order = np.lexsort((F[np.arange(len(F)), codes], codes))
    return order[::2], order[1::2]


def likelihood(F: Array, codes: Index, T: Array, how: Calibration) -> float:
    """Of the given labels, with the true ones hidden: its logarithm."""
    return float(log_likelihoods(F, codes, T, how).sum())


def log_likelihoods(F: Array, codes: Index, T: Array, how: Calibration) -> Array:
    """The same for each label."""
    logs = np.empty(len(F))
    for part in parts(*F.shape):
        logs[part] = np.einsum("ic,ci->i", how.probabilities(F[part]), T[:, codes[part]])
    return np.log(logs, out=logs)


def softmax(A: Array) -> Array:
    """Rows of exponentials that add up to 1."""
    E = np.exp(A - A.max(axis=1, keepdims=True))
    E /= E.sum(axis=1, keepdims=True)
    scaled: Array = E
    return scaled


def parts(n: int, k: int) -> Iterator[slice]:
    """Slices of the rows that are handled at once."""
    step = max(1, _CHUNK // k)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
