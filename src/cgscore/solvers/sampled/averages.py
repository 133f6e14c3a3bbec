"""Means of scores over runs, and their standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgscore.solvers.sampled.slots import Slots
from cgscore.solvers.sampled.subset import Solved
from cgscore.typing import Array, Index
from cgscore.valuation import valuation

#: Means kept for every slot; the first five also have a standard error.
FIELDS = ("cg", "first_term", "partial", "third_term", "residual", "alpha", "d")
ESTIMATED = FIELDS[:5]


def averages_bytes(n: int, k: int) -> int:
    """Memory of means: predictions summed, counted, divided and given to every example."""
    return n * (28 * k + 8 * 16)


class Averages:
    """Running means (Welford's) of the scores of every slot, and of all predictions.

    Solutions must be added in the same order for the same bits.

    Attributes
    ----------
    mean : dict of (s,) arrays
        Of each of `FIELDS`.
    count : (s,) array
        Runs in the means of each slot.
    drawn : (rows, k) array
        Runs in which a row took part in the problem of a class.
    condition : float
        The worst of all problems.
    """

    def __init__(self, slots: Slots) -> None:
        s, n, k = len(slots.row), slots.rows, slots.k
        self.slots = slots
        self.mean = {name: np.zeros(s) for name in FIELDS}
        self.count = np.zeros(s, np.int64)
        self.drawn = np.zeros((n, k), np.int32)
        self.condition = 0.0
        self._squares = {name: np.zeros(s) for name in ESTIMATED}
        self._loo = np.zeros((n, k))

    def add(self, rows: Index, classes: Index, solved: Solved) -> None:
        """Add the solution of a problem: some rows, with targets for some classes.

        Scores are those of the slots whose class is among the classes; all rows have predictions.
        """
        Y = self.slots.targets(rows, classes)
        loo = Y - solved.alpha / solved.d[:, None]
        if len(classes) == 1:
            self._loo[rows, classes[0]] += loo[:, 0]
            self.drawn[rows, classes[0]] += 1
        else:
            self._loo[np.ix_(rows, classes)] += loo
            self.drawn[np.ix_(rows, classes)] += 1
        self.condition = max(self.condition, float(solved.condition))
        slots, position = self.slots.at(rows)
        is_scored = np.isin(self.slots.column[slots], classes)
        slots, position = slots[is_scored], position[is_scored]
        codes = np.searchsorted(classes, self.slots.column[slots])
        values = valuation(Y[position], codes, solved.alpha[position], solved.d[position])
        self.count[slots] += 1
        for name in FIELDS:
            value, mean = getattr(values, name), self.mean[name]
            step = value - mean[slots]
            mean[slots] += step / self.count[slots]
            if name in ESTIMATED:
                self._squares[name][slots] += step * (value - mean[slots])

    def loo(self) -> Array:
        """Mean predictions; nan where a row was never drawn for a class."""
        mean: Array = np.where(self.drawn > 0, self._loo / np.maximum(self.drawn, 1), np.nan)
        return mean

    def standard_error(self, name: str, certain: Sequence[int] = ()) -> Array:
        """Standard errors of the means of slots; nan after one run, 0 for `certain` classes."""
        runs = np.maximum(self.count, 2)
        error: Array = np.sqrt(self._squares[name] / (runs - 1) / runs)
        error[self.count < 2] = np.nan
        error[np.isin(self.slots.column, list(certain))] = 0.0
        return error
