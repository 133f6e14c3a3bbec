"""Residuals ``p - y``: softmax outputs minus the one-hot label, one row per example.

They are the gradient of the cross-entropy with respect to the logits. For a last layer
``logits = W f + b`` the gradient is ``(p - y) f^T`` with respect to W and ``p - y`` to b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, LabelError
from cgscore.labels import label_vector
from cgscore.typing import Array

_SUM_TOLERANCE = 1e-3  # of probabilities that add up to 1; enough for half precision


def class_columns(labels: ArrayLike, n: int, k: int) -> NDArray[np.intp]:
    """Labels as columns of the outputs: whole numbers from 0 to k - 1.

    Raises
    ------
    LabelError
        There is not one label per example, or a label is not a column.
    """
    values = label_vector(labels, "labels")
    if len(values) != n:
        raise LabelError(
            f"labels has {len(values):,} labels for {n:,} examples. Expected one for each."
        )
    if values.dtype.kind not in "iub":
        raise LabelError(
            f"labels has values of type {values.dtype}. Expected the column of each example's "
            f"class: whole numbers from 0 to {k - 1}."
        )
    if n and not 0 <= values.min() <= values.max() < k:
        raise LabelError(
            f"labels has values from {values.min()} to {values.max()}. Expected columns of the "
            f"outputs: whole numbers from 0 to {k - 1}."
        )
    return values.astype(np.intp)


def residuals(probability: ArrayLike, labels: ArrayLike) -> Array:
    """``p - y``, with y the unit vector of the class.

    Parameters
    ----------
    probability : (n, k) array
        Softmax outputs.
    labels : (n,) array
        Classes, as columns of `probability`.

    Returns
    -------
    (n, k) array

    Raises
    ------
    DataError
        `probability` has another shape, negative or missing values, or rows that do not add up
        to 1.
    """
    p: NDArray[Any] = np.asarray(probability)
    if p.ndim != 2 or p.dtype.kind != "f":
        raise DataError(
            f"probability has the shape {p.shape} and the type {p.dtype}. Expected softmax "
            "outputs: one row per example, one column per class."
        )
    residual = p.astype(np.float64)
    wrong = np.flatnonzero(
        ~((residual >= 0).all(axis=1) & (abs(residual.sum(axis=1) - 1) <= _SUM_TOLERANCE))
    )
    if len(wrong):
        raise DataError(
            f"probability has row {wrong[0]} (counted from 0) with values from "
            f"{residual[wrong[0]].min():g} to {residual[wrong[0]].max():g} that add up to "
            f"{residual[wrong[0]].sum():g}. Expected probabilities; apply a softmax to logits."
        )
    residual[np.arange(len(p)), class_columns(labels, *p.shape)] -= 1
    return residual
