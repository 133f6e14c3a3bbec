r"""Targets of merged rows without n x k numbers, and where the scores of each example are kept.

A merged row stands for a group of identical examples. Usually all of them have one class; the
copies of a *torn* group disagree. A **slot** is a pair (row, class) of which there is an example:
one for an ordinary row, several for a torn one. Scores are sums over slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgscore.duplicates import Groups
from cgscore.execution.checkpoint import digest_of
from cgscore.labels import Labels
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class Slots:
    """Slots in the order of rows, then classes.

    Attributes
    ----------
    row, column : (s,) arrays
        Merged row and class of each slot; ``column`` is 0 for regression.
    k : int
        Classes; 1 for regression.
    torn, means : (t,) and (t, k) arrays
        Rows whose copies disagree, and their mean targets.
    values : (rows,) array or None
        Targets of a regression.
    """

    row: Index
    column: Index
    k: int
    torn: Index
    means: Array
    values: Array | None

    @property
    def rows(self) -> int:
        """Merged rows."""
        return int(self.row[-1]) + 1

    def members(self, c: int) -> Index:
        """Rows with an example of class c, ascending."""
        members: Index = self.row[self.column == c]
        return members

    def at(self, rows: Index) -> tuple[Index, Index]:
        """Slots of some rows, and for each the position of its row among them."""
        begin = np.searchsorted(self.row, rows)
        count = np.searchsorted(self.row, rows, side="right") - begin
        position = np.repeat(np.arange(len(rows)), count)
        inner = np.arange(len(position)) - np.repeat(np.cumsum(count) - count, count)
        return begin[position] + inner, position

    def targets(self, rows: Index, classes: Index) -> Array:
        """Y of some rows and classes: (m, c)."""
        if self.values is not None:
            return self.values[rows][:, None]
        codes = self.column[np.searchsorted(self.row, rows)]
        Y = np.where(codes[:, None] == classes, 1.0, -1.0)
        if len(self.torn):
            place = np.minimum(np.searchsorted(self.torn, rows), len(self.torn) - 1)
            split = np.flatnonzero(self.torn[place] == rows)
            Y[split] = self.means[place[split]][:, classes]
        return Y

    def digest(self) -> str:
        """A hash of all slots and targets."""
        parts = (self.row, self.column, self.torn, self.means, self.values)
        return "-".join(digest_of(part) for part in parts if part is not None)

    def contradicted(self) -> NDArray[np.bool_]:
        """Classes that some row has and a copy of it has not: (k,)."""
        if self.values is not None:
            return np.zeros(1, dtype=bool)
        differs: NDArray[np.bool_] = np.logical_or.reduce(np.abs(self.means) < 1, axis=0)
        return differs


def slots_of(groups: Groups, labels: Labels) -> tuple[Slots, Index]:
    """The slots of labelled examples, and the slot of each example."""
    k = max(1, len(labels.classes))
    pairs, slot = np.unique(groups.group * k + labels.codes, return_inverse=True)
    row, column = pairs // k, pairs % k
    if labels.task == "regression":
        values = groups.means(labels.targets())[:, 0]
        return Slots(row, column, 1, np.empty(0, np.intp), np.empty((0, 1)), values), slot
    torn = np.flatnonzero(np.bincount(row) > 1)
    means = np.zeros((len(torn), k))
    if len(torn):
        among = np.isin(groups.group, torn)
        np.add.at(means, (np.searchsorted(torn, groups.group[among]), labels.codes[among]), 2.0)
        means = means / groups.sizes[torn][:, None] - 1
    return Slots(row, column, k, torn, means, None), slot
