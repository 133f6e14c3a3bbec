r"""Why a label is suspected: the most similar examples of both classes, and their weights.

The leave-one-out prediction is linear in the labels of the others: with column i of the inverse,
``F_ic = sum_j w_ij y_j^(c)`` and ``w_ij = -(H^-1)_ij / d_i``. The *share* of an example is its part
of all positive weight. For m suspects a Cholesky factor costs ``n^3 / 3 + 2 n^2 m`` flops, and
conjugate gradients ``2 n^2 m`` an iteration: whichever is less is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.data.dataset import Dataset
from cgscore.duplicates import Groups
from cgscore.execution.machine import available_memory
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.kernel import Kernel
from cgscore.problem import Inputs
from cgscore.solvers.cholesky.factor import Singular, factorise
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import InMemory
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.system import system_of
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

NEIGHBOURS_PER_CLASS = 3
TOLERANCE = 1e-3  # relative residual of the weights
ITERATIONS = 25  # of conjugate gradients, about


def neighbours(
    dataset: Dataset,
    suspects: Sequence[int],
    codes: NDArray[np.intp] | None = None,
    suggested: ArrayLike | None = None,
    *,
    ridge: float,
    kernel: Kernel,
    progress: Progress,
    shares: bool = True,
) -> pd.DataFrame:
    """The most similar examples of every suspect: of its given class and of the suggested one.

    Parameters
    ----------
    dataset : Dataset
        The scored data.
    suspects : sequence of int
        Positions of examples.
    codes : (n,) array, optional
        Class of every example; without classes, as in a regression, the most similar of all
        examples are taken.
    suggested : sequence of int, optional
        The class that each suspect should have.
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
        or suggested; similar without classes), ``neighbour`` (its id), ``neighbour_position``,
        ``similarity`` (cosine of the angle between the inputs), ``share``.
    """
    import pandas as pd

    data = Inputs(dataset, ridge=ridge, kernel=kernel)
    weights = None
    if shares:
        weights = _weights(data, data.merged.group[np.asarray(suspects, np.intp)], progress)
    records: list[dict[str, Any]] = []
    for number, row in enumerate(suspects):
        group = data.merged.group[row]
        positive = None if weights is None else np.maximum(weights[:, number], 0.0)
        if positive is not None:
            positive[group] = 0.0
        sides = [("similar", None)]
        if codes is not None:
            sides = [("given", codes[row]), ("suggested", np.asarray(suggested)[number])]
        for side, c in sides:
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


def nearest(
    data: Inputs, codes: NDArray[np.intp] | None, row: int, c: int | None
) -> list[tuple[int, float]]:
    """The examples of class c, or of all, that are most similar to one, with their cosines."""
    cosines = _cosines(data, data.merged.group[row])
    rows = np.arange(len(data.dataset)) if codes is None else np.flatnonzero(codes == c)
    rows = rows[rows != row]
    similarity = cosines[data.merged.group[rows]]
    best = np.argsort(-similarity, kind="stable")[:NEIGHBOURS_PER_CLASS]
    return list(zip(rows[best].tolist(), similarity[best].tolist(), strict=True))


def _weights(data: Inputs, rows: NDArray[np.intp], progress: Progress) -> Array:
    """``w_ij`` of all merged rows j, a column for every suspect i."""
    n = len(data.rows)
    unit = np.zeros((n, len(rows)))
    unit[rows, np.arange(len(rows))] = 1.0
    direct = n / 3 <= 2 * len(rows) * ITERATIONS
    x = _factor_solve(data, unit, progress) if direct else None
    if x is None:
        x = _iterative_solve(data, unit, progress)
    weights: Array = -x / x[rows, np.arange(len(rows))]
    return weights


def _factor_solve(data: Inputs, B: Array, progress: Progress) -> Array | None:
    """``(H + ridge I)^-1 B`` by a factor; None if it does not fit in memory or is singular."""
    n, p = data.rows.centred.shape
    layout = plan(n, p, "float64", None)
    if layout.in_memory + 3 * B.nbytes > available_memory():
        return None
    try:
        return factorise(data.rows, data.ridge, InMemory(layout, None), progress).solve(B)
    except Singular:
        return None


def _iterative_solve(data: Inputs, B: Array, progress: Progress) -> Array:
    """``(H + ridge I)^-1 B`` by conjugate gradients, with H in memory if it fits."""
    n, p = data.rows.centred.shape
    fits = iterative.bytes_in_memory(n, p, B.shape[1]) <= available_memory()
    system, _ = system_of(
        data.rows,
        data.ridge,
        "memory" if fits else "formed",
        stream(0, "neighbours"),
        progress,
    )
    x, _, _ = system.solve(B, np.full(B.shape[1], TOLERANCE), "why")
    return x


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
