"""C-score: how often networks that never saw an example get it right (paper, appendix D.3).

For every share of the data, several random subsets of that size are drawn and a network is trained
on each. An example's consistency at that share is the mean over the trainings that left it out; the
C-score is the mean over shares. High means regular, low means hard.

Published scores of CIFAR-10 and CIFAR-100 (Jiang et al., 2021) are read by `read_consistency`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.data.readers.arrays import archive_arrays
from cgscore.errors import CGScoreWarning, DataError, LabelError, OptionError, SourceError
from cgscore.kernel import Array

RATIOS = tuple(tenth / 10 for tenth in range(1, 10))

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Consistency:
    """C-scores and what they are means of.

    Attributes
    ----------
    score : (n,) array
        Mean over the shares at which an example was left out; NaN if it never was.
    by_ratio : (ratios, n) array
        Accuracy on each example over the trainings that left it out; NaN where none did.
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
        all n examples whether it gets them right (or how probably).
    n : int
        Number of examples.
    ratios : sequence of float
        Shares of the data to train on.
    runs : int
        Subsets for each share, drawn independently. An example is in all of them with a probability
        of ``ratio ** runs``; a warning says how many are.
    seed : int
        For subsets and trainings; each has its own, whatever the other ratios and runs are.
    """
    if n < 2 or runs < 1 or not len(ratios) or not all(0 < ratio < 1 for ratio in ratios):
        raise OptionError(
            f"n={n!r}, runs={runs!r} and ratios={ratios!r} make no sense. Expected two examples or "
            "more, one run or more, and shares between 0 and 1."
        )
    right, held_out = np.zeros((len(ratios), n)), np.zeros((len(ratios), n), np.intp)
    for row, ratio in enumerate(ratios):
        size = min(n - 1, max(1, round(ratio * n)))
        for run in range(runs):
            draw = np.random.default_rng([seed, size, run])
            rows = np.sort(draw.choice(n, size, replace=False))
            found = np.asarray(train(rows, int(draw.integers(2**31))), np.float64)
            if found.shape != (n,) or not ((found >= 0) & (found <= 1)).all():
                raise DataError(
                    f"train returned the shape {found.shape}. Expected right or wrong (1 or 0) for "
                    f"each of the {n:,} examples."
                )
            out = np.ones(n, bool)
            out[rows] = False
            right[row] += np.where(out, found, 0)
            held_out[row] += out
    by_ratio = np.full(right.shape, np.nan)
    np.divide(right, held_out, out=by_ratio, where=held_out > 0)
    missing = int((held_out == 0).any(axis=0).sum())
    if missing:
        warnings.warn(
            f"{missing:,} examples were left out by no training at some ratio; their score is the "
            f"mean over other ratios, or missing. Raise runs={runs}.",
            CGScoreWarning,
            stacklevel=2,
        )
    shares = (held_out > 0).sum(axis=0)
    score = np.full(n, np.nan)
    np.divide(np.nansum(by_ratio, axis=0), shares, out=score, where=shares > 0)
    return Consistency(score, by_ratio, held_out)


def read_consistency(path: str | os.PathLike[str], labels: ArrayLike | None = None) -> Array:
    """Published C-scores, in the order of the file.

    Parameters
    ----------
    path : path
        An ``.npz`` archive with the arrays ``scores`` and ``labels``.
    labels : (n,) array, optional
        Labels of the examples that are to be scored; the file must have the same in the same order.

    Returns
    -------
    (n,) array

    Raises
    ------
    SourceError
        The file is missing or is no such archive.
    LabelError
        It is about other examples, or about the same in another order.
    """
    path = Path(path)
    if not path.is_file():
        raise SourceError(f"{path}, the C-scores, does not exist.")
    arrays = archive_arrays(path)
    if not {"scores", "labels"} <= set(arrays):
        raise SourceError(
            f"{path} has the arrays {', '.join(arrays) or 'none'}. Expected scores and labels."
        )
    scores, codes = arrays["scores"], arrays["labels"]
    if scores.ndim != 1 or scores.shape != codes.shape or scores.dtype.kind != "f":
        raise SourceError(
            f"{path} has scores of the shape {scores.shape} and type {scores.dtype}, and labels of "
            f"the shape {codes.shape}. Expected one number and one label per example."
        )
    if not ((scores >= 0) & (scores <= 1)).all():
        raise SourceError(f"{path} has scores that are not from 0 to 1.")
    if labels is not None:
        given = np.asarray(labels)
        if given.shape != codes.shape:
            raise LabelError(f"{path} has {len(codes):,} labels; {given.shape} were given.")
        differ = np.flatnonzero(given != codes)
        if len(differ):
            raise LabelError(
                f"{path} has other labels than were given for {len(differ):,} examples, first at "
                f"position {differ[0]}: {codes[differ[0]]}, not {given[differ[0]]}. Expected the "
                "original order."
            )
    return scores.astype(np.float64)
