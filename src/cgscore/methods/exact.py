"""Exact scores, from one Cholesky factor of the whole kernel matrix (`cgscore.factorisation`)."""

from __future__ import annotations

from dataclasses import replace

from cgscore.factorisation import Factor
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.method import Context
from cgscore.methods.options import Options
from cgscore.problem import Problem, Solution
from cgscore.result.groups import group_records
from cgscore.solvers.cholesky.factor import kernel_flops
from cgscore.solvers.cholesky.plan import plan


class Exact:
    """The whole kernel matrix, factorised in memory or on disk."""

    name = "exact"
    accepts = frozenset({"dtype", "checkpoint"})
    keeps = "other labels of the same inputs"
    streams = False

    def cost(self, sizes: Sizes, options: Options, workers: int = 1) -> Cost:
        """Kernel, factor and inverse, on one machine; panels as an explicit limit makes them."""
        n, p = sizes.n, sizes.p
        layout = plan(n, p, limit=options.memory_limit)
        flops = layout.flops + kernel_flops(n, p)
        memory = layout.in_memory + 8 * n * p
        return Cost(flops, memory, layout.streamed + 8 * n * p, layout.disk, worker_bytes=memory)

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Factorise, and solve for these labels; with groups, also for what each is worth."""
        factor = Factor(
            problem.inputs,
            memory_limit=options.memory_limit,
            progress=context.progress,
            dtype=options.dtype,
            checkpoint=options.checkpoint,
        )
        try:
            solution = factor.solution(problem)
            groups = problem.dataset.columns.get("group")
            if groups is None:
                return solution
            labels = problem.labels
            table = factor.group_gaps(
                groups, labels.values, task=labels.task, progress=context.progress
            )
            return replace(solution, facts={**solution.facts, "groups": group_records(table)})
        finally:
            factor.close()


METHOD = Exact()
