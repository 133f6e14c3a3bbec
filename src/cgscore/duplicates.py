"""Rows that repeat: finding them, merging them, and the limits their scores take.

Two inputs that are identical after scaling make H singular. As a ridge ``lambda -> 0+`` the scores
still have limits. A group of m copies with ridge lambda acts on everybody else as one row with the
group's mean target and ridge lambda / m. Hence one row per group is factorised, with coefficient
alpha_g, and

- copies that agree: removing one of several changes nothing, so every copy's score tends to 0.
  The first copy is given the score of the whole group; later copies have 0 in ``cg``, the three
  terms and ``d``, and the leave-one-out predictions of the first. Each copy's alpha is alpha_g / m;
- copies that contradict each other: ``d_i = (m - 1) / (m lambda)`` diverges and the leave-one-out
  prediction tends to f, the mean target of the other copies, as ``f - lambda a / (m - 1)`` with
  ``a = alpha_g + (f - mean) d_g``. So ``cg = d_i (y_i - f)^2`` is infinite, and so are the terms
  ``d_i f^2``, ``-2 d_i y_i f`` and ``y_i^2 d_i``, except where y_i, f or their difference is 0.

With a ridge, copies are ordinary rows and nothing is merged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cgscore.execution.cached_property import cached_property
from cgscore.rows import Rows
from cgscore.typing import Array
from cgscore.valuation import Valuation, valuation

if TYPE_CHECKING:
    import pandas as pd

#: Rows this close are the same row: copies that differ by a factor agree to a few rounding errors.
SAME_DISTANCE = 16 * float(np.finfo(np.float64).eps)

CHUNK_ROWS = 4096  # looked at together


@dataclass(frozen=True)
class Groups:
    """Which rows are copies of which.

    Attributes
    ----------
    first : (n,) array
        Position of the first row identical to row i; i itself for rows that come first.
    """

    first: NDArray[np.intp]

    @cached_property
    def members(self) -> NDArray[np.intp]:
        """Positions of the rows that come first, one per group, ascending."""
        return np.flatnonzero(self.first == np.arange(len(self.first)))

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """For each row the number of its group, counting along `members`."""
        return np.searchsorted(self.members, self.first)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Rows in each group."""
        return np.bincount(self.group, minlength=len(self.members))

    @cached_property
    def copies(self) -> NDArray[np.intp]:
        """Positions of the rows that have an identical row before them."""
        return np.flatnonzero(self.first != np.arange(len(self.first)))

    def means(self, Y: Array) -> Array:
        """Mean target of each group: (n, k) -> (groups, k)."""
        if not len(self.copies):
            return Y
        # where copies agree their target is the mean, to the last bit
        return np.where(self.contradicts(Y), self._totals(Y) / self.sizes[:, None], Y[self.members])

    def _totals(self, Y: Array) -> Array:
        total = np.zeros((len(self.members), Y.shape[1]))
        np.add.at(total, self.group, Y)
        return total

    def torn(self, Y: Array | NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the copies of each row contradict each other in any target: (n,)."""
        differs: NDArray[np.bool_] = np.logical_or.reduce(self.contradicts(Y), axis=1)
        return differs[self.group]

    def contradicts(self, Y: Array | NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the rows of a group differ in their targets: (groups, k)."""
        differs = np.zeros((len(self.members), Y.shape[1]), dtype=bool)
        copies = self.copies
        np.logical_or.at(differs, self.group[copies], Y[copies] != Y[self.first[copies]])
        return differs

    def means_of_others(self, Y: Array, rows: NDArray[np.intp]) -> Array:
        """Mean target of the other copies of each of the given rows, which must have some."""
        group = self.group[rows]
        return (self._totals(Y)[group] - Y[rows]) / (self.sizes[group][:, None] - 1)


def find_groups(rows: Rows) -> Groups:
    """Groups of identical rows, to within `SAME_DISTANCE`.

    Rows are sorted along one fixed random direction; only neighbours in that order are compared,
    so the cost is ``2 n p`` flops and a sort.
    """
    n, p = rows.shape
    first = np.arange(n)
    direction = np.random.default_rng(0).standard_normal(p)
    position = np.empty(n)
    for low in range(0, n, CHUNK_ROWS):
        part = slice(low, low + CHUNK_ROWS)
        # not by BLAS: its threads would go on spinning into the kernel's parallel work
        position[part] = np.einsum("ij,j->i", rows[part].centred, direction)
    window = 4 * SAME_DISTANCE * float(np.linalg.norm(direction))
    order = np.argsort(position, kind="stable")
    joined = np.diff(position[order]) <= window  # row order[k + 1] may equal row order[k]
    starts = np.flatnonzero(joined & ~np.concatenate(([False], joined[:-1])))
    for start in starts:
        known = np.empty(0, dtype=np.intp)  # distinct rows of this run still within the window
        stop = start
        while True:
            row = order[stop]
            known = known[position[row] - position[known] <= window]
            there = rows[np.append(known, row)].centred
            apart = np.linalg.norm(there[:-1] - there[-1], axis=1)
            if len(known) and apart.min() <= SAME_DISTANCE:
                first[row] = known[np.argmin(apart)]
            else:
                known = np.append(known, row)
            if stop == n - 1 or not joined[stop]:
                break
            stop += 1
    return Groups(_earliest(first))


def _earliest(representative: NDArray[np.intp]) -> NDArray[np.intp]:
    """Replace the representative of each group by its member that comes first."""
    earliest = np.full(len(representative), len(representative))
    np.minimum.at(earliest, representative, np.arange(len(representative)))
    return earliest[representative]


def expand(groups: Groups, Y: Array, codes: NDArray[np.intp], alpha: Array, d: Array) -> Valuation:
    """The valuation of all n rows from the solution for one row per group.

    Parameters
    ----------
    Y : (n, k) array
        Targets of all rows.
    codes : (n,) array
        Column of Y that belongs to each row.
    alpha, d : (groups, k) and (groups,) arrays
        Solution of the merged problem, whose targets are the groups' means.
    """
    group = groups.group
    result = valuation(Y, codes, alpha[group], d[group])
    if not len(groups.copies):
        return result
    # F_g = mean target - alpha / d holds for rows of every group whose copies agree
    loo = (groups.means(Y) - alpha / d[:, None])[group]
    return settled(groups, Y, codes, replace(result, loo=loo))


def settled(groups: Groups, Y: Array, codes: NDArray[np.intp], result: Valuation) -> Valuation:
    """The valuation of all n rows from one in which each row stands for its whole group."""
    if not len(groups.copies):
        return result
    n, group, loo = len(codes), groups.group, result.loo.copy()
    rows = np.arange(n)
    y = Y[rows, codes]
    copy = np.zeros(n, dtype=bool)
    copy[groups.copies] = True
    parts = {
        name: np.where(copy, 0.0, getattr(result, name))
        for name in ("cg", "first_term", "partial", "third_term", "d")
    }
    parts["alpha"] = result.alpha / groups.sizes[group]
    torn = np.flatnonzero(groups.torn(Y))
    if len(torn):
        g, c = group[torn], codes[torn]
        loo[torn] = groups.means_of_others(Y, torn)
        f = loo[torn, c]
        a = result.alpha[torn] + (f - groups.means(Y)[g, c]) * result.d[torn]
        limits = contradiction(y[torn], f, a, groups.sizes[g])
        for name, value in limits.items():
            parts[name][torn] = value
    return replace(result, loo=loo, residual=y - loo[rows, codes], **parts)


def contradiction(y: Array, f: Array, a: Array, m: NDArray[np.intp]) -> dict[str, Array]:
    """Limits of the scores of rows with target y, whose m - 1 copies have the mean target f.

    `a` is the coefficient of the merged row if its target were f; a product of 0 and infinity
    below is a 0 that is exact, except in the two places where `a` enters.
    """
    split = f == 0
    agrees = y == f
    return {
        "cg": np.where(agrees, 0.0, np.inf),
        "first_term": np.where(split, 0.0, np.inf),
        "partial": np.where(
            y == 0, 0.0, np.where(split, 2 * y * a / m, np.copysign(np.inf, -y * f))
        ),
        "third_term": np.where(y == 0, 0.0, np.inf),
        "d": np.full(len(y), np.inf),
        "alpha": np.where(agrees, a / m, np.copysign(np.inf, y - f)),
    }


def joined(
    result: Valuation,
    groups: Groups,
    Y: Array,
    alpha: Array,
    d: Array,
    new: Array,
    codes: NDArray[np.intp],
    twin: NDArray[np.intp],
    copies: NDArray[np.intp],
) -> Valuation:
    """The valuation of new rows, those at `copies` being identical to the groups in `twin`.

    Parameters
    ----------
    Y, alpha, d : (n, k), (groups, k) and (groups,) arrays
        Targets of the data, and the solution for one row per group.
    new, codes : (m, k) and (m,) arrays
        Targets of the new rows, and the column of each.
    twin : (m,) array
        The group that each new row is most similar to.
    """
    g, c = twin[copies], codes[copies]
    y, mean, sizes = new[copies, c], groups.means(Y)[g], groups.sizes[g] + 1
    torn = np.logical_or.reduce(groups.contradicts(Y), axis=1)[g]
    torn |= np.logical_or.reduce(new[copies] != mean, axis=1)
    loo = np.where(torn[:, None], mean, mean - alpha[g] / d[g][:, None])
    a, rows = alpha[g, c], np.arange(len(c))
    limits = contradiction(y, mean[rows, c], a, sizes)
    agreed = dict.fromkeys(limits, np.zeros(len(c))) | {"alpha": a / sizes}
    parts = {name: getattr(result, name).copy() for name in (*limits, "loo", "residual")}
    for name, limit in limits.items():
        parts[name][copies] = np.where(torn, limit, agreed[name])
    parts["loo"][copies] = loo
    parts["residual"][copies] = y - loo[rows, c]
    return replace(result, **parts)


def first_copies(table: pd.DataFrame) -> NDArray[np.intp]:
    """For every example the position of the first identical one: its own if there is none.

    Where ids repeat, ``duplicate_of`` means the first example with that id.
    """
    first = np.arange(len(table))
    if "duplicate_of" in table.columns:
        copies = table["duplicate_of"].notna().to_numpy()
        rows = np.flatnonzero(~copies)[::-1]  # so that of a repeated id the first counts
        position = dict(zip(table["id"].iloc[rows], rows, strict=True))
        first[copies] = [position[name] for name in table["duplicate_of"][copies]]
    return first
