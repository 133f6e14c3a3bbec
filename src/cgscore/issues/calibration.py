r"""Class probabilities from leave-one-out predictions, learnt from labels that may be wrong.

Predictions F (n x k) become ``q_i = softmax(F_i W + c)``, the probabilities of the true class. With
``T_cj = P(given j | true c)`` the given labels have the likelihood ``prod_i sum_c q_i(c) T_cj(i)``;
W and c maximise it. Wrong labels that T explains do not change the probabilities; natural confusion
between classes does.

W starts as ``b I`` with the b of the largest likelihood, and a penalty holds it near there. The
penalty is chosen on held-out labels, in favour of the simpler model: with few examples or many
classes, b alone remains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from cgscore.execution.blas import one_blas_thread
from cgscore.typing import Array, Index
from cgscore.valuation import row_chunks

SHARPNESS = 2.0 ** np.arange(-2, 7)  # candidates for b; then factors around the best of them
#: And where classes are so many that the prediction of the right one is hardly above the others.
MORE_SHARPNESS = 2.0 ** np.arange(7, 12)
SHARPNESS_FACTORS = 2.0 ** np.array([-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75])
PENALTIES = (1000.0, 100.0, 10.0, 1.0)  # on half the squared distance of W from b I
MAX_FULL_CLASSES = 128  # beyond that W stays b I
SAMPLE_NUMBERS = 1_000_000  # numbers of F to learn from, within
MIN_SAMPLE_ROWS, MAX_SAMPLE_ROWS = 2_000, 20_000
MAX_ITERATIONS = 100  # of the search for W and c


@dataclass(frozen=True)
class Calibration:
    """How predictions become logits: ``b F``, or ``F W + c``."""

    b: float
    W: Array | None = None
    c: Array | float = 0.0

    def logits(self, F: Array) -> Array:
        """The logit of every class, for each row of F, in float64."""
        F = np.asarray(F, np.float64)
        return self.b * F if self.W is None else F @ self.W + self.c

    def probabilities(self, F: Array) -> Array:
        """The probability of every class, for each row of F."""
        return _softmax(self.logits(F))


def sample_rows(n: int, k: int) -> Index:
    """The rows from which a calibration is learnt: evenly spaced, or all of them."""
    size = max(MIN_SAMPLE_ROWS, min(MAX_SAMPLE_ROWS, SAMPLE_NUMBERS // k))
    return np.linspace(0, n - 1, min(n, size)).astype(np.intp)


def sharpest(F: Array, codes: Index, T: Array) -> Calibration:
    """The ``b`` under which the given labels are most likely."""

    def best(candidates: NDArray[np.floating]) -> float:
        with np.errstate(divide="ignore"):  # labels that a candidate makes impossible rule it out
            return float(
                max(candidates, key=lambda b: log_likelihood(F, codes, T, Calibration(float(b))))
            )

    many = F.shape[1] > MAX_FULL_CLASSES
    candidates = np.concatenate([SHARPNESS, MORE_SHARPNESS]) if many else SHARPNESS
    return Calibration(best(SHARPNESS_FACTORS * best(candidates)))


def calibrate(
    F: Array, codes: Index, T: Array, start: Calibration, penalty: float | None
) -> Calibration:
    """W and c under which the given labels are most likely; without a penalty b alone.

    Parameters
    ----------
    F : (n, k) array
        Leave-one-out predictions.
    codes : (n,) array
        The given class of every example.
    T : (k, k) array
        Noise matrix.
    start : Calibration
        Where the search starts; its b is where the penalty holds W.
    penalty : float or None
        Weight of half the squared distance of W and c from ``b I`` and 0.
    """
    if penalty is None:
        return sharpest(F, codes, T)
    k = F.shape[1]
    centre = np.concatenate([(start.b * np.eye(k)).ravel(), np.zeros(k)])
    first = centre if start.W is None else np.r_[start.W.ravel(), start.c]
    given = T[:, codes].T  # probability of the given label, for each true class

    def cost(x: Array) -> tuple[float, Array]:
        q = _softmax(F @ x[: k * k].reshape(k, k) + x[k * k :])
        posterior = q * given
        total = posterior.sum(axis=1)
        posterior /= total[:, None]
        posterior -= q
        away = x - centre
        slope = np.concatenate([(F.T @ posterior).ravel(), posterior.sum(axis=0)])
        return penalty / 2 * float(away @ away) - float(np.log(total).sum()), penalty * away - slope

    # A search that stops early is no error: what it reached is judged by its likelihood. Its many
    # small products take three times as long if threads wait for each other.
    with one_blas_thread():
        found = minimize(
            cost, first, jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITERATIONS}
        )
    x = found.x
    return Calibration(start.b, x[: k * k].reshape(k, k), x[k * k :])


def best_penalty(F: Array, codes: Index, T: Array, start: Calibration) -> float | None:
    """The strongest penalty that predicts held-out labels as well as any; None is b alone.

    As well as any: after learning from one half of the examples, the log likelihood of the other
    half is within one standard error of the best.
    """
    if F.shape[1] > MAX_FULL_CLASSES or len(F) < 2:  # one example cannot be held out
        return None
    fit, held = halves(F, codes)
    logs = {
        penalty: log_likelihoods(
            F[held], codes[held], T, calibrate(F[fit], codes[fit], T, start, penalty)
        )
        for penalty in (None, *PENALTIES)
    }
    best = max(logs.values(), key=lambda candidate: float(candidate.sum()))
    return next(
        penalty
        for penalty, candidate in logs.items()  # the simplest first
        if (best - candidate).sum() <= np.sqrt(len(candidate)) * (best - candidate).std()
    )


def halves(F: Array, codes: Index) -> tuple[Index, Index]:
    """Two halves with the same classes, equally hard to predict, whatever the order of the rows."""
    order = np.lexsort((F[np.arange(len(F)), codes], codes))
    return order[::2], order[1::2]


def log_likelihood(F: Array, codes: Index, T: Array, calibration: Calibration) -> float:
    """Logarithm of the likelihood of all given labels, with the true ones hidden."""
    return float(log_likelihoods(F, codes, T, calibration).sum())


def log_likelihoods(F: Array, codes: Index, T: Array, calibration: Calibration) -> Array:
    """Logarithm of the likelihood of each given label, with the true one hidden."""
    logs = np.empty(len(F))
    for chunk in row_chunks(*F.shape):
        q = calibration.probabilities(F[chunk])
        logs[chunk] = np.einsum("ic,ci->i", q, T[:, codes[chunk]])
    return np.log(logs, out=logs)


def _softmax(logits: Array) -> Array:
    probabilities: Array = softmax(logits, axis=1)
    return probabilities
