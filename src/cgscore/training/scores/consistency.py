"""C-score: how often networks that were not trained on an example get it right.

For each ratio, several random subsets with that share of the data are drawn, and a network is
trained on each. An example's consistency at a ratio is its accuracy over the trainings that held it
out; the C-score is the mean over ratios (paper, appendix D.3). High means regular, low means hard.

Published scores of CIFAR-10 and CIFAR-100 (Jiang et al., 2021) are read by `read_consistency`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from cgscore.data.readers.arrays import archive_arrays
from cgscore.errors import CGScoreWarning, DataError, LabelError, OptionError, SourceError
from cgscore.typing import Array, Index

RATIOS = tuple(tenth / 10 for tenth in range(1, 10))


@dataclass(frozen=True)
class Consistency:
    """C-scores and the means behind them.

    Attributes
    ----------
    score : (n,) array
        Mean over the ratios at which an example was held out; NaN if it never was.
    by_ratio : (ratios, n) array
        Accuracy on each example over the trainings that held it out; NaN where none did.
    held_out : (ratios, n) array
        Number of those trainings.
    """

    score: Array
    by_ratio: Array
    held_out: Index


def consistency(
    train: Callable[[Index, int], ArrayLike],
    n: int,
    *,
    ratios: Sequence[float] = RATIOS,
    runs: int = 10,
    seed: int = 0,
) -> Consistency:
    """C-scores by training on subsets.

    Parameters
    ----------
    train : function
        ``train(rows, seed)`` trains a network on the examples at these positions, and returns for
        all n examples whether it gets them right (or with which probability).
    n : int
        Number of examples.
    ratios : sequence of float
        Shares of the data to train on.
    runs : int
        Independent subsets for each ratio. An example is in all of them with the probability
        ``ratio ** runs``; a warning counts these examples.
    seed : int
        Seed of subsets and trainings. Each has its own, independent of other ratios and runs.
    """
    if n < 2:
        raise OptionError(f"n must be 2 or larger; got {n!r}.")
    if runs < 1:
        raise OptionError(f"runs must be 1 or larger; got {runs!r}.")
    if not len(ratios) or not all(0 < ratio < 1 for ratio in ratios):
        raise OptionError(f"ratios must be one or more numbers between 0 and 1; got {ratios!r}.")
    correct_sum, held_out = np.zeros((len(ratios), n)), np.zeros((len(ratios), n), np.intp)
    for row, ratio in enumerate(ratios):
        size = min(n - 1, max(1, round(ratio * n)))
        for run in range(runs):
            draw = np.random.default_rng([seed, size, run])
            rows = np.sort(draw.choice(n, size, replace=False))
            correct = np.asarray(train(rows, int(draw.integers(2**31))), np.float64)
            if correct.shape != (n,) or not ((correct >= 0) & (correct <= 1)).all():
                raise DataError(
                    f"train returned the shape {correct.shape}. Expected a number from 0 (wrong) "
                    f"to 1 (right) for each of the {n:,} examples."
                )
            out = np.ones(n, bool)
            out[rows] = False
            correct_sum[row] += np.where(out, correct, 0)
            held_out[row] += out
    by_ratio = np.full(correct_sum.shape, np.nan)
    np.divide(correct_sum, held_out, out=by_ratio, where=held_out > 0)
    missing = int((held_out == 0).any(axis=0).sum())
    if missing:
        warnings.warn(
            f"{missing:,} examples were held out by no training at one or more ratios; their score "
            f"is the mean over the other ratios, or missing. Raise runs={runs}.",
            CGScoreWarning,
            stacklevel=2,
        )
    ratio_counts = (held_out > 0).sum(axis=0)
    score = np.full(n, np.nan)
    np.divide(np.nansum(by_ratio, axis=0), ratio_counts, out=score, where=ratio_counts > 0)
    return Consistency(score, by_ratio, held_out)


def read_consistency(path: str | os.PathLike[str], labels: ArrayLike | None = None) -> Array:
    """Published C-scores, in the order of the file.

    Parameters
    ----------
    path : path
        An ``.npz`` archive with the arrays ``scores`` and ``labels``.
    labels : (n,) array, optional
        Labels of the examples; the file must have the same labels in the same order.

    Returns
    -------
    (n,) array

    Raises
    ------
    SourceError
        The file is missing, or is not such an archive.
    LabelError
        The file has other examples, or the same in another order.
    """
    path = Path(path)
    if not path.is_file():
        raise SourceError(f"{path} does not exist. Expected an .npz archive of C-scores.")
    arrays = archive_arrays(path)
    if not {"scores", "labels"} <= set(arrays):
        raise SourceError(
            f"{path} has the arrays {', '.join(arrays) or '(none)'}. Expected scores and labels."
        )
    scores, codes = arrays["scores"], arrays["labels"]
    if scores.ndim != 1 or scores.shape != codes.shape or scores.dtype.kind != "f":
        raise SourceError(
            f"{path} has scores of the shape {scores.shape} and type {scores.dtype}, and labels of "
            f"the shape {codes.shape}. Expected one number and one label per example."
        )
    if not ((scores >= 0) & (scores <= 1)).all():
        raise SourceError(f"{path} has scores outside of 0 to 1. Expected C-scores.")
    if labels is not None:
        given = np.asarray(labels)
        if given.shape != codes.shape:
            raise LabelError(
                f"labels has the shape {given.shape}. Expected the {len(codes):,} labels of {path}."
            )
        differ = np.flatnonzero(given != codes)
        if len(differ):
            raise LabelError(
                f"labels differs from {path} for {len(differ):,} examples, first at position "
                f"{differ[0]}: {given[differ[0]]}, and {codes[differ[0]]} in the file. Expected "
                "the examples in their original order."
            )
    return scores.astype(np.float64)
