r"""The paper's stochastic estimator (appendix A).

For class c with n_c examples, all of them as +1 and a random sample of
``s = min(ratio n_c, n_others)`` others as -1, form a problem of their own; repeated `runs` times
with fresh samples, and every term averaged. Each (class, run) is a task.

- The paper recommends runs that together see half of the others, overlap ignored:
  ``ceil(0.5 n_others / s)``, at least 2.
- Where the sample is everybody nothing is random: one run serves, and one factor serves all such
  classes, because H does not depend on the labels.
- Rows are merged rows: identical examples of one class count once.

Cost: ``runs sum_c 2 (n_c + s)^3 / 3`` flops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from cgscore.errors import OptionError
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.solvers.sampled.averages import Averages
from cgscore.solvers.sampled.slots import Slots
from cgscore.solvers.sampled.subset import (
    SharedProblem,
    Solved,
    solve_subset,
    task_bytes,
    task_flops,
)
from cgscore.solvers.sampled.tasks import in_order
from cgscore.typing import Array, Index

MAX_TASKS = 5_000_000


@dataclass(frozen=True)
class Draw:
    """A task: some classes against `sample` other rows, or all of them if it is None."""

    classes: tuple[int, ...]
    run: int
    sample: int | None
    rows: int
    flops: float

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"class-{self.classes[0]:05d}-run-{self.run:05d}" if self.sample else "everybody"


def sample_size(class_size: int, n: int, ratio: float) -> int:
    """Number of other rows drawn for a class with `class_size` of n rows."""
    return min(max(1, round(ratio * class_size)), n - class_size)


def recommended_runs(class_size: int, n: int, ratio: float) -> int:
    """Number of runs by the paper's rule; 1 where the sample is all other rows."""
    size = sample_size(class_size, n, ratio)
    return 1 if size == n - class_size else max(2, math.ceil(0.5 * (n - class_size) / size))


def draws(counts: Sequence[int], n: int, p: int, ratio: float, runs: int | None) -> list[Draw]:
    """The tasks for classes of the given sizes, run after run."""
    tasks = []
    full = [
        c
        for c, class_size in enumerate(counts)
        if sample_size(class_size, n, ratio) == n - class_size
    ]
    if full:
        tasks.append(Draw(tuple(full), 0, None, n, task_flops(n, p)))
    taken = set(full)
    rest = {
        c: runs or recommended_runs(class_size, n, ratio)
        for c, class_size in enumerate(counts)
        if c not in taken
    }
    if sum(rest.values()) > MAX_TASKS:
        raise OptionError(
            f"These are {sum(rest.values()):,} tasks: {len(rest):,} classes, and up to "
            f"{max(rest.values()):,} runs of each by the paper's rule. Say runs=10, or take a "
            "larger ratio."
        )
    cost = {c: counts[c] + sample_size(counts[c], n, ratio) for c in rest}
    flops = {m: task_flops(m, p) for m in set(cost.values())}
    for run in range(max(rest.values(), default=0)):
        for c, wanted in rest.items():
            if run < wanted:
                m = cost[c]
                tasks.append(Draw((c,), run, m - counts[c], m, flops[m]))
    return tasks


def chosen(slots: Slots, draw: Draw, seed: int) -> Index:
    """The rows of a task, ascending; random numbers depend on (seed, class, run) alone."""
    everybody = np.arange(slots.rows)
    if draw.sample is None:
        return everybody
    (c,) = draw.classes
    members = slots.members(c)
    others = np.delete(everybody, members)
    rng = stream(seed, c, draw.run)
    return np.sort(np.concatenate([members, rng.choice(others, draw.sample, replace=False)]))


def solve_draw(problem: SharedProblem, draw: Draw) -> Solved:
    """Alpha and d of the rows of a draw."""
    rows = chosen(problem.slots, draw, problem.seed)
    return solve_subset(problem, rows, np.array(draw.classes))


def solve(
    problem: SharedProblem,
    tasks: Sequence[Draw],
    *,
    executor: Executor,
    progress: Progress,
    store: StepStore | None = None,
) -> tuple[Averages, Array]:
    """Averages over all tasks, and the mean complexity of each class in its problems."""
    slots, p = problem.slots, problem.rows.centred.shape[1]
    largest = max(tasks, key=lambda draw: draw.rows)
    executor.check_memory(problem.bytes, task_bytes(largest.rows, p, len(largest.classes)))
    averages, complexity, runs = Averages(slots), np.zeros(slots.k), np.zeros(slots.k)
    with closing(in_order(tasks, solve_draw, problem, executor, store, progress)) as results:
        for draw, solved in zip(tasks, results, strict=True):
            rows, classes = chosen(slots, draw, problem.seed), np.array(draw.classes)
            averages.add(rows, classes, solved)
            Y = slots.targets(rows, classes)
            complexity[classes] += np.einsum("ik,ik->k", Y, solved.alpha)
            runs[classes] += 1
    return averages, complexity / runs
