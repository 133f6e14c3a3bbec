r"""Numeric targets: which are probably wrong, and an interval for what each should be.

============  =======  =======================================================================
symbol        shape    meaning
============  =======  =======================================================================
y, mu, d      n        targets, their leave-one-out predictions, diagonal of the inverse kernel
r             n        residuals ``y - mu``; a Gaussian process gives them the variance ``1 / d``
c, s          n        middle and scale of the residuals of right targets, near example i
t             n        studentised residuals ``(r - c) / s``
nu            scalar   degrees of freedom of right targets
k             2        scales of t below and above 0, near 1
pi, a         scalar   share of wrong targets, and how many of these are values of other examples
============  =======  =======================================================================

*Scale.* ``1 / d`` is the shape of the variance, not all of it: noise often grows with the target.
So ``log(|r - c| sqrt(d))`` is smoothed by medians over ranges of mu and of d, and c likewise over
ranges of mu. Medians of ranges are shrunk to the common one by as much as their own error demands.

*Mixture.* Right targets have Student's t, one scale on each side. Wrong ones are values of other
examples (a wide t about the median of y) or errors of any order of magnitude, ``1 / |t|`` beyond 4:

``p(t) = (1 - pi) f(t; nu, k) + pi (a swap(y) + (1 - a) gross(t))``

k is found by expectation-maximisation for each (nu, pi, a) of a grid. Verdicts are averaged over
the grid by the likelihood of the residuals and a prior that gives ``pi = 0`` one half: heavy tails
alone are no evidence of wrong values, and few examples prove little.

*Intervals.* ``mu + c + s [q_low, q_high]`` with quantiles of t itself, weighted by the probability
that a target is right. Residuals are leave-one-out, so these hold whatever their distribution
is. A few pseudo-observations from the fitted t take over where there are too few examples.

Wrong targets that look like right ones cannot be found: the estimated number counts those only
that differ from what right targets can be. Cost: about n times the size of the grid times 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtrit

from cgscore.errors import OptionError
from cgscore.issues.summary import IssueSummary
from cgscore.issues.table import RIDGE_HINT, LabelIssues, check_detector
from cgscore.issues.verdicts import flag, flag_with_precision
from cgscore.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd

COVERAGE = 0.95
DEGREES_OF_FREEDOM = (5.5, 8.0, 15.0, 50.0)  # heavier tails would explain any error
SHARES = tuple(0.4 * 2.0**-i for i in range(9))  # of wrong targets, beside 0
SWAPPED = (0.0, 0.5, 1.0)  # of them, values of other examples
SWAP_DEGREES = 5.0
GROSS_EDGE = 4.0  # studentised residuals from which errors of any magnitude are considered
MIN_GROSS_RANGE = 1e3
MAX_RESIDUAL_RATIO = 0.85  # of medians of residuals and of y: beyond, predictions say nothing
MIN_RANGE_SIZE, MAX_RANGES = 60, 12  # examples in each range of mu or d, and number of ranges
PSEUDO_OBSERVATIONS = 20.0  # weight of the fitted t in quantiles
SAMPLE_ROWS = 20_000  # to fit the mixture on
MAX_STEPS, STEP_TOLERANCE = 40, 1e-3  # of expectation-maximisation
MIN_WEIGHT = 1e-4  # of a point of the grid that counts
MEDIAN_OF_NORMAL = 0.6745  # of its absolute value
MEDIAN_ERROR = 1.25  # standard error of a median, in deviations over the root of the count

UNINFORMATIVE_HINT = (
    "What the other examples predict is hardly nearer to the given values than their median: these "
    "inputs say little about the target, and only gross errors are flagged. Other features may "
    "help."
)
PROMISE_HINT = (
    "No value is flagged: too few look wrong with enough certainty to promise this precision. Ask "
    "for a lower precision, or omit it to flag every value that is more likely wrong than right."
)


@dataclass(frozen=True)
class TargetVerdicts:
    """Verdicts on numeric targets.

    Attributes
    ----------
    right : (n,) array
        Probability that each target is right.
    low, high : (n,) arrays
        Ends of the 95 % interval for the right value.
    studentised : (n,) array
        Residual over the scale of residuals of right targets near this example.
    wrong : float
        Expected number of wrong targets.
    interval : tuple of float
        Its 95 % interval.
    uninformative : bool
        Whether predictions are hardly better than the median, so that only gross errors count.
    """

    right: Array
    low: Array
    high: Array
    studentised: Array
    wrong: float
    interval: tuple[float, float]
    uninformative: bool


def find_target_issues(
    table: pd.DataFrame,
    mu: Array,
    d: Array,
    *,
    ridge: float,
    by: str = "posterior",
    expected_noise: float | None = None,
    precision: float | None = None,
) -> LabelIssues:
    """Judge every target of a regression.

    Parameters
    ----------
    table : DataFrame
        `Scores.table`: its columns ``id`` and ``given_label``.
    mu : (n,) array
        Leave-one-out predictions in the units of the targets; nan where there is none.
    d : (n,) array
        Diagonal of the inverse kernel matrix.
    ridge : float
        Ridge of the scores.
    by, expected_noise, precision
        As for `Scores.label_issues`; other detectors than ``posterior`` are for classes.

    Returns
    -------
    LabelIssues
        Its table has ``is_label_issue``, ``label_score`` (probability that the value is right),
        ``given_label``, ``predicted_label`` (leave-one-out), ``low``, ``high`` and
        ``studentised_residual``; missing values where there is no prediction.
    """
    import pandas as pd

    check_detector(by, expected_noise, precision)
    if by != "posterior":
        raise OptionError(f"by={by!r} is for classes; numbers are judged by='posterior'.")
    y = table["given_label"].to_numpy(np.float64)
    judged = np.isfinite(mu)
    verdicts = judge_targets(y[judged], mu[judged], d[judged])
    flagged = np.zeros(len(y), dtype=bool)
    flagged[judged] = (
        flag(verdicts.right, expected_noise=expected_noise)
        if precision is None
        else flag_with_precision(verdicts.right, precision)
    )
    hint = UNINFORMATIVE_HINT if verdicts.uninformative else RIDGE_HINT if ridge == 0 else None
    if precision is not None and not flagged.any():
        hint = PROMISE_HINT
    summary = IssueSummary(
        by="posterior",
        examples=int(judged.sum()),
        flagged=int(flagged.sum()),
        estimated_wrong=verdicts.wrong,
        interval=verdicts.interval,
        wrong_by_class={},
        noise_matrix=np.empty((0, 0)),
        anchors=0,
        uninformative=verdicts.uninformative,
        conflicts=0,
        hint=hint,
    )

    def column(values: Array) -> Array:
        filled = np.full(len(y), np.nan)
        filled[judged] = values
        return filled

    issues: pd.DataFrame = pd.DataFrame(
        {
            "is_label_issue": flagged,
            "label_score": column(verdicts.right),
            "given_label": table["given_label"].to_numpy(),
            "predicted_label": column(mu[judged]),
            "low": column(verdicts.low),
            "high": column(verdicts.high),
            "studentised_residual": column(verdicts.studentised),
        },
        index=pd.Index(table["id"].to_numpy(), name="id"),
    )
    issues.attrs = summary.as_attrs()
    return LabelIssues(issues, summary)


def judge_targets(y: Array, mu: Array, d: Array) -> TargetVerdicts:
    """The probability that each target is right, and an interval for its right value.

    Parameters
    ----------
    y, mu : (n,) arrays
        Targets and their leave-one-out predictions.
    d : (n,) array
        Diagonal of the inverse kernel matrix. Copies of a row may have 0 or infinity there.
    """
    n, r = len(y), y - mu
    if not n or np.abs(r).max() <= 1e-9 * np.abs(y).max():
        zeros = np.zeros(n)  # predicted exactly, such as a constant
        return TargetVerdicts(np.ones(n), mu, mu, zeros, 0.0, (0.0, 0.0), False)
    c, s = residual_scale(y, mu, usable_d(d))
    t = (r - c) / s
    spread = float(np.median(np.abs(y - np.median(y))))
    uninformative = bool(np.median(np.abs(r - c)) > MAX_RESIDUAL_RATIO * spread)
    wrong_logs = _wrong_densities(y, s, t, SWAPPED[:1] if uninformative else SWAPPED)
    sample = np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(np.intp)
    min_k = _rounding(y) / float(np.median(s))
    mixtures = _fit(t[sample], {a: logs[sample] for a, logs in wrong_logs.items()}, min_k)
    right, wrong, deviation = np.zeros(n), 0.0, 0.0
    for mixture in mixtures:
        posterior = mixture.right(t, wrong_logs.get(mixture.a))
        right += mixture.weight * posterior
        count = float((1 - posterior).sum())
        wrong += mixture.weight * count
        deviation += mixture.weight * (count**2 + float((posterior * (1 - posterior)).sum()))
    half = 1.96 * float(np.sqrt(max(0.0, deviation - wrong**2)))
    right = np.clip(right, 0.0, 1.0)
    low, high = _quantiles(t, right, mixtures)
    return TargetVerdicts(
        right=right,
        low=mu + c + low * s,
        high=mu + c + high * s,
        studentised=t,
        wrong=wrong,
        interval=(max(0.0, wrong - half), min(float(n), wrong + half)),
        uninformative=uninformative,
    )


def usable_d(d: Array) -> Array:
    """The diagonal d with limits replaced: infinity by the largest d, 0 by the median."""
    usable = np.isfinite(d) & (d > 0)
    if not usable.any():
        return np.ones(len(d))
    largest = float(d[usable].max())
    replaced: Array = np.where(usable, d, np.where(d > 0, largest, np.median(d[usable])))
    return replaced


def residual_scale(y: Array, mu: Array, d: Array) -> tuple[Array, Array]:
    """Middle and scale of the residuals of right targets, near each example.

    The scale is no smaller than what rounding of the targets causes.
    """
    r, root = y - mu, np.sqrt(d)
    floor = _rounding(y)
    c = np.zeros(len(y))
    for _ in range(2):
        u = np.log(np.maximum(np.abs(r - c), floor) * root)
        by_d = np.zeros(len(y))
        for _ in range(2):
            by_mu = range_medians(mu, u - by_d)
            by_d = range_medians(d, u - by_mu)
        s = np.maximum(np.exp(by_mu + by_d) / (MEDIAN_OF_NORMAL * root), floor)
        c = range_medians(mu, r / s) * s
    return c, s


def range_medians(x: Array, u: Array) -> Array:
    """Medians of u over ranges of x with equally many examples, interpolated between them.

    They are shrunk towards the common median: with one range, or where they differ by no more than
    medians of so many do, it is that everywhere.
    """
    n, common = len(u), float(np.median(u))
    ranges = min(MAX_RANGES, n // MIN_RANGE_SIZE)
    if ranges < 2:
        return np.full(n, common)
    rank = np.empty(n, np.intp)
    rank[np.argsort(x, kind="stable")] = np.arange(n)
    order = np.argsort(rank)
    medians = np.array([np.median(part) for part in np.array_split(u[order], ranges)])
    deviation = float(np.median(np.abs(u - common))) / MEDIAN_OF_NORMAL
    error = (MEDIAN_ERROR * deviation) ** 2 * ranges / n
    between = max(0.0, float(medians.var(ddof=1)) - error)
    shrunk = common + (medians - common) * (between / (between + error) if between else 0.0)
    smooth: Array = np.interp(rank, (np.arange(ranges) + 0.5) * n / ranges, shrunk)
    return smooth


@dataclass(frozen=True)
class Mixture:
    """A point of the grid of models, with its weight in the average."""

    nu: float
    pi: float
    a: float
    k: Array
    weight: float

    def right(self, t: Array, wrong_log: Array | None) -> Array:
        """The probability that each target is right."""
        if not self.pi or wrong_log is None:
            return np.ones(len(t))
        right_log = np.log1p(-self.pi) + _side_log_t(t, self.nu, self.k)
        posterior: Array = np.exp(right_log - np.logaddexp(right_log, np.log(self.pi) + wrong_log))
        return posterior


def _fit(t: Array, wrong_logs: dict[float, Array], min_k: float) -> list[Mixture]:
    """The points of the grid that count, with weights that add up to 1."""
    models, logs = [], []
    for nu in DEGREES_OF_FREEDOM:
        k = np.ones(2)
        for pi, a in [(0.0, 0.0), *((pi, a) for pi in SHARES for a in wrong_logs)]:
            prior = 0.5 if pi == 0 else 0.5 / (len(SHARES) * len(wrong_logs))
            k, log = _scales(t, wrong_logs[a], nu, pi, k, min_k)
            models.append((nu, pi, a, k))
            logs.append(log + np.log(prior))
    weights = np.exp(np.array(logs) - max(logs))
    weights[weights < MIN_WEIGHT * weights.max()] = 0
    weights /= weights.sum()
    return [
        Mixture(*model, float(weight))
        for model, weight in zip(models, weights, strict=True)
        if weight
    ]


def _scales(
    t: Array, wrong_log: Array, nu: float, pi: float, k: Array, min_k: float
) -> tuple[Array, float]:
    """The scales k by expectation-maximisation from a start, and the log likelihood."""
    side, square = (t > 0).astype(np.intp), t**2
    for _ in range(MAX_STEPS):
        right_log = np.log1p(-pi) + _side_log_t(t, nu, k)
        total = np.logaddexp(right_log, np.log(pi) + wrong_log) if pi else right_log
        right = np.exp(right_log - total)
        weight = right * (nu + 1) / (nu + square / k[side] ** 2)
        moments = np.bincount(side, weight * square, 2)
        counts = np.bincount(side, right, 2)
        if len(t) < MIN_RANGE_SIZE:  # too few for two sides
            moments, counts = moments.sum() * np.ones(2), counts.sum() * np.ones(2)
        new: Array = np.sqrt(np.maximum(moments, 1e-12) / np.maximum(counts, 1e-12))
        new = np.maximum(new, min_k)
        step = float(np.abs(np.log(new / k)).max())
        k = new
        if step < STEP_TOLERANCE:
            break
    return k, float(total.sum())


def _wrong_densities(y: Array, s: Array, t: Array, shares: tuple[float, ...]) -> dict[float, Array]:
    """Log density of t if the target is wrong, for every share of swapped values."""
    middle = np.median(y)
    spread = float(np.median(np.abs(y - middle))) / MEDIAN_OF_NORMAL
    spread = max(spread or float(y.std()), float(np.median(s)))
    swap = _log_t((y - middle) / spread, SWAP_DEGREES) + np.log(s / spread)
    size = np.abs(t)
    width = np.log(max(MIN_GROSS_RANGE, 2 * float(size.max())) / GROSS_EDGE)
    gross = np.where(size > GROSS_EDGE, -np.log(2 * width * np.maximum(size, 1.0)), -np.inf)
    with np.errstate(divide="ignore"):
        return {a: np.logaddexp(np.log(a) + swap, np.log(1 - a) + gross) for a in shares}


def _quantiles(t: Array, right: Array, mixtures: list[Mixture]) -> tuple[float, float]:
    """Ends of the interval of t that right targets have."""
    levels = (np.arange(200) + 0.5) / 200
    fitted = sum(
        m.weight * stdtrit(m.nu, levels) * np.where(levels > 0.5, m.k[1], m.k[0]) for m in mixtures
    )
    values = np.concatenate([t, np.asarray(fitted)])
    weights = np.concatenate([right, np.full(200, PSEUDO_OBSERVATIONS / 200)])
    order: Index = np.argsort(values, kind="stable")
    cumulated = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    ends: NDArray[np.float64] = np.interp(
        [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], cumulated, values[order]
    )
    return float(ends[0]), float(ends[1])


def _rounding(y: Array) -> float:
    """Half the smallest step between the values of y: what rounding can cause."""
    steps = np.diff(np.unique(y))
    step = float(steps.min()) if len(steps) else 0.0
    return max(step / 2, 1e-9 * float(np.abs(y).max()))


def _side_log_t(t: Array, nu: float, k: Array) -> Array:
    """Log density of Student's t with one scale below 0 and one above; half the mass on each."""
    scale = k[(t > 0).astype(np.intp)]
    return _log_t(t / scale, nu) - np.log(scale)


def _log_t(t: Array, nu: float) -> Array:
    """Log density of Student's t."""
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
    density: Array = constant - (nu + 1) / 2 * np.log1p(t**2 / nu)
    return density
