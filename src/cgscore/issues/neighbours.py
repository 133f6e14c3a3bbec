r"""Why a label is suspected: the most similar examples of both classes, and their weights.

The leave-one-out prediction is linear in the labels of the others: with column i of the inverse,
``F_ic = sum_j w_ij y_j^(c)`` and ``w_ij = -(H^-1)_ij / d_i``. Conjugate gradients solve for the
columns of the suspects alone. The *share* of an example is its part of all positive weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.duplicates import Groups
from cgscore.execution.machine import available_memory
from cgscore.execution.progress import Progress
from cgscore.kernel import Kernel
from cgscore.problem import Inputs
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.system import system_of
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURS_PER_CLASS = 3
TOLERANCE = 1e-3  # relative residual of the weights


def neighbours(
    dataset: Dataset,
    codes: NDArray[np.intp],
    suspects: Sequence[int],
    suggested: Sequence[int],
    *,
    ridge: float,
    kernel: Kernel,
    progress: Progress,
    shares: bool = True,
) -> pd.DataFrame:
    """The most similar examples of the given and of the suggested class of every suspect.

    Parameters
    ----------
    dataset : Dataset
        The scored data.
    codes : (n,) array
        Class of every example.
    suspects, suggested : sequences of int
        Positions of examples, and the class that each should have.
    ridge, kernel : float and Kernel
        Those of the scores.
    progress : Progress
        Where progress is reported.
    shares : bool
        Solve for the shares in the prediction; otherwise they are missing.

    Returns
    -------
    DataFrame
        One row per suspect and neighbour: ``position`` and ``id`` of the suspect, ``side`` (given
        or suggested), ``neighbour`` (its id), ``neighbour_position``, ``similarity`` (cosine of the
        angle between the inputs), ``share``.
    """
    import pandas as pd

    data = Inputs(dataset, ridge=ridge, kernel=kernel)
    weights = None
    if shares:
        weights = _weights(data, data.merged.group[np.asarray(suspects, np.intp)], progress)
    records: list[dict[str, Any]] = []
    for number, (row, other) in enumerate(zip(suspects, suggested, strict=True)):
        group = data.merged.group[row]
        positive = None if weights is None else np.maximum(weights[:, number], 0.0)
        if positive is not None:
            positive[group] = 0.0
        for side, c in (("given", codes[row]), ("suggested", other)):
            records += [
                {
                    "position": int(row),
                    "id": dataset.ids[row],
                    "side": side,
                    "neighbour": dataset.ids[near],
                    "neighbour_position": near,
                    "similarity": similarity,
                    "share": np.nan if positive is None else _share(positive, data.merged, near),
                }
                for near, similarity in nearest(data, codes, row, c)
            ]
    columns = ["position", "id", "side", "neighbour", "neighbour_position", "similarity", "share"]
    table: pd.DataFrame = pd.DataFrame(records, columns=columns)
    return table


def nearest(data: Inputs, codes: NDArray[np.intp], row: int, c: int) -> list[tuple[int, float]]:
    """The examples of class c that are most similar to an example, with their cosines."""
    cosines = _cosines(data, data.merged.group[row])
    rows = np.flatnonzero(codes == c)
    rows = rows[rows != row]
    similarity = cosines[data.merged.group[rows]]
    best = np.argsort(-similarity, kind="stable")[:NEIGHBOURS_PER_CLASS]
    return list(zip(rows[best].tolist(), similarity[best].tolist(), strict=True))


def _weights(data: Inputs, rows: NDArray[np.intp], progress: Progress) -> Array:
    """``w_ij`` of all merged rows j, a column for every suspect i."""
    n, p = data.rows.centred.shape
    fits = iterative.bytes_in_memory(n, p, len(rows)) <= available_memory()
    system, _ = system_of(
        data.rows,
        data.ridge,
        "memory" if fits else "formed",
        np.random.default_rng(0),
        progress,
    )
    unit = np.zeros((n, len(rows)))
    unit[rows, np.arange(len(rows))] = 1.0
    x, _, _ = system.solve(unit, np.full(len(rows), TOLERANCE), "why")
    weights: Array = -x / x[rows, np.arange(len(rows))]
    return weights


def _cosines(data: Inputs, row: int) -> Array:
    """``g = 1 - D2 / 2`` between a row and all rows."""
    shifted = data.rows.centred @ data.rows.centred[row]
    squared = data.rows.squares + data.rows.squares[row] - 2 * shifted
    cosines: Array = 1 - np.maximum(squared, 0.0) / 2
    return cosines


def _share(positive: Array, groups: Groups, example: int) -> float:
    """Part of the positive weight that an example carries; copies share that of their row."""
    total = positive.sum()
    group = groups.group[example]
    return float(positive[group] / groups.sizes[group] / total) if total > 0 else 0.0
