r"""The ridge with the least leave-one-out error, found on a sample.

With ``H = U diag(l) U^T`` every ridge r costs two products: ``alpha = U (l + r)^-1 U^T Y`` and
``d = sum_k U_ik^2 / (l_k + r)``. The squared error of leave-one-out predictions over all examples
and classes (`valuation.class_error`) needs no ground truth. In the view of a Gaussian process the
ridge is the variance of the noise of targets, which does not depend on how many examples there are;
so a sample serves.

A class with a single example in the sample is predicted by none of the others, and the largest
ridge would seem best. So of many classes the sample holds some, each with several examples.

Cost: about ``9 m^3`` flops for a sample of m, and ``2 m^2 k`` for every candidate, with k classes
in the sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from cgscore.execution.blas import all_blas_threads
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows, own_gram
from cgscore.typing import Array, Codes, Index
from cgscore.valuation import class_error

SAMPLE_SIZE = 1000
MAX_CLASSES = 256  # whose errors are computed; more of them are seldom in a sample
MEMBERS = 10  # examples of a class, where the sample does not hold as many of every class
CANDIDATES = 10.0 ** np.linspace(-4, 1, 41)


@dataclass(frozen=True)
class RidgeChoice:
    """A ridge, its leave-one-out error and that of the smallest candidate, on so many examples."""

    ridge: float
    error: float
    error_without: float
    examples: int


def ridge_sample(codes: Codes, seed: int) -> Index:
    """Examples on which the ridge is chosen, ascending."""
    return class_sample(codes, SAMPLE_SIZE, stream(seed, "ridge"))


def class_sample(codes: Codes, size: int, rng: np.random.Generator) -> Index:
    """Positions of about `size` examples at random, ascending: of all classes, or of some.

    Parameters
    ----------
    codes : (n,) array
        The class of every example; of numbers, which have no classes, 0.
    size : int
        How many examples. If that is fewer than `MEMBERS` for each class, classes are taken in
        random order, each with at most `MEMBERS` examples, until there are so many.
    rng : Generator
        Where the random numbers come from.
    """
    n, counts = len(codes), np.bincount(codes)
    if n <= size or np.count_nonzero(counts) * MEMBERS <= size:
        return np.sort(rng.choice(n, min(n, size), replace=False))
    shuffled = rng.permutation(n)
    of_class = rng.permutation(len(counts))[codes[shuffled]]  # place of the class in random order
    order = shuffled[np.argsort(of_class, kind="stable")]
    starts = np.r_[0, np.flatnonzero(np.diff(codes[order])) + 1]
    rank = np.arange(n) - np.repeat(starts, np.diff(np.r_[starts, n]))
    positions: Index = np.sort(order[rank < MEMBERS][:size])
    return positions


def sampled_columns(Y: Array) -> Array:
    """The columns of classes that a sample has examples of, some of them if they are very many."""
    columns = np.flatnonzero(Y.max(axis=0) > Y.min(axis=0))
    if len(columns) < 2:  # numbers, or the sample is of one class
        return Y
    if len(columns) > MAX_CLASSES:
        columns = columns[np.linspace(0, len(columns) - 1, MAX_CLASSES).astype(int)]
    return Y[:, columns]


def least_error(rows: UnitRows, Y: Array) -> RidgeChoice:
    """The candidate with the least leave-one-out error on these rows and targets."""
    Y = sampled_columns(Y)
    errors = np.empty(len(CANDIDATES))
    with all_blas_threads():
        values, U = eigh(own_gram(rows), overwrite_a=True, check_finite=False)
        projected, squares = U.T @ Y, U**2
        for number, ridge in enumerate(CANDIDATES):
            inverse = 1 / (values + ridge)
            alpha, d = U @ (projected * inverse[:, None]), squares @ inverse
            errors[number] = class_error(alpha, d)
    best = int(np.argmin(errors))
    return RidgeChoice(float(CANDIDATES[best]), float(errors[best]), float(errors[0]), len(rows))
