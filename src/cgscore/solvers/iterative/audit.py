r"""Errors of the estimates of d and alpha, from examples whose exact values are known.

For the audit examples d_i and alpha_i are solved to high accuracy. They serve twice:

- calibration: ``log d = b0 + b1 log d' + b2 log d'' + (log d' - log d'')^2``, where d' and d'' are
  the lower bounds from random and from similar blocks; b by least squares. The square was found on
  Fashion-MNIST and CIFAR-10, with the same factor near 1 on both. Where the bounds are farther
  apart than `MAX_FITTED_DISTANCE` (near-duplicates), the larger one is taken: its block contains
  the duplicate. Estimates are never below a bound;
- measurement: the examples are dealt into `FOLDS`, and each is predicted by a fit on the other
  folds, so every error is that of an example that the fit has not seen.

Errors are not alike everywhere. `strata` sets apart the examples with the largest estimates of CG
and those that are `odd` (bounds far apart, or a large d); some examples of both are audited on top
of those drawn from all.

The rank correlation of estimated and true scores over all n follows from these errors: give each
example of a sample the error of a random audit example of its stratum, take that for the truth, and
correlate. Repeated for resampled audit examples this gives the spread of the loss
``1 - correlation``. The interval is `INTERVAL_DEVIATIONS` of them, on a logarithmic scale: more
than the usual two, and more towards a larger loss, since a few dozen examples seldom show the
largest errors. The share of the true top percent that is in the estimated one is computed in the
same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.typing import Array
from cgscore.valuation import margin, valuation

FOLDS = 8
MAX_FITTED_DISTANCE = 0.5  # between the logarithms of two bounds
MAX_RESAMPLED = 2000  # examples on which rank correlations are computed
RESAMPLES = 100  # bootstrap samples of the audit examples
INTERVAL_DEVIATIONS = 3.0, 4.0  # towards a smaller and a larger loss
TOP_SHARE = 0.01  # share of the examples whose overlap is measured
TOP_STRATUM_RATIO = 3  # the stratum of the largest estimates, as a multiple of that share
#: Shares of the farthest bounds and of the largest d that are a stratum of their own.
ODD_SHARE = 0.025
CANDIDATE_SHARE = 0.2  # share of the examples that may be in the true top
MIN_EXAMPLES = 8  # audit examples of a stratum; with fewer, those of all strata are used
MAX_BOUND_RATIO = 3.0  # factor between two bounds above which d is marked as uncertain
MAX_ESTIMATE_RATIO = (
    1.5  # factor between d and its estimate beyond which an audited example is marked
)
MAX_MARKED = 1000  # positions that are listed


@dataclass(frozen=True)
class Audited:
    """Examples whose exact values are known: positions, d and alpha (one column per class)."""

    rows: NDArray[np.intp]
    d: Array
    alpha: Array

    def joined(self, other: Audited) -> Audited:
        """The union with other examples."""
        return Audited(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.d, other.d]),
            np.concatenate([self.alpha, other.alpha]),
        )


def calibrate(bounds: Array, audited: Audited, others: Array | None = None) -> tuple[Array, Array]:
    """Estimates of d for all n examples, and cross-validated ones for the audited examples.

    Parameters
    ----------
    bounds : (n, 2) array
        Lower bounds of d from random and from similar blocks.
    others : (n,) array or None
        Further lower bounds, 0 where there is none. Where they are far above the others they are
        the estimate, and such examples do not bend the fit of all others.
    """
    logs = np.log(bounds)
    apart = np.abs(logs[:, 0] - logs[:, 1])
    design = np.column_stack([np.ones(len(bounds)), logs])
    floor = bounds.max(axis=1) if others is None else np.maximum(bounds.max(axis=1), others)
    ordinary = floor <= MAX_BOUND_RATIO * bounds.max(axis=1)
    rows, near = audited.rows, ordinary & (apart <= MAX_FITTED_DISTANCE)
    truth = np.log(audited.d) - apart[rows] ** 2

    def estimate(fitted: NDArray[np.bool_], wanted: NDArray[np.intp]) -> Array:
        fitted = fitted & near[rows]
        b = np.linalg.lstsq(design[rows[fitted]], truth[fitted], rcond=None)[0]
        fit = np.exp(design[wanted] @ b + np.minimum(apart[wanted], MAX_FITTED_DISTANCE) ** 2)
        d_estimate: Array = np.where(near[wanted], np.maximum(fit, floor[wanted]), floor[wanted])
        return d_estimate

    fold = np.arange(len(rows)) % FOLDS
    unseen = np.empty(len(rows))
    for number in range(FOLDS):
        out = fold == number
        unseen[out] = estimate(~out, rows[out])
    return estimate(fold >= 0, np.arange(len(bounds))), unseen


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation."""
    import pandas as pd  # scipy.stats would take a third of a second to import

    return float(np.corrcoef(pd.Series(a).rank(), pd.Series(b).rank())[0, 1])


def strata(cg: Array, d: Array, bounds: Array) -> NDArray[np.intp]:
    """The stratum of every example: 1 near the estimated top, 2 odd, 0 otherwise."""
    n = len(d)
    apart = np.abs(np.log(bounds[:, 0] / bounds[:, 1]))
    stratum = np.zeros(n, np.intp)
    count = int(np.ceil(ODD_SHARE * n))
    for values in (apart, d):
        stratum[np.argsort(-values, kind="stable")[:count]] = 2
    stratum[np.argsort(-cg, kind="stable")[: TOP_STRATUM_RATIO * top_count(n)]] = 1
    return stratum


def top_count(n: int) -> int:
    """Examples in the top percent."""
    return max(1, round(TOP_SHARE * n))


def uncertain(
    bounds: Array, audited: Audited, unseen: Array, suspected: NDArray[np.bool_] | None = None
) -> dict[str, Any]:
    """Examples whose d may be wrong: positions (the first `MAX_MARKED`), count, and share.

    Their bounds differ by more than `MAX_BOUND_RATIO`, or they were audited and the estimate
    was wrong by more than a factor of `MAX_ESTIMATE_RATIO`, or they are `suspected` for another
    reason. The share is that of the examples whose bounds differ.
    """
    marked = np.abs(np.log(bounds[:, 0] / bounds[:, 1])) > np.log(MAX_BOUND_RATIO)
    share = float(marked.mean())
    if suspected is not None:
        marked |= suspected
    marked[audited.rows[np.abs(np.log(audited.d / unseen)) > np.log(MAX_ESTIMATE_RATIO)]] = True
    positions = np.flatnonzero(marked)
    return {"count": len(positions), "positions": positions[:MAX_MARKED].tolist(), "share": share}


def measure(
    Y: Array,
    codes: NDArray[np.intp],
    alpha: Array,
    d: Array,
    audited: Audited,
    unseen: Array,
    rng: np.random.Generator,
    stratum: NDArray[np.intp] | None = None,
    drawn: int | None = None,
) -> dict[str, Any]:
    """The value of ``meta["audit"]``.

    Parameters
    ----------
    Y, codes, alpha, d : arrays
        Targets, class codes and estimates of all examples.
    audited : Audited
        Exact values of some of them.
    unseen : array
        Estimates of d at the audited examples that did not use them.
    stratum : (n,) array or None
        Numbers of groups with errors of their own.
    drawn : int or None
        How many of the audited examples, the first ones, were drawn from all; the others were
        drawn from single strata.
    """
    rows, n = audited.rows, len(d)
    first = slice(drawn)
    true = _scores(Y[rows[first]], codes[rows[first]], audited.alpha[first], audited.d[first])
    estimated = _scores(Y[rows[first]], codes[rows[first]], alpha[rows[first]], unseen[first])
    errors = _Errors(rows, np.zeros(n, np.intp) if stratum is None else stratum, rng)
    report: dict[str, Any] = {"examples": len(rows)}
    ratio = np.log(audited.d / unseen)
    shift = (audited.alpha - alpha[rows]) / audited.d[:, None]  # of predictions
    resampled = rng.choice(n, min(MAX_RESAMPLED, n), replace=False)
    estimate = _scores(Y[resampled], codes[resampled], alpha[resampled], d[resampled])
    draws: dict[str, list[float]] = {name: [] for name in ("cg", "margin") if name in estimate}
    own_alpha, m = alpha[np.arange(n), codes], top_count(n)
    cg = own_alpha**2 / d
    count = max(m, int(np.ceil(CANDIDATE_SHARE * n)))
    near = np.union1d(np.argsort(-cg, kind="stable")[:count], errors.outside(0))
    in_top = _largest(cg[near], m)
    own_shift = shift[np.arange(len(rows)), codes[rows]]
    overlap = []
    for _ in range(RESAMPLES):
        errors.resample()
        donors = errors.of(resampled)
        other = alpha[resampled] + shift[donors] * d[resampled, None]
        truth = _scores(Y[resampled], codes[resampled], other, d[resampled] * np.exp(ratio[donors]))
        for name, values in draws.items():
            values.append(rank_correlation(estimate[name], truth[name]))
        donors = errors.of(near)
        true_cg = (own_alpha[near] + own_shift[donors] * d[near]) ** 2 / (
            d[near] * np.exp(ratio[donors])
        )
        overlap.append(float((in_top & _largest(true_cg, m)).sum() / m))
    for name, values in draws.items():
        loss = np.log(np.maximum(1 - np.array(values), 1e-12))
        middle, spread = np.median(loss), loss.std()
        key = "rank_correlation" if name == "cg" else f"rank_correlation_{name}"
        report[key] = float(1 - np.exp(middle))
        interval = 1 - np.exp(
            [middle + INTERVAL_DEVIATIONS[1] * spread, middle - INTERVAL_DEVIATIONS[0] * spread]
        )
        report[f"{key}_interval"] = np.maximum(interval, -1).tolist()
    middle, wide = np.mean(overlap), INTERVAL_DEVIATIONS[0] * np.std(overlap) + 0.5 / m
    report["top_percent"] = float(middle)
    report["top_percent_interval"] = np.clip([middle - wide, middle + wide], 0, 1).tolist()
    for name in true:
        error = np.abs(estimated[name] - true[name]) / np.abs(true[name])
        report[name] = {
            "median_error": float(np.median(error)),
            "95th_percentile_error": float(np.quantile(error, 0.95)),
        }
    return report


class _Errors:
    """The audited example whose error each example takes: a random one of the same stratum."""

    def __init__(
        self, rows: NDArray[np.intp], stratum: NDArray[np.intp], rng: np.random.Generator
    ) -> None:
        self._stratum, self._rng = stratum, rng
        self._audited = np.full(len(stratum), -1)
        self._audited[rows] = np.arange(len(rows))
        self._members = []
        for number in range(int(stratum.max()) + 1):
            members = np.flatnonzero(stratum[rows] == number)
            self._members.append(members if len(members) >= MIN_EXAMPLES else np.arange(len(rows)))
        self._resampled = self._members

    def outside(self, number: int) -> NDArray[np.intp]:
        """Examples that are not in a stratum."""
        return np.flatnonzero(self._stratum != number)

    def resample(self) -> None:
        """The audited examples of each stratum, drawn again with replacement."""
        self._resampled = [
            members[self._rng.integers(0, len(members), len(members))] for members in self._members
        ]

    def of(self, examples: NDArray[np.intp]) -> NDArray[np.intp]:
        """For each example the index of an audited one: itself, or one of its stratum."""
        donors: NDArray[np.intp] = self._audited[examples]
        for number, members in enumerate(self._resampled):
            members_here = np.flatnonzero((donors < 0) & (self._stratum[examples] == number))
            donors[members_here] = members[self._rng.integers(0, len(members), len(members_here))]
        return donors


def _largest(values: Array, count: int) -> NDArray[np.bool_]:
    """Which values are among the largest."""
    chosen = np.zeros(len(values), bool)
    chosen[np.argsort(-values, kind="stable")[:count]] = True
    return chosen


def _scores(Y: Array, codes: NDArray[np.intp], alpha: Array, d: Array) -> dict[str, Array]:
    values = valuation(Y, codes, alpha, d)
    scores = {"cg": values.cg, "partial": values.partial}
    if Y.shape[1] > 1:
        scores["margin"] = margin(values.loo, codes)
    return scores
