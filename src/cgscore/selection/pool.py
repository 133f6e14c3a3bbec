"""The examples among which a result chooses, and how many of them stay."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError
from cgscore.selection.orders import select
from cgscore.selection.quotas import class_quotas
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class Pool:
    """Examples that may stay.

    Attributes
    ----------
    positions : (m,) array
        Their positions in the data.
    values : (m,) array
        Their scores.
    groups : (m,) array
        The class of each, or the same number for all.
    count : int
        How many of them stay.
    """

    positions: Index
    values: Array
    groups: Index
    count: int

    @classmethod
    def of(
        cls, values: Array, codes: Index | None, fraction: float, allowed: NDArray[np.bool_] | None
    ) -> Pool:
        """The pool of a result.

        Parameters
        ----------
        values : (n,) array
            The score of every example.
        codes : (n,) array, optional
            The class of every example, to keep the same share of each.
        fraction : float
            Share of all n examples that stay, as far as there are enough allowed ones.
        allowed : (n,) mask, optional
            Examples that may stay; all by default.
        """
        n = len(values)
        positions = np.arange(n) if allowed is None else np.flatnonzero(allowed)
        if not len(positions):
            raise OptionError("Every label is suspected: nothing is left to choose from.")
        groups = np.zeros(len(positions), np.intp) if codes is None else codes[positions]
        count = min(len(positions), max(1, round(fraction * n)))
        return cls(positions, values[positions], groups, count)

    def sorted_by(self, values: Array) -> Pool:
        """The same pool with other scores, one for each example of all the data."""
        return replace(self, values=values[self.positions])

    def filled_by(self, chosen: Index) -> bool:
        """Whether these, as positions in the pool, hold what every group keeps."""
        sizes = np.bincount(self.groups)
        counts = np.bincount(self.groups[chosen], minlength=len(sizes))
        return bool((counts >= class_quotas(sizes, self.count)).all())

    def select(self, order: str, *, offset: float = 0.0, seed: int = 0) -> Index:
        """Positions in the pool of the examples that stay."""
        return select(self.values, self.groups, self.count, order=order, offset=offset, seed=seed)
