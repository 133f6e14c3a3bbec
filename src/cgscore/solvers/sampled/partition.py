r"""Scores from random partitions: small factors that all classes share.

All rows are dealt into blocks of about b rows, class by class, so that every block has its share of
every class; each block is a problem of its own, and one factor serves all its classes. Repeated
`runs` times with fresh partitions, and every term averaged.

- A class with fewer rows than blocks would be missing in some. Each block has at least
  ``min(n_c, MIN_ROWS_PER_CLASS)`` rows of every class: what it lacks are guests, drawn from the
  other blocks, which take part but are scored at home only.
- b follows from the number of classes and an explicit ``memory_limit``, never from what happens to
  be free.
- Scores are those of smaller data: d given b rows instead of n is a lower bound, low by nearly the
  same factor for everyone, while residuals are larger, and CG with them. Ranks come the nearer to
  those of the exact scores, the larger b is.

Cost: ``runs 2 n b^2 / 3`` flops, linear in n, and ``4 b^2`` bytes a worker above the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from cgscore.errors import MemoryLimitError
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.machine import show_bytes
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

BLOCK_ROWS = 10_000  # rows in a block
ROWS_PER_CLASS = 8  # rows of each class that a block of many classes should have
MIN_ROWS_PER_CLASS = 2  # rows of each class in a block, so that one remains without another
MIN_BLOCK_ROWS = 100  # rows in a block
DEFAULT_RUNS = 2


@dataclass(frozen=True)
class Block:
    """A task: block `number` of `count` in a run."""

    run: int
    number: int
    count: int
    flops: float

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"run-{self.run:05d}-block-{self.number:05d}"


def block_count(n: int, p: int, k: int, limit: int | None = None) -> int:
    """Blocks for n rows of p numbers in k classes, under an explicit limit if there is one."""
    b = min(n, max(BLOCK_ROWS, ROWS_PER_CLASS * k))
    smallest = min(n, max(MIN_BLOCK_ROWS, MIN_ROWS_PER_CLASS * k))
    room = float("inf") if limit is None else limit - 8 * n * p
    while b > smallest and task_bytes(largest(n, -(-n // b), k), p, k) > room:
        b = max(smallest, b * 3 // 4)
    needed = task_bytes(largest(n, -(-n // b), k), p, k)
    if needed > room:
        raise MemoryLimitError(
            f"Blocks of {b:,} rows and the data need {show_bytes(8 * n * p + needed)} of memory; "
            f"{show_bytes(limit or 0)} is the limit. Score a sample of the examples, "
            "or allow more memory."
        )
    return -(-n // b)


def largest(n: int, count: int, k: int) -> int:
    """Rows of a block at most, with guests of every class."""
    return n if count == 1 else min(n, -(-n // count) + MIN_ROWS_PER_CLASS * k)


def blocks(n: int, p: int, count: int, runs: int | None) -> list[Block]:
    """The tasks, run after run."""
    flops = task_flops(-(-n // count), p)
    every = range(1 if count == 1 else runs or DEFAULT_RUNS)  # one block is the same in every run
    return [Block(run, number, count, flops) for run in every for number in range(count)]


def dealt(slots: Slots, block: Block, seed: int) -> tuple[Index, Index]:
    """Rows at home in a block and its guests, each ascending.

    Random numbers depend on (seed, run) for the partition and (seed, run, block) for guests.
    """
    order = stream(seed, block.run).permutation(slots.rows)
    if slots.values is not None:
        return np.sort(order[block.number :: block.count]), np.empty(0, np.intp)
    codes = slots.column[np.searchsorted(slots.row, np.arange(slots.rows))]
    order = order[np.argsort(codes[order], kind="stable")]
    home = np.sort(order[block.number :: block.count])
    present = np.bincount(codes[home], minlength=slots.k)
    wanted = np.minimum(np.bincount(codes, minlength=slots.k), MIN_ROWS_PER_CLASS)
    rng = stream(seed, block.run, block.number)
    guests = [
        rng.choice(np.setdiff1d(np.flatnonzero(codes == c), home), wanted[c] - present[c], False)
        for c in np.flatnonzero(present < wanted)
    ]
    return home, np.sort(np.concatenate([np.empty(0, np.intp), *guests]))


def solve_block(problem: SharedProblem, block: Block) -> Solved:
    """The task: alpha and d of the rows at home."""
    home, guests = dealt(problem.slots, block, problem.seed)
    rows = np.union1d(home, guests)
    solved = solve_subset(problem, rows, np.arange(problem.slots.k))
    return solved[np.searchsorted(rows, home)]


def solve(
    problem: SharedProblem,
    tasks: Sequence[Block],
    *,
    executor: Executor,
    progress: Progress,
    store: StepStore | None = None,
) -> tuple[Averages, Array]:
    """Averages over all tasks, and complexities: of blocks, added up, on average over runs."""
    slots, classes = problem.slots, np.arange(problem.slots.k)
    n, p = problem.rows.centred.shape
    executor.check_memory(
        problem.bytes, task_bytes(largest(n, tasks[0].count, slots.k), p, slots.k)
    )
    averages, complexity = Averages(slots), np.zeros(slots.k)
    with closing(in_order(tasks, solve_block, problem, executor, store, progress)) as results:
        for block, solved in zip(tasks, results, strict=True):
            home, _ = dealt(slots, block, problem.seed)
            averages.add(home, classes, solved)
            complexity += np.einsum("ik,ik->k", slots.targets(home, classes), solved.alpha)
    return averages, complexity / (tasks[-1].run + 1)
