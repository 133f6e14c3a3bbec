r"""TracIn: how much training on an example lowers the loss of others, by last-layer gradients.

==============  =======  =====================================================================
symbol          shape    meaning
==============  =======  =====================================================================
f_i             d        features of example i at a checkpoint: the input of the last layer
r_i             k        residual ``p_i - y_i``, softmax outputs minus the one-hot label
g_i             k x d+1  gradient of the loss by weights and bias: ``r_i (f_i, 1)^T``
eta_t           scalar   learning rate at checkpoint t
==============  =======  =====================================================================

(paper, appendix F.1). For two examples

    TracIn(i, j) = sum_t eta_t <g_i, g_j>,    <g_i, g_j> = (r_i . r_j) (f_i . f_j + 1).

The score of a training example is the mean over the validation examples j. Since the product is
linear in g_j, it is ``<g_i, G>`` with the mean gradient ``G = mean_j g_j``, k x (d + 1) numbers: no
matrix of training against validation examples is formed, and n examples cost ``2 n k d`` flops.

Self-influence is ``TracIn(i, i) = sum_t eta_t |r_i|^2 (|f_i|^2 + 1)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, OptionError
from cgscore.training.loop.outputs import Outputs
from cgscore.training.scores.residuals import residuals
from cgscore.typing import Array

_MAX_TEMPORARY = 1 << 22  # numbers in a temporary array


def tracin(
    train: Iterable[Outputs],
    labels: ArrayLike,
    validation: Iterable[Outputs],
    validation_labels: ArrayLike,
    rates: Sequence[float],
    *,
    bias: bool = True,
) -> Array:
    """Mean influence of every training example on the validation examples.

    Parameters
    ----------
    train, validation : iterables of Outputs
        Features and softmax outputs at each checkpoint, in the same order. Generators are consumed
        one checkpoint at a time.
    labels, validation_labels : (n,) and (m,) arrays
        Classes, as columns of the outputs.
    rates : sequence of float
        Learning rate at each checkpoint.
    bias : bool
        Whether the last layer has a bias.

    Returns
    -------
    (n,) array
        High for examples whose gradient is aligned with that of the validation examples.
    """
    total: Array | float = 0.0
    pairs = zip(
        _checked(train, labels, rates),
        _checked(validation, validation_labels, rates),
        strict=True,
    )
    for (rate, f, r), (_, f_v, r_v) in pairs:
        if f.shape[1] != f_v.shape[1] or r.shape[1] != r_v.shape[1]:
            raise DataError(
                f"train has {f.shape[1]:,} features and {r.shape[1]} classes, validation "
                f"{f_v.shape[1]:,} and {r_v.shape[1]}. Expected outputs of one network."
            )
        G = r_v.T @ f_v.astype(np.float64) / len(f_v)
        bias_term = r @ r_v.mean(axis=0) if bias else 0.0
        total = total + rate * (_contracted(r, G, f) + bias_term)
    return np.asarray(total)


def self_influence(
    train: Iterable[Outputs], labels: ArrayLike, rates: Sequence[float], *, bias: bool = True
) -> Array:
    """Influence of every example on itself; high for wrong labels. Parameters as for `tracin`."""
    total: Array | float = 0.0
    for rate, f, r in _checked(train, labels, rates):
        squares = np.einsum("ij,ij->i", f, f, dtype=np.float64) + bias
        total = total + rate * np.einsum("ik,ik->i", r, r) * squares
    return np.asarray(total)


def _checked(
    outputs: Iterable[Outputs], labels: ArrayLike, rates: Sequence[float]
) -> Iterator[tuple[float, NDArray[Any], Array]]:
    """Learning rate, features and residuals of every checkpoint."""
    if not len(rates) or not all(0 <= rate < np.inf for rate in rates):
        raise OptionError(
            f"rates must be one learning rate, 0 or larger, for each checkpoint; got {rates!r}."
        )
    count = 0
    for count, checkpoint in enumerate(outputs, 1):
        if count > len(rates):
            break
        f = np.asarray(checkpoint.features)
        r = residuals(checkpoint.probability, labels)
        if f.ndim != 2 or len(f) != len(r) or not len(f):
            raise DataError(
                f"The features of a checkpoint have the shape {f.shape}. Expected one row for each "
                f"of the {len(r):,} examples, at least one."
            )
        yield rates[count - 1], f, r
    if count != len(rates):
        raise OptionError(
            f"rates has {len(rates)} values, and there are "
            f"{'more' if count > len(rates) else count} checkpoints. Expected one rate for each."
        )


def _contracted(r: Array, G: Array, f: NDArray[Any]) -> Array:
    """``r_i^T G f_i`` of every row i, a block of rows at a time."""
    products = np.empty(len(f))
    step = max(1, _MAX_TEMPORARY // f.shape[1])
    for start in range(0, len(f), step):
        rows = slice(start, start + step)
        products[rows] = np.einsum("ij,ij->i", r[rows] @ G, f[rows].astype(np.float64))
    return products
