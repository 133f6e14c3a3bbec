"""Identical inputs with different labels: at least one label of each such group is wrong.

Nothing but the labels themselves can tell which, since all that the inputs say is the same for the
whole group. A label that most of the group share is taken for right with the share that has it, and
the others are suspects. Where no label is the most frequent one, the group is undecidable.

Where most rows have a copy (three columns of a few values each), identical inputs are no duplicates
of one another: the inputs are coarse, and different labels of the same input are nature. Then there
are no conflicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cgscore.duplicates import first_copies
from cgscore.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd


MAX_COPIED_SHARE = 0.5  # of rows with a copy; beyond that inputs are coarse


@dataclass(frozen=True)
class Conflicts:
    """Groups of identical inputs with different labels.

    Attributes
    ----------
    group : (n,) array
        Number of the group of each example, -1 for none.
    share : (n,) array
        Share of the group that has the label of the example; 1 outside of groups.
    majority : (n,) array
        Class that most of the group have; the given class outside of groups and where there is
        none.
    majority_share : (n,) array
        Share of the group that has it.
    undecidable : (n,) array of bool
        Whether no class is the most frequent one of the group.
    wrong : (n,) array
        Expected number of wrong labels of each example: the labels of a group that are not the
        most frequent one, or that cannot all be right.
    """

    group: Index
    share: Array
    majority: Index
    majority_share: Array
    undecidable: NDArray[np.bool_]
    wrong: Array

    @property
    def members(self) -> NDArray[np.bool_]:
        """Whether each example is in a group."""
        return self.group >= 0

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.group.max(initial=-1)) + 1


def find_conflicts(table: pd.DataFrame, codes: Index) -> Conflicts:
    """The conflicts of a result.

    Parameters
    ----------
    table : DataFrame
        `Scores.table`, whose ``duplicate_of`` names the copies.
    codes : (n,) array
        The given class of every example.
    """
    n = len(codes)
    first = first_copies(table)
    group, majority = np.full(n, -1), np.array(codes)
    share, majority_share, wrong = np.ones(n), np.ones(n), np.zeros(n)
    undecidable = np.zeros(n, dtype=bool)
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    ends = np.append(starts[1:], n)
    number = 0
    sizes = ends - starts
    if sizes[sizes > 1].sum() > MAX_COPIED_SHARE * n:
        starts, ends = starts[:0], ends[:0]
    for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
        members = order[start:end]
        labels, counts = np.unique(codes[members], return_counts=True)
        if len(labels) < 2:
            continue
        group[members], number = number, number + 1
        share[members] = counts[np.searchsorted(labels, codes[members])] / len(members)
        best = counts.max()
        majority_share[members] = best / len(members)
        if (counts == best).sum() == 1:
            majority[members] = labels[counts.argmax()]
            wrong[members] = codes[members] != majority[members]
        else:
            undecidable[members] = True
            wrong[members] = 1 - best / len(members)
    return Conflicts(group, share, majority, majority_share, undecidable, wrong)
