"""Rows that repeat: finding them, merging them, and the limits their scores take.

Two inputs that are identical after scaling make H singular. As a ridge ``lambda -> 0+`` the scores
still have limits. A group of m copies with ridge lambda acts on everybody else as one row with the
group's mean target and ridge lambda / m. Hence one row per group is factorised, and

- copies that agree: removing one of several changes nothing, so every copy's score tends to 0.
  The first copy is given the score of the whole group; later copies have 0 in ``cg``, the three
  terms and ``d``, and the leave-one-out predictions of the first;
- copies that contradict each other: ``d_i = (m - 1) / (m lambda)`` diverges, the leave-one-out
  prediction tends to the mean target of the other copies, and ``cg`` is infinite. The partial
  score ``-2 d_i y_i f_-i(x_i)`` is infinite too, except where the other copies are evenly split:
  there it tends to ``2 y_i a / m``, with a the group's coefficient had its mean target been 0.

With a ridge, copies are ordinary rows and nothing is merged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cgscore.kernel import Array, UnitRows
from cgscore.scores import Valuation, valuation

#: Rows this close are the same row: copies that differ by a factor agree to a few rounding errors.
SAME = 16 * float(np.finfo(np.float64).eps)


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
        total = np.zeros((len(self.members), Y.shape[1]))
        np.add.at(total, self.group, Y)
        return total / self.sizes[:, None]

    def torn(self, Y: Array) -> NDArray[np.bool_]:
        """Whether the copies of each row contradict each other in any target: (n,)."""
        differs: NDArray[np.bool_] = np.logical_or.reduce(self.contradicts(Y), axis=1)
        return differs[self.group]

    def contradicts(self, Y: Array) -> NDArray[np.bool_]:
        """Whether the rows of a group differ in their targets: (groups, k)."""
        differs = np.zeros((len(self.members), Y.shape[1]), dtype=bool)
        copies = self.copies
        np.logical_or.at(differs, self.group[copies], Y[copies] != Y[self.first[copies]])
        return differs

    def means_of_others(self, Y: Array, rows: NDArray[np.intp]) -> Array:
        """Mean target of the other copies of each of the given rows, which must have some."""
        group = self.group[rows]
        sizes = self.sizes[group][:, None]
        return (self.means(Y)[group] * sizes - Y[rows]) / (sizes - 1)


def find_groups(rows: UnitRows) -> Groups:
    """Groups of identical rows, to within `SAME`.

    Rows are sorted along one fixed random direction; only neighbours in that order are compared,
    so the cost is ``2 n p`` flops and a sort.
    """
    n, p = rows.centred.shape
    first = np.arange(n)
    direction = np.random.default_rng(0).standard_normal(p)
    position = rows.centred @ direction
    window = 4 * SAME * float(np.linalg.norm(direction))
    order = np.argsort(position, kind="stable")
    joined = np.diff(position[order]) <= window  # row order[k + 1] may equal row order[k]
    starts = np.flatnonzero(joined & ~np.concatenate(([False], joined[:-1])))
    for start in starts:
        known: list[int] = []  # distinct rows of this run that are still within the window
        stop = start
        while True:
            row = int(order[stop])
            known = [other for other in known if position[row] - position[other] <= window]
            for other in known:
                if np.linalg.norm(rows.centred[row] - rows.centred[other]) <= SAME:
                    first[row] = other
                    break
            else:
                known.append(row)
            if stop == n - 1 or not joined[stop]:
                break
            stop += 1
    return Groups(_earliest(first))


def _earliest(representative: NDArray[np.intp]) -> NDArray[np.intp]:
    """Replace the representative of each group by its member that comes first."""
    earliest = np.full(len(representative), len(representative))
    np.minimum.at(earliest, representative, np.arange(len(representative)))
    return earliest[representative]


def expand(groups: Groups, Y: Array, own: NDArray[np.intp], alpha: Array, d: Array) -> Valuation:
    """The valuation of all n rows from the solution for one row per group.

    Parameters
    ----------
    Y : (n, k) array
        Targets of all rows.
    own : (n,) array
        Column of Y that belongs to each row.
    alpha, d : (groups, k) and (groups,) arrays
        Solution of the merged problem, whose targets are the groups' means.
    """
    n = len(own)
    group = groups.group
    result = valuation(Y, own, alpha[group], d[group])
    if not len(groups.copies):
        return result
    # F_g = mean target - alpha / d holds for rows of every group whose copies agree
    loo = (groups.means(Y) - alpha / d[:, None])[group]
    y = Y[np.arange(n), own]
    zero = np.zeros(n, dtype=bool)
    zero[groups.copies] = True
    parts = {
        name: np.where(zero, 0.0, getattr(result, name))
        for name in ("cg", "first_term", "partial", "third_term", "d")
    }
    torn = np.flatnonzero(groups.torn(Y))
    if len(torn):
        others = groups.means_of_others(Y, torn)
        loo[torn] = others
        f = others[np.arange(len(torn)), own[torn]]
        a = alpha[group[torn], own[torn]] + (
            (f - groups.means(Y)[group[torn], own[torn]]) * d[group[torn]]
        )
        balanced = 2 * y[torn] * a / groups.sizes[group[torn]]
        for name, value in contradiction(y[torn], f, balanced).items():
            parts[name][torn] = value
    return replace(result, loo=loo, residual=y - loo[np.arange(n), own], **parts)


def joined(
    result: Valuation,
    copy: NDArray[np.bool_],
    Y: Array,
    own: NDArray[np.intp],
    alpha: Array,
    sizes: NDArray[np.intp],
) -> Valuation:
    """The valuation of new rows where those marked as copies join a group of the data.

    A copy that agrees with its group changes nothing; one that does not contradicts it.
    `alpha` is the solution at the group's row, `sizes` the group's size with the copy in it.
    """
    rows = np.arange(len(own))
    y, a = Y[rows, own], alpha[rows, own]
    limits = contradiction(y, y - result.residual, 2 * y * a / sizes)
    agrees = result.residual == 0
    parts = {
        name: np.where(copy, np.where(agrees, 0.0, limit), getattr(result, name))
        for name, limit in limits.items()
    }
    return replace(result, **parts)


def contradiction(y: Array, f: Array, balanced: Array) -> dict[str, Array]:
    """Limits of the scores of rows whose copies have the mean target f, different from y.

    `balanced` is the limit of the partial score for rows with ``f = 0``.
    """
    infinite = np.full(len(y), np.inf)
    return {
        "cg": infinite,
        "first_term": np.where(f == 0, 0.0, np.inf),
        "partial": np.where(f == 0, balanced, np.copysign(np.inf, -y * f)),
        "third_term": infinite,
        "d": infinite,
    }
