"""Nearly exact scores by conjugate gradients, with an audit (`cgscore.solvers.iterative`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cgscore.errors import MemoryLimitError, first_five
from cgscore.execution.accelerator import usable
from cgscore.execution.checkpoint import Checkpoint, digest_of, identity
from cgscore.execution.executor import ClusterExecutor
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.method import Context
from cgscore.methods.options import Options
from cgscore.problem import Problem, Solution
from cgscore.solvers.cholesky.factor import kernel_flops
from cgscore.solvers.iterative import solve as solver
from cgscore.solvers.iterative.block_bounds import block_bytes, parts
from cgscore.solvers.iterative.distributed import spread_bytes
from cgscore.solvers.iterative.landmarks import count as landmark_count
from cgscore.solvers.iterative.system import expected_iterations, solve_flops


class Iterative:
    """All examples at once, without a factor."""

    name = "iterative"
    accepts = frozenset({"target", "checkpoint", "device", "client"})
    keeps = "the same run again"
    streams = False

    def cost(self, sizes: Sizes, options: Options, workers: int = 1) -> Cost:
        """Kernel, conjugate gradients and blocks; H is kept, or formed for every product."""
        n, p, k = sizes.n, sizes.p, sizes.k
        tolerances = solver.tolerances(k)
        flops = kernel_flops(n, p) / 2 + solve_flops(n, tolerances) + 2 * n * (n / parts(n)) ** 2
        iterations = expected_iterations(tolerances)
        in_memory = solver.bytes_in_memory(n, p, k) + 8 * n * p
        worker_bytes = spread_bytes(n, p, workers) // workers
        traffic = 8 * n * p * workers + round(4 * n * (workers + 1) * iterations.sum())
        formed = solver.bytes_formed(n, p, k) + 8 * n * p
        return Cost(
            flops,
            in_memory,
            formed,
            worker_bytes=worker_bytes,
            traffic=traffic,
            # products of the classes, then those of the further audit examples
            rounds=round(iterations.max() + iterations.min()),
        )

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Solve, and measure how nearly."""
        inputs, cluster, progress = problem.inputs, context.cluster, context.progress
        Y = problem.merged_targets()
        n, p = inputs.rows.centred.shape
        storage = _storage(n, p, Y.shape[1], options, cluster)
        checkpoint = None
        if options.checkpoint is not None:
            work = {"labels": digest_of(Y), "seed": options.seed, "storage": storage}
            checkpoint = Checkpoint(
                options.checkpoint, identity(inputs.rows, inputs.ridge, method=self.name, **work)
            )
        try:
            with progress.whole(self.cost(Sizes(n, p, Y.shape[1]), options).flops):
                outcome = solver.solve(
                    inputs.rows,
                    inputs.ridge,
                    Y,
                    problem.labels.codes[inputs.merged.members],
                    storage=storage,
                    seed=options.seed,
                    target=options.target,
                    progress=progress,
                    store=checkpoint,
                    executor=cluster,
                )
        finally:
            if checkpoint:
                checkpoint.close()
        audit = dict(outcome.audit)
        uncertain = inputs.merged.members[np.array(audit["uncertain"]["positions"], np.intp)]
        audit["uncertain"] = {**audit["uncertain"], "positions": uncertain.tolist()}
        return Solution(
            valuation=problem.valuation(outcome.alpha, outcome.d),
            complexity=problem.complexity(outcome.alpha),
            audit=audit,
            warnings=[
                *(checkpoint.renewed() if checkpoint else []),
                *(cluster.warnings() if cluster else []),
                *_audit_warnings(audit),
            ],
            facts={
                "workers": cluster.describe() if cluster else None,
                "dtype": "float32",
                "condition": None,
                "digits": None,
                "loss": None,
                **outcome.facts,
                "timings": dict(progress.seconds),
            },
        )


def _storage(n: int, p: int, k: int, options: Options, cluster: ClusterExecutor | None) -> str:
    """Where H is; raises `MemoryLimitError` if it fits nowhere."""
    if cluster is not None:
        needed, there = spread_bytes(n, p, cluster.workers()), cluster.memory()
        if needed > there:
            raise MemoryLimitError(
                f"The kernel matrix of {n:,} examples takes {show_bytes(needed)} of the workers' "
                f"memory, with the data; together they may use {show_bytes(there)}. Add workers, "
                "or use method='partition'."
            )
        cluster.check_memory(8 * n * p, block_bytes(n, p, landmark_count(n)))
    elif options.device != "cpu":
        usable(options.device)
    room = memory_room(options.memory_limit, taken=8 * n * p)
    in_memory, formed = solver.bytes_in_memory(n, p, k), solver.bytes_formed(n, p, k)
    if formed > room.bytes:
        raise MemoryLimitError(
            f"Scoring {n:,} examples iteratively needs {show_bytes(in_memory)} of memory, or "
            f"{show_bytes(formed)} and far more time; {room}. "
            "Use method='partition', or a machine with more memory."
        )
    if cluster:
        return "cluster"
    if options.device != "cpu":
        return f"torch:{options.device}"
    return "memory" if in_memory <= room.bytes else "formed"


def _audit_warnings(audit: Mapping[str, Any]) -> list[str]:
    messages = []
    if audit["rank_correlation"] < audit["target"]:
        low, high = audit["rank_correlation_interval"]
        messages.append(
            f"The audit of {audit['examples']} examples estimates a rank correlation of "
            f"{audit['rank_correlation']:.4f} with the exact score (95 %: {low:.4f} to "
            f"{high:.4f}), below the target of {audit['target']:g}. Use target= for a stronger "
            "setting, or method='exact'."
        )
    if count := audit["uncertain"]["count"]:
        rows = first_five(audit["uncertain"]["positions"])
        messages.append(
            f"The scores of {count:,} examples are uncertain: estimates of d from different parts "
            f"of the data disagree. Rows {rows} (counted from 0); they are mostly near-duplicates. "
            "Use method='exact' or a ridge if they matter."
        )
    return messages


METHOD = Iterative()
