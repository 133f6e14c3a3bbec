r"""How clean the labels are by now, and with what probability they are clean enough.

============  =======  ====================================================================
symbol        shape    meaning
============  =======  ====================================================================
p             n        probability that each label was wrong, by the model, before any decision
w             m        whether the label of each decided example was wrong
a, b          scalar   how far the model is off: ``logit P(wrong) = a + b logit p``
q             n - m    probability that each undecided label is wrong
e             scalar   share of wrong decisions, as the reviewers state it
R             scalar   number of wrong labels that are left
============  =======  ====================================================================

Labels are clean to 99 % if at most 1 % of all n labels are wrong. A decided label is wrong with the
probability e: 0 takes reviewers at their word. The probabilities p are calibrated by the
decisions themselves: a has the prior N(0, 1) and log b the prior N(0, 0.4), both on a grid, and the
posterior is that of the decided labels w. For each (a, b) R is a sum of independent events, taken
as normal with the mean ``sum q + m e`` and the variance ``sum q (1 - q) + m e (1 - e)``. The
probability that ``R <= n / 100`` is averaged over the posterior.

Suspects are decided first, so decisions say little about labels that nobody doubts: there the prior
of b keeps the answer open. Decisions about a random sample of the undecided examples narrow it.

Cost: p is counted in bins of its logit, so a few hundred bins for each of some hundred (a, b).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, ndtr

from cgscore.typing import Array

GOAL = 0.99  # share of right labels
CONFIDENCE = 0.95  # probability of it
BIN = 0.05  # of a logit
MAX_LOGIT = 14.0
SHIFTS = np.linspace(-3.0, 3.0, 25)  # a
LOG_SLOPES = np.linspace(-1.0, 1.0, 11)  # log b
SLOPE_DEVIATION = 0.4  # of log b, before any decision
MIN_WEIGHT = 1e-6  # of a pair (a, b), relative to the largest, to be taken into account


@dataclass(frozen=True)
class Cleanliness:
    """How clean the labels are.

    Attributes
    ----------
    share : float
        Expected share of right labels.
    low : float
        Share that is reached with a probability of 95 %.
    probability : float
        Probability that at least `GOAL` of the labels are right.
    looks : int or None
        Further decisions, the most doubtful first, until that probability is 95 %; None if no
        number of decisions suffices, because too many of them would be wrong.
    """

    share: float
    low: float
    probability: float
    looks: int | None

    @property
    def reached(self) -> bool:
        """Whether the goal is reached with the probability that is asked for."""
        return self.probability >= CONFIDENCE


def cleanliness(
    wrong: Array,
    decided: NDArray[np.intp],
    was_wrong: NDArray[np.bool_],
    now: Array | None = None,
    *,
    reviewer_error: float = 0.0,
) -> Cleanliness:
    """How clean the labels are after some decisions.

    Parameters
    ----------
    wrong : (n,) array
        Probability that each label is wrong, before any decision.
    decided : (m,) array
        Positions of the decided examples.
    was_wrong : (m,) array
        Whether the label of each of them was wrong.
    now : (n,) array, optional
        Probabilities renewed by the decisions; by default those before.
    reviewer_error : float
        Share of decisions that are wrong.
    """
    n = len(wrong)
    weights = _posterior(_logit(wrong[decided]), was_wrong)
    undecided = np.ones(n, bool)
    undecided[decided] = False
    places = _bins(_logit((wrong if now is None else now)[undecided]))
    counts = np.bincount(places, minlength=_bin_count()).astype(np.float64)
    plausible = np.flatnonzero(weights > MIN_WEIGHT * weights.max())
    q, variance = _probabilities()
    share_of = weights[plausible] / weights[plausible].sum()
    left = _Remaining(
        q[plausible], variance[plausible], counts, share_of, len(decided), reviewer_error
    )
    allowed = int((1 - GOAL) * n + 1e-9)
    means, _ = left.moments(0)
    share = 1 - float(left.weights @ means) / n
    low = 1 - left.quantile(CONFIDENCE) / n
    return Cleanliness(share, low, left.at_most(allowed, 0), left.looks(allowed))


@dataclass(frozen=True)
class _Remaining:
    """The number R of wrong labels left, a mixture of normal distributions.

    Attributes
    ----------
    q, variance : (h, bins) arrays
        Probability of a wrong label in each bin, for each (a, b), and ``q (1 - q)``.
    counts : (bins,) array
        Undecided examples in each bin, the least doubtful first.
    weights : (h,) array
        Posterior of (a, b).
    decided : int
        Decisions so far.
    error : float
        Share of them that are wrong.
    """

    q: Array
    variance: Array
    counts: Array
    weights: Array
    decided: int
    error: float

    def moments(self, looks: int) -> tuple[Array, Array]:
        """Mean and standard deviation, after so many looks at the most doubtful examples."""
        later = np.cumsum(self.counts[::-1])[::-1] - self.counts  # in more doubtful bins
        counts = np.clip(self.counts - np.maximum(looks - later, 0), 0, None)
        mistakes = self.error * (self.decided + looks)
        spread = self.variance @ counts + mistakes * (1 - self.error)
        return self.q @ counts + mistakes, np.sqrt(spread)

    def at_most(self, count: int, looks: int) -> float:
        """Probability that at most so many wrong labels are left."""
        return self._at_most(count, *self.moments(looks))

    def _at_most(self, count: int, means: Array, deviations: Array) -> float:
        steps = (count + 0.5 - means) / np.maximum(deviations, 1e-9)
        return float(self.weights @ ndtr(steps))

    def looks(self, allowed: int) -> int | None:
        """The fewest looks after which at most so many are left, with the confidence wanted."""
        low, high = 0, int(self.counts.sum())
        if self.error > 0:  # mistakes grow with every look: find where it is enough at all
            steps = np.unique(np.linspace(low, high, 40).astype(int)).tolist()
            enough = [step for step in steps if self.at_most(allowed, step) >= CONFIDENCE]
            if not enough:
                return None
            low, high = max([step for step in steps if step < enough[0]], default=0), enough[0]
        while low < high:
            middle = (low + high) // 2
            if self.at_most(allowed, middle) >= CONFIDENCE:
                high = middle
            else:
                low = middle + 1
        return low

    def quantile(self, level: float) -> int:
        """The least number that R does not exceed with a probability of `level`."""
        means, deviations = self.moments(0)
        low, high = 0, int(self.counts.sum()) + self.decided
        while low < high:
            middle = (low + high) // 2
            if self._at_most(middle, means, deviations) >= level:
                high = middle
            else:
                low = middle + 1
        return low


def _posterior(logits: Array, was_wrong: NDArray[np.bool_]) -> Array:
    """Weights of all pairs (a, b), given decided labels."""
    log_prior = -0.5 * SHIFTS[:, None] ** 2 - 0.5 * (LOG_SLOPES / SLOPE_DEVIATION) ** 2
    places = _bins(logits)
    wrong = np.bincount(places[was_wrong], minlength=_bin_count())
    right = np.bincount(places[~was_wrong], minlength=_bin_count())
    used = (wrong + right) > 0
    z = SHIFTS[:, None, None] + np.exp(LOG_SLOPES)[:, None] * _centres()[used]
    log_likelihood = -(np.logaddexp(0, -z) @ wrong[used] + np.logaddexp(0, z) @ right[used])
    total = log_prior + log_likelihood
    weights: Array = np.exp(total - logsumexp(total)).ravel()
    return weights


@lru_cache(maxsize=1)
def _probabilities() -> tuple[Array, Array]:
    """The probabilities q of all bins for each (a, b), and ``q (1 - q)``: (h, bins) arrays."""
    z = SHIFTS[:, None, None] + np.exp(LOG_SLOPES)[:, None] * _centres()
    q: Array = expit(z).reshape(-1, z.shape[-1])
    return q, q * (1 - q)


def _logit(p: Array) -> Array:
    bounded = np.clip(np.nan_to_num(p, nan=0.5), expit(-MAX_LOGIT), expit(MAX_LOGIT))
    logits: Array = np.log(bounded) - np.log1p(-bounded)
    return logits


def _bin_count() -> int:
    return round(2 * MAX_LOGIT / BIN) + 1


def _bins(logits: Array) -> NDArray[np.intp]:
    """The bin of each logit, the least doubtful first."""
    places = np.round((logits + MAX_LOGIT) / BIN).astype(np.intp)
    bins: NDArray[np.intp] = np.clip(places, 0, _bin_count() - 1)
    return bins


def _centres() -> Array:
    centres: Array = np.linspace(-MAX_LOGIT, MAX_LOGIT, _bin_count())
    return centres
