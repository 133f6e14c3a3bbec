"""Scores of random blocks, for data of any size."""

from __future__ import annotations

from cgscore.errors import MemoryLimitError
from cgscore.methods.averaging import (
    Tasks,
    check_predictions_fit,
    run_tasks,
    shared_problem,
    tasks_cost,
)
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.method import Context
from cgscore.methods.options import Options
from cgscore.problem import Problem, Solution
from cgscore.solvers.sampled import partition as solver
from cgscore.solvers.sampled.subset import task_bytes, task_flops


class Partition:
    """Means over random partitions, with standard errors."""

    name = "partition"
    accepts = frozenset({"runs", "checkpoint", "client"})
    keeps = "more runs"
    streams = False

    def cost(self, sizes: Sizes, options: Options, workers: int = 1) -> Cost:
        """Blocks as an explicit limit makes them."""
        n, p, k = sizes.n, sizes.p, sizes.k
        try:
            count = solver.block_count(n, p, k, options.memory_limit)
        except MemoryLimitError:  # then its cost says that it does not fit
            count = solver.block_count(n, p, k)
        runs = 1 if count == 1 else options.runs or solver.DEFAULT_RUNS
        return tasks_cost(
            sizes,
            workers,
            flops=runs * count * task_flops(-(-n // count), p),
            task_bytes=task_bytes(solver.largest(n, count, k), p, k),
            results=8 * n * (k + 1) * runs,
            tasks=runs * count,
        )

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Deal, score and average."""
        check_predictions_fit(problem, options)
        shared, slot = shared_problem(problem, options.seed)
        n, p = shared.rows.centred.shape
        k = shared.slots.k
        count = solver.block_count(n, p, k, options.memory_limit)
        blocks = solver.blocks(n, p, count, options.runs)
        tasks = Tasks(
            items=blocks,
            solve=solver.solve,
            work={"blocks": count},
            parts="blocks, added up and averaged over runs",
            facts={"blocks": count, "block_size": -(-n // count), "runs": blocks[-1].run + 1},
            certain=range(k) if count == 1 else (),
        )
        return run_tasks(self.name, problem, shared, slot, tasks, options, context)


METHOD = Partition()
