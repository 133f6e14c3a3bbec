r"""How good estimates of d and alpha are, from examples where both are known.

For the audit examples d_i and alpha_i are solved to high accuracy. They serve twice:

- calibration: ``log d = b0 + b1 log d' + b2 log d'' + (log d' - log d'')^2``, where d' and d'' are
  the lower bounds from random and from similar blocks; b by least squares. The square was found on
  Fashion-MNIST and CIFAR-10, with the same factor near 1 on both. Where the bounds are farther
  apart than `FARTHEST` (near-duplicates) the larger one is taken. Never below a bound;
- measurement: the examples are dealt into `FOLDS`, and each is predicted by a fit on the other
  folds, so every error is that of an example that the fit has not seen.

The rank correlation of estimated and true scores over all n follows from these errors: give each
example of a sample the error of a random audit example, take that for the truth, and correlate.
Repeated for resampled audit examples this gives the spread of the loss ``1 - correlation``. The
interval is `SPREADS` of them on either side, on a logarithmic scale: more than the usual two, since
a few dozen examples seldom show the largest errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.kernel import Array
from cgscore.scores import margin, valuation

FOLDS = 8
FARTHEST = 1.0
SAMPLE = 4000  # examples whose ranks stand for those of all
REPEATS = 200
SPREADS = 2.5


@dataclass(frozen=True)
class Audited:
    """Examples where the truth is known: positions, d and alpha (one column per class)."""

    rows: NDArray[np.intp]
    d: Array
    alpha: Array


def calibrate(
    bounds: Array, audited: Audited, others: Array | None = None
) -> tuple[Array, Array]:
    """Estimates of d for all n examples, and for the audited ones as if they were not known.

    Parameters
    ----------
    bounds : (n, 2) array
        Lower bounds of d from random and from similar blocks.
    others : (n,) array or None
        Further lower bounds, 0 where there is none.
    """
    logs = np.log(bounds)
    apart = np.abs(logs[:, 0] - logs[:, 1])
    design = np.column_stack([np.ones(len(bounds)), logs])
    floor = bounds.max(axis=1) if others is None else np.maximum(bounds.max(axis=1), others)
    rows, near = audited.rows, apart <= FARTHEST
    truth = np.log(audited.d) - apart[rows] ** 2

    def estimate(fitted: NDArray[np.bool_], wanted: NDArray[np.intp]) -> Array:
        fitted = fitted & near[rows]
        b = np.linalg.lstsq(design[rows[fitted]], truth[fitted], rcond=None)[0]
        fit = np.exp(design[wanted] @ b + np.minimum(apart[wanted], FARTHEST) ** 2)
        found: Array = np.where(near[wanted], np.maximum(fit, floor[wanted]), floor[wanted])
        return found

    fold = np.arange(len(rows)) % FOLDS
    unseen = np.empty(len(rows))
    for number in range(FOLDS):
        out = fold == number
        unseen[out] = estimate(~out, rows[out])
    return estimate(fold >= 0, np.arange(len(bounds))), unseen


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's, for values without ties."""
    first, second = (np.argsort(np.argsort(values)) for values in (a, b))
    return float(np.corrcoef(first, second)[0, 1])


def measure(
    Y: Array,
    own: NDArray[np.intp],
    alpha: Array,
    d: Array,
    audited: Audited,
    unseen: Array,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """What ``meta["audit"]`` says.

    Parameters
    ----------
    Y, own, alpha, d : arrays
        Targets, own classes and estimates of all examples.
    audited : Audited
        The truth at some of them.
    unseen : array
        Estimates of d at the audited examples that did not use them.
    """
    rows = audited.rows
    true = _scores(Y[rows], own[rows], audited.alpha, audited.d)
    found = _scores(Y[rows], own[rows], alpha[rows], unseen)
    report: dict[str, Any] = {"examples": len(rows)}
    ratio = np.log(audited.d / unseen)
    shift = (audited.alpha - alpha[rows]) / audited.d[:, None]  # of predictions
    some = rng.choice(len(d), min(SAMPLE, len(d)), replace=False)
    estimate = _scores(Y[some], own[some], alpha[some], d[some])
    draws: dict[str, list[float]] = {name: [] for name in ("cg", "margin") if name in estimate}
    for _ in range(REPEATS):
        again = rng.integers(0, len(rows), len(rows))  # the audit examples, resampled
        who = again[rng.integers(0, len(rows), len(some))]
        other = alpha[some] + shift[who] * d[some, None]
        truth = _scores(Y[some], own[some], other, d[some] * np.exp(ratio[who]))
        for name, values in draws.items():
            values.append(rank_correlation(estimate[name], truth[name]))
    for name, values in draws.items():
        loss = np.log(np.maximum(1 - np.array(values), 1e-12))
        middle, wide = np.median(loss), SPREADS * loss.std()
        key = "rank_correlation" if name == "cg" else f"rank_correlation_{name}"
        report[key] = float(1 - np.exp(middle))
        interval = 1 - np.exp([middle + wide, middle - wide])
        report[f"{key}_interval"] = np.maximum(interval, -1).tolist()
    for name in true:
        error = np.abs(found[name] - true[name]) / np.abs(true[name])
        report[name] = {
            "median_error": float(np.median(error)),
            "95th_percentile_error": float(np.quantile(error, 0.95)),
        }
    return report


def _scores(Y: Array, own: NDArray[np.intp], alpha: Array, d: Array) -> dict[str, Array]:
    values = valuation(Y, own, alpha, d)
    found = {"cg": values.cg, "partial": values.partial}
    if Y.shape[1] > 1:
        found["margin"] = margin(values.loo, own)
    return found
