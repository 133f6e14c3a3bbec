"""The paper's estimator: each class against random samples of the others (appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.labels import Labels
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
from cgscore.solvers.sampled import subsample as solver
from cgscore.solvers.sampled.subset import task_bytes, task_flops


class Subsample:
    """Means over runs, with standard errors."""

    name = "subsample"
    accepts = frozenset({"ratio", "runs", "checkpoint", "client"})
    keeps = "more runs"
    streams = False

    def cost(self, sizes: Sizes, options: Options, workers: int = 1) -> Cost:
        """Runs for classes of one size."""
        n, p, k, ratio = sizes.n, sizes.p, sizes.k, options.ratio
        members = max(1, n // k)
        m = members + solver.sample_size(members, n, ratio)
        runs = options.runs or solver.recommended_runs(members, n, ratio)
        columns, count = 1, k * runs
        if m == n:  # everybody: one task for all classes
            columns, count = k, 1
        return tasks_cost(
            sizes,
            workers,
            flops=count * task_flops(m, p),
            task_bytes=task_bytes(m, p, columns),
            results=count * 8 * m * (1 + columns),
            tasks=count,
        )

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Draw, score and average."""
        labels = problem.labels
        check_predictions_fit(problem, options)
        if labels.task == "regression":
            raise OptionError(
                "method='subsample' draws classes against each other and has no meaning for "
                "task='regression'. Use exact, iterative or partition."
            )
        shared, slot = shared_problem(problem, options.seed)
        n, p = shared.rows.centred.shape
        counts = np.bincount(shared.slots.column, minlength=shared.slots.k).tolist()
        draws = solver.draws(counts, n, p, options.ratio, options.runs)
        facts = _facts(draws, labels, options)
        tasks = Tasks(
            items=draws,
            solve=solver.solve,
            work={"ratio": options.ratio},
            parts="sampled problems, averaged over runs",
            facts=facts,
            certain=facts["certain"],
        )
        return run_tasks(self.name, problem, shared, slot, tasks, options, context)


def _facts(draws: Sequence[solver.Draw], labels: Labels, options: Options) -> dict[str, Any]:
    """Runs of each class, by name, and what decided them."""
    runs = np.zeros(len(labels.classes), int)
    certain: list[int] = []
    for draw in draws:
        runs[list(draw.classes)] += 1
        if draw.sample is None:
            certain = list(draw.classes)
    names = [str(label) for label in labels.classes.tolist()]
    fewest, most = int(runs.min()), int(runs.max())
    rule = "half of the others are seen: ceil(0.5 others / sample), at least 2"
    return {
        "ratio": options.ratio,
        "runs": fewest if fewest == most else [fewest, most],
        "runs_of_class": dict(zip(names, runs.tolist(), strict=True)),
        "runs_rule": rule if options.runs is None else "as asked for",
        "certain": certain,
    }


METHOD = Subsample()
