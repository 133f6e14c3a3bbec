r"""Who delivered the wrong labels: the rate of wrong labels of every annotator, batch, file or day.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
p           n        probability that each label is wrong, with one rate for all sources
pi_0        scalar   that rate, the mean of p
r           n        likelihood ratio of wrong against right: the odds of p over those of pi_0
pi_s        scalar   rate of source s
==========  =======  =========================================================================

What an example says about its label does not depend on who gave it. So the likelihood of a rate is
``l_s(pi) = sum_i log(1 - pi + pi r_i)`` over the examples of the source. Rates have a beta
distribution over sources, whose mean and concentration are those under which all labels are most
likely (empirical Bayes): a source with five labels borrows from the others, one with five thousand
speaks for itself. Rate and interval are mean and quantiles of the posterior on a grid. The interval
is widened by the relative uncertainty of the number of wrong labels in all, which concerns every
source alike.

A source *differs* if a rate of its own explains its labels better than that of all the others, by
a likelihood-ratio test at 5 % false discoveries (Benjamini and Hochberg).

Cost: n times the size of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp
from scipy.stats import chi2

from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.issues.table import LabelIssues

RATES = (np.arange(200) + 0.5) / 200  # the grid
CONCENTRATIONS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0)
MEANS = np.exp(np.linspace(np.log(0.005), np.log(0.8), 25))
COVERAGE = 0.95
FALSE_DISCOVERIES = 0.05
MAX_ODDS = 1e9  # likelihood ratios are no larger, and no smaller than its inverse
ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class SourceRates:
    """Rates of wrong labels.

    Attributes
    ----------
    rate, low, high : (m,) arrays
        Rate of every source, and the ends of its 95 % interval.
    p_value : (m,) array
        Of the hypothesis that a source has the rate of all the others.
    differs : (m,) array of bool
        Whether it differs from the others by more than chance.
    """

    rate: Array
    low: Array
    high: Array
    p_value: Array
    differs: NDArray[np.bool_]


def source_table(
    sources: NDArray[Any],
    wrong: Array,
    flagged: NDArray[np.bool_],
    *,
    relative_error: tuple[float, float] = (0.0, 0.0),
) -> pd.DataFrame:
    """A row for every source, the worst first.

    Parameters
    ----------
    sources : (n,) array
        The source of every label.
    wrong : (n,) array
        Probability that each label is wrong; nan where it is not judged.
    flagged : (n,) array
        Whether each label is flagged.
    relative_error : (float, float)
        How far the number of wrong labels in all may be below and above its estimate, as shares of
        it.

    Returns
    -------
    DataFrame
        ``source``, ``examples``, ``flagged``, ``estimated_wrong``, ``rate``, ``low``, ``high``
        (rates), ``p_value`` and ``differs``: empty, ``more`` or ``fewer`` wrong labels than the
        others by more than chance.
    """
    import pandas as pd

    names, codes = _factorised(sources)
    judged = ~np.isnan(wrong)
    rates = source_rates(codes[judged], wrong[judged], len(names), relative_error)
    examples = np.bincount(codes, minlength=len(names))
    total = np.bincount(codes[judged], wrong[judged], len(names))
    others = (total.sum() - total) / np.maximum(1, judged.sum() - examples)
    table: pd.DataFrame = pd.DataFrame(
        {
            "source": pd.Series(names, dtype=object),
            "examples": examples,
            "flagged": np.bincount(codes[flagged], minlength=len(names)),
            "estimated_wrong": rates.rate * examples,
            "rate": rates.rate,
            "low": rates.low,
            "high": rates.high,
            "p_value": rates.p_value,
            "differs": np.where(rates.differs, np.where(rates.rate > others, "more", "fewer"), ""),
        }
    )
    ordered: pd.DataFrame = table.sort_values("rate", ascending=False, kind="stable")
    renumbered: pd.DataFrame = ordered.reset_index(drop=True)
    return renumbered


def sources_of_issues(issues: LabelIssues, sources: NDArray[Any]) -> pd.DataFrame:
    """`source_table` of judged labels, with the uncertainty of the number of wrong ones."""
    estimate, (low, high) = issues.summary.estimated_wrong, issues.summary.interval
    errors = (0.0, 0.0)
    if estimate > 0:
        errors = (max(0.0, estimate - low) / estimate, max(0.0, high - estimate) / estimate)
    return source_table(
        sources,
        1 - issues.table["label_score"].to_numpy(np.float64),
        issues.table["is_label_issue"].to_numpy(bool),
        relative_error=errors,
    )


def source_rates(
    codes: NDArray[np.intp],
    wrong: Array,
    count: int,
    relative_error: tuple[float, float] = (0.0, 0.0),
) -> SourceRates:
    """The rate of wrong labels of every source.

    Parameters
    ----------
    codes : (n,) array
        Number of the source of each label.
    wrong : (n,) array
        Probability that each label is wrong.
    count : int
        Number of sources.
    relative_error : (float, float)
        As for `source_table`.
    """
    overall = float(np.clip(wrong.mean(), 1e-6, 1 - 1e-6)) if len(wrong) else 0.5
    with np.errstate(divide="ignore"):
        ratio = wrong / (1 - wrong) * (1 - overall) / overall
    return rates_of_ratios(codes, ratio, count, relative_error)


def rates_of_ratios(
    codes: NDArray[np.intp],
    ratio: Array,
    count: int,
    relative_error: tuple[float, float] = (0.0, 0.0),
) -> SourceRates:
    """The same from likelihood ratios of wrong against right, (n,)."""
    logs = _log_likelihoods(codes, ratio, count)
    posterior = _posterior(logs)
    rate = posterior @ RATES
    low, high = _ends(posterior)
    below, above = relative_error
    low = rate - np.hypot(rate - low, below * rate)
    high = rate + np.hypot(high - rate, above * rate)
    p_value = _p_values(logs)
    return SourceRates(
        rate, np.clip(low, 0, 1), np.clip(high, 0, 1), p_value, _discoveries(p_value)
    )


def _factorised(sources: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct sources, and the number of each label's; a missing one is a source, too."""
    import pandas as pd

    codes, names = pd.factorize(np.asarray(sources, dtype=object), use_na_sentinel=False)
    distinct = np.asarray(names, dtype=object)
    distinct[pd.isna(distinct)] = None
    return distinct, codes.astype(np.intp)


def _log_likelihoods(codes: NDArray[np.intp], ratio: Array, count: int) -> Array:
    """``l_s(pi)`` for every source and every rate of the grid, (m, g)."""
    ratio = np.clip(ratio, 1 / MAX_ODDS, MAX_ODDS)
    logs = np.zeros((count, len(RATES)))
    for start in range(0, len(codes), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for number, rate in enumerate(RATES):
            terms = np.log1p(rate * (ratio[rows] - 1))
            logs[:, number] += np.bincount(codes[rows], terms, count)
    return logs


def _posterior(logs: Array) -> Array:
    """Probabilities of the rates of the grid for every source, averaged over priors."""
    log_rates, log_rest = np.log(RATES), np.log1p(-RATES)
    total, evidence = [], []
    for mean in MEANS:
        for concentration in CONCENTRATIONS:
            a, b = mean * concentration, (1 - mean) * concentration
            prior = (a - 1) * log_rates + (b - 1) * log_rest - betaln(a, b)
            prior -= logsumexp(prior)
            joint = logs + prior
            of_source = logsumexp(joint, axis=1)
            evidence.append(float(of_source.sum()))
            total.append(joint - of_source[:, None])
    weights = np.exp(np.array(evidence) - max(evidence))
    weights /= weights.sum()
    posterior = np.zeros_like(logs)
    for weight, log in zip(weights, total, strict=True):
        if weight > 1e-6:
            posterior += weight * np.exp(log)
    normalised: Array = posterior / posterior.sum(axis=1, keepdims=True)
    return normalised


def _ends(posterior: Array) -> tuple[Array, Array]:
    """Quantiles of every row, linear within a cell of the grid."""
    edges = np.linspace(0, 1, len(RATES) + 1)
    cumulated = np.column_stack([np.zeros(len(posterior)), np.cumsum(posterior, axis=1)])
    levels = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)
    low, high = (np.array([np.interp(level, row, edges) for row in cumulated]) for level in levels)
    return low, high


def _p_values(logs: Array) -> Array:
    """Likelihood-ratio tests of every source against all the others together."""
    total = logs.sum(axis=0)
    others = total - logs
    gain = logs.max(axis=1) + others.max(axis=1) - total.max()
    values: Array = chi2.sf(2 * np.maximum(gain, 0.0), 1)
    return values


def _discoveries(p_value: Array) -> NDArray[np.bool_]:
    """Which hypotheses are rejected, by Benjamini and Hochberg."""
    if len(p_value) < 2:
        return np.zeros(len(p_value), dtype=bool)
    order = np.argsort(p_value, kind="stable")
    limits = FALSE_DISCOVERIES * np.arange(1, len(p_value) + 1) / len(p_value)
    below = np.flatnonzero(p_value[order] <= limits)
    rejected = np.zeros(len(p_value), dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected
