"""Scores by many small problems: what surrounds `solvers.subsample` and `solvers.partition`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.duplicates import settled
from cgscore.errors import MemoryLimitError, OptionError
from cgscore.execution.blas import libraries
from cgscore.execution.checkpoint import Checkpoint, identity
from cgscore.execution.executor import Executor
from cgscore.execution.machine import available_memory, parse_bytes, show_bytes
from cgscore.execution.progress import Progress, Timed
from cgscore.kernel import ENTRY, Array
from cgscore.labels import Labels
from cgscore.problem import FEW_DIGITS, Prepared, keys
from cgscore.result.scores import Scores
from cgscore.solvers.sampled import partition, subsample
from cgscore.solvers.sampled.averages import ESTIMATED, FIELDS, Averages, averages_bytes
from cgscore.solvers.sampled.comparison import audit
from cgscore.solvers.sampled.slots import Index, slots_of
from cgscore.solvers.sampled.subset import Problem
from cgscore.valuation import Valuation


@dataclass(frozen=True)
class Posed:
    """Labelled data as tasks take them.

    Attributes
    ----------
    data : Prepared
        Rows and groups.
    dataset, labels : Dataset and Labels
        Of all examples.
    problem : Problem
        What tasks share.
    slot : (n,) array
        Where the scores of each example are kept.
    """

    data: Prepared
    dataset: Dataset
    labels: Labels
    problem: Problem
    slot: Index


def prepare(
    dataset: Dataset,
    *,
    ridge: float,
    task: str,
    seed: int,
    duplicates: str = "merge",
    limit: int | None = None,
) -> Posed:
    """The problem of which tasks solve parts."""
    data = Prepared(dataset, ridge=ridge, duplicates=duplicates, limit=limit)
    dataset, labels = data.labelled(None, task)
    slots, slot = slots_of(data.merged, labels)
    problem = Problem(data.rows, data.merged.members, data.ridge, slots, seed)
    return Posed(data, dataset, labels, problem, slot)


def score_averaged(
    dataset: Dataset,
    *,
    method: str,
    ridge: float,
    task: str,
    seed: int,
    ratio: float,
    runs: int | None,
    duplicates: str,
    memory_limit: int | float | str | None,
    executor: Executor,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress,
) -> Scores:
    """Scores by the method ``subsample`` or ``partition``, averaged over runs."""
    limit = None if memory_limit is None else parse_bytes(memory_limit)
    start = time.perf_counter()
    timed = Timed(progress)
    posed = prepare(dataset, ridge=ridge, task=task, seed=seed, duplicates=duplicates, limit=limit)
    data, labels, problem, slot = posed.data, posed.labels, posed.problem, posed.slot
    slots = problem.slots
    n, p = data.rows.centred.shape
    tasks: Sequence[subsample.Draw] | Sequence[partition.Block]
    work: dict[str, Any]
    _refuse_many_predictions(n, slots.k, data.rows.centred.nbytes, limit)
    if method == "subsample":
        if labels.task == "regression":
            raise OptionError(
                "method='subsample' draws classes against each other and has no meaning for "
                "task='regression'. Use exact, iterative or partition."
            )
        counts = np.bincount(slots.column, minlength=slots.k).tolist()
        drawn = subsample.draws(counts, n, p, ratio, runs)
        tasks, work = drawn, {"ratio": float(ratio)}
        parts = "sampled problems, averaged over runs"
        facts = _facts_of_draws(drawn, labels, ratio, runs)
    else:
        count = partition.block_count(n, p, slots.k, limit)
        tasks = partition.blocks(n, p, count, runs)
        work = {"blocks": count}
        parts = "blocks, added up and averaged over runs"
        facts = {"blocks": count, "block_size": -(-n // count), "runs": tasks[-1].run + 1}
    kept = None
    if checkpoint is not None:
        work |= {"method": method, "labels": slots.digest(), "seed": seed}
        made = identity(data.rows, data.ridge, **work)
        # tasks have one BLAS thread each; the number that others use does not matter
        kept = Checkpoint(Path(checkpoint), {**made, "blas": libraries(threads=False)})
    try:
        with timed.whole(sum(task.flops for task in tasks)):
            solver: Any = subsample if method == "subsample" else partition
            averages, complexity = solver.solve(
                problem, tasks, executor=executor, progress=timed, kept=kept
            )
    finally:
        if kept:
            kept.close()
    result = _valuation(data, labels, averages, slot)
    certain = facts.get("certain", range(slots.k) if facts.get("blocks") == 1 else ())
    more = _estimates(data, result, averages, slot, certain)
    torn = slots.contradicted()
    if labels.task == "regression":
        torn = np.logical_or.reduce(data.merged.contradicts(labels.targets()), axis=0)
    found = dict(zip(keys(labels), np.where(torn, np.inf, complexity).tolist(), strict=True))
    report: dict[str, Any] | None = None
    why: str | None = "the scores are exact: nothing was drawn"
    if len(certain) < slots.k:
        flops = sum(task.flops for task in tasks)
        report, why = audit(
            problem, averages, flops, limit=limit, executor=executor, progress=timed
        )
    return data.valued(
        posed.dataset,
        labels,
        result,
        found,
        notes=[
            *(kept.renewed() if kept else []),
            *executor.warnings(),
            *_warnings(averages, result),
        ],
        meta={
            "method": method,
            "dtype": "float64",
            "storage": "memory",
            "audit": report,
            "audit_left_out": why,
            "complexity_of": parts if len(certain) < slots.k else "all examples",
            "condition": averages.condition,
            "digits": _digits(averages),
            "loss": None,
            "tasks": len(tasks),
            "workers": executor.describe(),
            **facts,
            "timings": {**timed.seconds, "total": time.perf_counter() - start},
        },
        more=more,
    )


def _facts_of_draws(
    draws: Sequence[subsample.Draw], labels: Labels, ratio: float, runs: int | None
) -> dict[str, Any]:
    """Runs of each class, by name, and what decided them."""
    done = np.zeros(len(labels.classes), int)
    certain: list[int] = []
    for draw in draws:
        done[list(draw.classes)] += 1
        if draw.sample is None:
            certain = list(draw.classes)
    names = [str(label) for label in labels.classes.tolist()]
    by_class = dict(zip(names, done.tolist(), strict=True))
    spread = [int(done.min()), int(done.max())]
    rule = "half of the others are seen: ceil(0.5 others / sample), at least 2"
    return {
        "ratio": float(ratio),
        "runs": spread[0] if spread[0] == spread[1] else spread,
        "runs_of_class": by_class,
        "runs_rule": rule if runs is None else "as asked for",
        "certain": certain,
    }


def _valuation(data: Prepared, labels: Labels, averages: Averages, slot: Index) -> Valuation:
    """Means of every example, with what identical rows require."""
    means = {name: averages.mean[name][slot] for name in FIELDS}
    loo = averages.loo()
    if not len(data.merged.copies):
        return Valuation(loo=loo, **means)
    result = Valuation(loo=loo[data.merged.group], **means)
    return settled(data.merged, labels.targets(), labels.codes, result)


def _estimates(
    data: Prepared, result: Valuation, averages: Averages, slot: Index, certain: Sequence[int]
) -> dict[str, Array]:
    """Columns that say how sure the means are."""
    columns: dict[str, Any] = {}
    for name in ESTIMATED:
        error = averages.standard_error(name, certain)[slot]
        if name != "residual":  # later copies have 0 there, whatever was drawn
            error[data.merged.copies] = 0.0
        error[~np.isfinite(result.cg)] = np.nan
        columns[f"{name}_std_error"] = error
    columns["runs"] = averages.count[slot]
    columns["least_drawn"] = averages.drawn.min(axis=1)[data.merged.group]
    return columns


def _digits(averages: Averages) -> float:
    return max(0.0, -float(np.log10(ENTRY * averages.condition)))


def _refuse_many_predictions(n: int, k: int, rows: int, limit: int | None) -> None:
    free = available_memory()
    room = free if limit is None else min(free, limit - rows)
    if averages_bytes(n, k) > room:
        raise MemoryLimitError(
            f"Predictions of {n:,} examples for {k:,} classes take "
            f"{show_bytes(averages_bytes(n, k))} of memory; {show_bytes(max(room, 0))} "
            f"{'is free' if room == free else 'is left of the limit'}. Score fewer classes at a "
            "time, or use a machine with more memory."
        )


def _warnings(averages: Averages, result: Valuation) -> list[str]:
    found = []
    missing = int(np.isnan(result.loo.sum(axis=1)).sum())
    if missing:
        found.append(
            f"{missing:,} examples were never drawn for some class: they have no margin and "
            "no suggested label. More runs draw more of them; the methods exact, iterative and "
            "partition predict all."
        )
    if _digits(averages) < FEW_DIGITS:
        found.append(
            f"The kernel matrix of some parts has condition {averages.condition:.1e}, which leaves "
            f"about {_digits(averages):.0f} digits in the worst case. A ridge keeps more digits."
        )
    return found
