r"""alpha and d of some of the rows: the task that `subsample` and `partition` are made of.

One Cholesky factor of the rows' own kernel matrix, by one thread: ``2 m^3 / 3`` flops and
``4 m^2 + 8 m p`` bytes for m rows of p numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgscore.errors import SingularKernelError
from cgscore.execution.progress import Silent
from cgscore.kernel import UnitRows
from cgscore.solvers.cholesky import factor as exact
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import InMemory
from cgscore.solvers.sampled.slots import Slots
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class SharedProblem:
    """The data that all tasks share.

    Attributes
    ----------
    rows : UnitRows
        Merged rows on the unit sphere.
    names : (rows,) array
        Positions of the rows in the user's data.
    ridge : float
        Added to the diagonal.
    slots : Slots
        Their targets.
    seed : int
        Seed of all draws.
    """

    rows: UnitRows
    names: Index
    ridge: float
    slots: Slots
    seed: int

    @property
    def bytes(self) -> int:
        """Memory of the rows."""
        return int(self.rows.centred.nbytes)


@dataclass(frozen=True)
class Solved:
    """alpha (m, c) and d (m,) of m rows and c classes, and the condition of their matrix."""

    alpha: Array
    d: Array
    condition: Array

    def __getitem__(self, positions: Index) -> Solved:
        return Solved(self.alpha[positions], self.d[positions], self.condition)


def task_bytes(m: int, p: int, c: int) -> int:
    """Memory of a task: panels, rows of the inverse, its rows, and right-hand sides."""
    return plan(m, p).in_memory + 8 * m * (p + 4 * c)


def task_flops(m: int, p: int) -> float:
    """Arithmetic of a task."""
    return exact.all_flops(plan(m, p), p)


def solve_subset(problem: SharedProblem, chosen: Index, classes: Index) -> Solved:
    """Alpha of some classes and d, for the problem that consists of the chosen rows only."""
    rows = problem.rows if len(chosen) == len(problem.rows) else problem.rows[chosen]
    layout = plan(len(rows), rows.centred.shape[1])
    try:
        factor = exact.factorise(rows, problem.ridge, InMemory(layout, None), Silent(), threads=1)
    except exact.Singular as error:
        names, dependence = problem.names[chosen], error.dependence
        raise SingularKernelError(
            "The kernel matrix of a part of the examples has no Cholesky factor to working "
            f"precision: {dependence.describe(names)} (rows counted from 0). "
            f"Remove row {names[dependence.row]}, or use a ridge, for example ridge=1e-6."
        ) from None
    d = factor.inverse_diagonal(Silent())
    alpha = factor.solve(problem.slots.targets(chosen, classes))
    return Solved(alpha, d, np.array(factor.condition(d)))
