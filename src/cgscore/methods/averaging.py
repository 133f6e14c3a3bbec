"""Scores by many small problems: what the methods ``subsample`` and ``partition`` share.

Each of them says which tasks there are and what is known about them; here the tasks are done, by
threads or a cluster, and their results become one solution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgscore.duplicates import settled
from cgscore.errors import MemoryLimitError
from cgscore.execution.blas import libraries
from cgscore.execution.checkpoint import Checkpoint, identity
from cgscore.execution.executor import Executor, Local
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.kernel import ENTRY_ERROR
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.method import Context
from cgscore.methods.options import Options
from cgscore.problem import MIN_DIGITS, Problem, Solution
from cgscore.solvers.sampled.averages import ESTIMATED, FIELDS, Averages, averages_bytes
from cgscore.solvers.sampled.comparison import audit
from cgscore.solvers.sampled.slots import slots_of
from cgscore.solvers.sampled.subset import SharedProblem
from cgscore.solvers.sampled.tasks import Task
from cgscore.typing import Array, Index
from cgscore.valuation import Valuation


@dataclass(frozen=True)
class Tasks:
    """The work of a method.

    Attributes
    ----------
    items : sequence of tasks
        In the order in which their results are taken.
    solve : function
        Does them: ``solve(shared, items, executor=, progress=, store=)`` gives averages and
        complexities.
    work : mapping
        What decides the bits of the result, beside data, labels and seed.
    parts : str
        What complexities are of.
    facts : mapping
        For ``Scores.meta``.
    certain : sequence of int
        Classes that nothing random enters.
    """

    items: Sequence[Task]
    solve: Callable[..., tuple[Averages, Array]]
    work: Mapping[str, Any]
    parts: str
    facts: Mapping[str, Any]
    certain: Sequence[int] = field(default_factory=tuple)

    @property
    def flops(self) -> float:
        """Arithmetic of all of them."""
        return sum(task.flops for task in self.items)


def shared_problem(problem: Problem, seed: int) -> tuple[SharedProblem, Index]:
    """What all tasks of a problem share, and where the scores of each example are kept."""
    inputs = problem.inputs
    slots, slot = slots_of(inputs.merged, problem.labels)
    return SharedProblem(inputs.rows, inputs.merged.members, inputs.ridge, slots, seed), slot


def run_tasks(
    name: str,
    problem: Problem,
    shared: SharedProblem,
    slot: Index,
    tasks: Tasks,
    options: Options,
    context: Context,
) -> Solution:
    """Do the tasks of the method `name`, average their results, and measure how good they are."""
    inputs, labels, slots, progress = problem.inputs, problem.labels, shared.slots, context.progress
    executor: Executor = context.cluster or Local(options.memory_limit)
    checkpoint = _opened(name, shared, tasks, options)
    try:
        with progress.whole(tasks.flops):
            averages, complexity = tasks.solve(
                shared, tasks.items, executor=executor, progress=progress, store=checkpoint
            )
    finally:
        if checkpoint:
            checkpoint.close()
    values = _valuation(problem, averages, slot)
    estimated = len(tasks.certain) < slots.k
    report: dict[str, Any] | None = None
    audit_left_out: str | None = "the scores are exact: nothing was drawn"
    if estimated:
        report, audit_left_out = audit(
            shared,
            averages,
            tasks.flops,
            limit=options.memory_limit,
            executor=executor,
            progress=progress,
        )
    torn = slots.contradicted()
    if labels.task == "regression":
        torn = np.logical_or.reduce(inputs.merged.contradicts(labels.targets()), axis=0)
    complexity = np.where(torn, np.inf, complexity)
    return Solution(
        valuation=values,
        complexity=dict(zip(labels.keys(), complexity.tolist(), strict=True)),
        audit=report,
        warnings=[
            *(checkpoint.renewed() if checkpoint else []),
            *executor.warnings(),
            *_warnings(averages, values),
        ],
        facts={
            "dtype": "float64",
            "storage": "memory",
            "audit_left_out": audit_left_out,
            "complexity_of": tasks.parts if estimated else "all examples",
            "condition": averages.condition,
            "digits": _digits(averages),
            "loss": None,
            "tasks": len(tasks.items),
            "workers": executor.describe(),
            **tasks.facts,
            "timings": dict(progress.seconds),
        },
        columns=_standard_errors(problem, values, averages, slot, tasks.certain),
    )


def tasks_cost(
    sizes: Sizes, workers: int, *, flops: float, task_bytes: int, results: int, tasks: int
) -> Cost:
    """Cost of tasks of `task_bytes` each, which send back `results` bytes together."""
    rows, averages = 8 * sizes.n * sizes.p, averages_bytes(sizes.n, sizes.k)
    return Cost(
        flops,
        rows + averages + min(workers, tasks) * task_bytes,
        rows + averages + task_bytes,
        tasks=tasks,
        worker_bytes=rows + task_bytes,
        traffic=rows * workers + results,
        workers=workers,
    )


def check_predictions_fit(problem: Problem, options: Options) -> None:
    """Raise `MemoryLimitError` unless predictions of all examples for all classes fit."""
    rows = problem.inputs.rows.centred
    n, k = len(rows), max(1, len(problem.labels.classes))
    room = memory_room(options.memory_limit, taken=rows.nbytes)
    if averages_bytes(n, k) > room.bytes:
        raise MemoryLimitError(
            f"Predictions of {n:,} examples for {k:,} classes take "
            f"{show_bytes(averages_bytes(n, k))} of memory; {room}. Score fewer classes at a "
            "time, or use a machine with more memory."
        )


def _opened(name: str, shared: SharedProblem, tasks: Tasks, options: Options) -> Checkpoint | None:
    if options.checkpoint is None:
        return None
    work = {**tasks.work, "method": name, "labels": shared.slots.digest(), "seed": options.seed}
    # tasks have one BLAS thread each; the number that others use does not matter
    work = {**identity(shared.rows, shared.ridge, **work), "blas": libraries(threads=False)}
    return Checkpoint(options.checkpoint, work)


def _valuation(problem: Problem, averages: Averages, slot: Index) -> Valuation:
    """Means of every example, with what identical rows require."""
    merged, labels = problem.inputs.merged, problem.labels
    means = {name: averages.mean[name][slot] for name in FIELDS}
    loo = averages.loo()
    if not len(merged.copies):
        return Valuation(loo=loo, **means)
    values = Valuation(loo=loo[merged.group], **means)
    return settled(merged, labels.targets(), labels.codes, values)


def _standard_errors(
    problem: Problem, values: Valuation, averages: Averages, slot: Index, certain: Sequence[int]
) -> dict[str, Array]:
    """Columns that say how sure the means are."""
    merged = problem.inputs.merged
    columns: dict[str, Any] = {}
    for name in ESTIMATED:
        error = averages.standard_error(name, certain)[slot]
        if name != "residual":  # later copies have 0 there, whatever was drawn
            error[merged.copies] = 0.0
        error[~np.isfinite(values.cg)] = np.nan
        columns[f"{name}_std_error"] = error
    columns["runs"] = averages.count[slot]
    columns["least_drawn"] = averages.drawn.min(axis=1)[merged.group]
    return columns


def _digits(averages: Averages) -> float:
    return max(0.0, -float(np.log10(ENTRY_ERROR * averages.condition)))


def _warnings(averages: Averages, values: Valuation) -> list[str]:
    messages = []
    missing = int(np.isnan(values.loo.sum(axis=1)).sum())
    if missing:
        messages.append(
            f"{missing:,} examples were never drawn for some class: they have no margin and "
            "no suggested label. More runs draw more of them; the methods exact, iterative and "
            "partition predict all."
        )
    if _digits(averages) < MIN_DIGITS:
        messages.append(
            f"The kernel matrix of some parts has condition {averages.condition:.1e}, which leaves "
            f"about {_digits(averages):.0f} digits in the worst case. A ridge keeps more digits."
        )
    return messages
