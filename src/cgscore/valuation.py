r"""From (alpha, d, targets) to every score: arithmetic only, no linear algebra.

============  =======  ===========================================================
symbol        shape    meaning
============  =======  ===========================================================
Y             n x k    targets, one column per class: +1 own class, -1 elsewhere;
                       for regression one column with the targets themselves
alpha         n x k    ``(H + ridge I)^-1 Y``
d             n        ``diag((H + ridge I)^-1)``
codes         n        the column of Y that belongs to example i: its class
y_i, alpha_i  scalar   ``Y[i, codes_i]`` and ``alpha[i, codes_i]``
F             n x k    leave-one-out predictions ``Y - alpha / d``
============  =======  ===========================================================

The paper's h_i (section 3.2) obeys ``y_-i . h_i = alpha_i - y_i d_i``. Substituted in its equation
for the complexity gap:

- ``CG(i) = alpha_i^2 / d_i``, the sum of ``(alpha_i - y_i d_i)^2 / d_i`` (first term),
  ``2 y_i (alpha_i - y_i d_i)`` (partial score) and ``y_i^2 d_i`` (third term);
- the leave-one-out residual ``r_i = y_i - F_i,codes = alpha_i / d_i``, and ``CG(i) = d_i r_i^2``;
- ``CG'(i) = 2 y_i (H y)_i - y_i^2 h`` with h the diagonal of H (the paper's rewriting with u_i(1)
  has a slip of sign in its constant);
- the approximation for ``H ~ h I``: ``t^2 / h^3 - 2 y_i t / h^2 + y_i^2 / h`` with
  ``t = (H y)_i - h y_i``;
- the training error summed over all steps of gradient descent, ``alpha_i / eta``.

With ``y_i = +-1`` these are the paper's formulas; written with y_i they serve regression too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgscore.typing import Array

CHUNK_NUMBERS = 1 << 22  # numbers of predictions processed at a time


@dataclass(frozen=True)
class Valuation:
    """What every example is worth.

    All arrays have n rows; `loo` is n x k, `alpha` holds each example's entry for its own class.
    """

    cg: Array
    first_term: Array
    partial: Array
    third_term: Array
    residual: Array
    loo: Array
    d: Array
    alpha: Array


def class_targets(codes: NDArray[np.intp], k: int) -> Array:
    """Y of a classification: +1 in the column of the example's class, -1 elsewhere."""
    Y = np.full((len(codes), k), -1.0)
    Y[np.arange(len(codes)), codes] = 1.0
    return Y


def valuation(Y: Array, codes: NDArray[np.intp], alpha: Array, d: Array) -> Valuation:
    """Every score of the paper and the leave-one-out predictions, from alpha and d."""
    rows = np.arange(len(d))
    y, a = Y[rows, codes], alpha[rows, codes]
    h = a - y * d  # the paper's y_-i . h_i
    return Valuation(
        cg=a**2 / d,
        first_term=h**2 / d,
        partial=2 * y * h,
        third_term=y**2 * d,
        residual=a / d,
        loo=Y - alpha / d[:, None],
        d=d,
        alpha=a,
    )


def predicted(loo: Array) -> NDArray[np.intp]:
    """Column of the class with the largest leave-one-out prediction; the first of equals."""
    result: NDArray[np.intp] = np.argmax(loo, axis=1)
    return result


def margin(loo: Array, codes: NDArray[np.intp]) -> Array:
    """Leave-one-out prediction of the given class minus the best of the other classes."""
    result = np.empty(len(codes))
    for chunk in row_chunks(*loo.shape):
        rows, j = np.arange(len(codes[chunk])), codes[chunk]
        others = loo[chunk].copy()
        others[rows, j] = -np.inf
        result[chunk] = loo[chunk][rows, j] - others.max(axis=1)
    return result


def class_error(alpha: Array, d: Array) -> float:
    """Mean squared leave-one-out residual, less what the classes of an example have in common.

    Targets are -1 in all columns but one. How well that constant is predicted moves all classes
    alike, and changes neither the predicted class nor the margin; with many classes it would be
    most of the error. A single column, as of a regression, keeps its residuals as they are.
    """
    residuals = alpha / d[:, None]
    if residuals.shape[1] > 1:
        residuals -= residuals.mean(axis=1, keepdims=True)
    return float((residuals**2).mean())


def missing(loo: Array) -> NDArray[np.bool_]:
    """Which examples lack the prediction of any class."""
    result = np.empty(len(loo), bool)
    for chunk in row_chunks(*loo.shape):
        result[chunk] = np.logical_or.reduce(np.isnan(loo[chunk]), axis=1)
    return result


def row_chunks(n: int, k: int) -> Iterator[slice]:
    """Slices of n rows of k numbers that are processed at a time, so that copies are small."""
    step = max(1, CHUNK_NUMBERS // max(1, k))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def cg_prime(y: Array, Hy: Array, diagonal: float) -> Array:
    """The paper's CG': the gap of ``y^T H y``, without an inverse; `diagonal` is that of H."""
    return 2 * y * Hy - y**2 * diagonal


def cg_approx(y: Array, Hy: Array, diagonal: float) -> Array:
    """The paper's approximation of CG where H is nearly diagonal."""
    h, t = diagonal, Hy - y * diagonal
    return t**2 / h**3 - 2 * y * t / h**2 + y**2 / h
