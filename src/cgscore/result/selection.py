"""What `Scores` keep by a ranking: the selector of their data, and the ranking that is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.data import Dataset
from cgscore.errors import ResultError
from cgscore.execution.progress import Progress
from cgscore.kernel import Kernel, unit_rows
from cgscore.labels import Labels
from cgscore.result.table import column_values
from cgscore.selection.pool import Pool
from cgscore.selection.selector import Selector
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

RANK = "rank"  # the column of a saved ranking


@dataclass(frozen=True)
class Selection:
    """What stays, and how it was chosen.

    Attributes
    ----------
    positions : (r,) array
        Positions of the examples that stay, ascending.
    order : str
        The order by which they were chosen.
    offset : float or None
        Where the window starts, for ``window``.
    windows : mapping
        How well each window predicts, where one was chosen: offset -> quality.
    wanted : int
        How many were asked for; fewer stay if fewer are unsuspected.
    pool : (m,) array
        Positions of the examples that were chosen from, ascending.
    useful : int or None
        For a ranking: how many of its examples come before the point where no gain was positive;
        None if it does not reach that point.
    """

    positions: Index
    order: str
    offset: float | None
    windows: Mapping[float, float]
    wanted: int
    pool: Index
    useful: int | None = None


def make_selector(
    dataset: Dataset,
    labels: Labels,
    kernel: Kernel,
    *,
    ridge: float,
    landmarks: int | None,
    seed: int,
) -> Selector:
    """The selector of scored data."""
    return Selector(
        unit_rows(dataset.X, kernel=kernel),
        labels.targets(),
        labels.codes if len(labels.classes) else None,
        ridge=ridge,
        landmarks=landmarks,
        seed=seed,
    )


def ranks_of(
    selector: Selector, pool: Pool, n: int, progress: Progress, checkpoint: Path | None
) -> tuple[Index, int | None]:
    """The place of every example in a ranking of the pool, and where gains end.

    As many are ranked as the pool keeps; all others share the last place.
    """
    ranking = selector.ranking(
        pool.positions,
        progress,
        enough=pool.filled_by,
        count=pool.count,
        checkpoint=checkpoint,
    )
    ranks = np.full(n, n)
    ranks[ranking.order] = np.arange(len(ranking.order))
    return ranks, ranking.useful if ranking.useful < len(ranking.order) else None


def saved_ranks(table: pd.DataFrame) -> Index | None:
    """The ranking that a result holds, or None.

    Raises
    ------
    ResultError
        The column is no ranking of all examples.
    """
    if RANK not in table:
        return None
    ranks: Any = column_values(table, RANK) if table[RANK].dtype.kind in "iuf" else np.empty(0)
    if not np.array_equal(np.sort(ranks), np.arange(len(table))):
        raise ResultError(
            f"The column {RANK!r} of this result is not a ranking: expected each number from 0 to "
            f"{len(table) - 1:,} once. Rank the examples again: Scores.add_rank()"
        )
    positions: Index = ranks.astype(np.intp)
    return positions
