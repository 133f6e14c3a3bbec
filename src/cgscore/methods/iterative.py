"""Scores by the iterative method: what surrounds `solvers.iterative` on both sides."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.errors import MemoryLimitError, first_five
from cgscore.execution.accelerator import usable
from cgscore.execution.checkpoint import Checkpoint, digest_of, identity
from cgscore.execution.executor import ClusterExecutor, Executor
from cgscore.execution.machine import available_memory, parse_bytes, show_bytes
from cgscore.execution.progress import Progress, Timed
from cgscore.methods.cost import iterative_cost
from cgscore.problem import Prepared
from cgscore.result.scores import Scores
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.block_bounds import block_bytes
from cgscore.solvers.iterative.distributed import spread_bytes
from cgscore.solvers.iterative.landmarks import count as landmark_count


def score_iteratively(
    dataset: Dataset,
    *,
    ridge: float,
    task: str,
    seed: int,
    target: float | None,
    duplicates: str,
    memory_limit: int | float | str | None,
    device: str,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress,
    executor: Executor | None = None,
) -> Scores:
    """Near-exact scores of a labelled dataset, audited."""
    limit = None if memory_limit is None else parse_bytes(memory_limit)
    start = time.perf_counter()
    timed = Timed(progress)
    data = Prepared(dataset, ridge=ridge, duplicates=duplicates, limit=limit)
    dataset, labels = data.labelled(None, task)
    Y = data.merged.means(labels.targets())
    n, p = data.rows.centred.shape
    storage = _storage(n, p, Y.shape[1], limit, device, executor)
    kept = None
    if checkpoint is not None:
        work = {"method": "iterative", "labels": digest_of(Y), "seed": seed, "storage": storage}
        kept = Checkpoint(Path(checkpoint), identity(data.rows, data.ridge, **work))
    try:
        with timed.whole(iterative_cost(n, p, Y.shape[1]).flops):
            found = iterative.solve(
                data.rows,
                data.ridge,
                Y,
                labels.codes[data.merged.members],
                storage=storage,
                seed=seed,
                target=target,
                progress=timed,
                kept=kept,
                executor=executor,
            )
    finally:
        if kept:
            kept.close()
    audit = dict(found.audit)
    marked = data.merged.members[np.array(audit["uncertain"]["positions"], np.intp)]
    audit["uncertain"] = {**audit["uncertain"], "positions": marked.tolist()}
    notes = [
        *(kept.renewed() if kept else []),
        *(executor.warnings() if executor else []),
        *_warnings(audit),
    ]
    return data.result(
        dataset,
        labels,
        found.alpha,
        found.d,
        notes=notes,
        meta={
            "method": "iterative",
            "workers": executor.describe() if executor else None,
            "dtype": "float32",
            "audit": audit,
            "condition": None,
            "digits": None,
            "loss": None,
            **found.facts,
            "timings": {**timed.seconds, "total": time.perf_counter() - start},
        },
    )


def _storage(
    n: int, p: int, k: int, limit: int | None, device: str, executor: Executor | None
) -> str:
    """Where H is; raises `MemoryLimitError` if it fits nowhere."""
    if isinstance(executor, ClusterExecutor):
        needed, there = spread_bytes(n, p, executor.workers()), executor.memory()
        if needed > there:
            raise MemoryLimitError(
                f"The kernel matrix of {n:,} examples takes {show_bytes(needed)} of the workers' "
                f"memory, with the data; together they may use {show_bytes(there)}. Add workers, "
                "or use method='partition'."
            )
        executor.check_memory(8 * n * p, block_bytes(n, p, landmark_count(n)))
    elif device != "cpu":
        usable(device)
    room = available_memory()
    if limit is not None:
        room = min(room, limit - 8 * n * p)
    kept, formed = iterative.bytes_kept(n, p, k), iterative.bytes_formed(n, p, k)
    if formed > room:
        raise MemoryLimitError(
            f"Scoring {n:,} examples iteratively needs {show_bytes(kept)} of memory, or "
            f"{show_bytes(formed)} and far more time; {show_bytes(max(room, 0))} "
            f"{'is free' if limit is None else 'is left of the limit'}. "
            "Use method='partition', or a machine with more memory."
        )
    if executor:
        return "cluster"
    if device != "cpu":
        return f"torch:{device}"
    return "memory" if kept <= room else "formed"


def _warnings(audit: Any) -> list[str]:
    warnings = []
    if audit["rank_correlation"] < audit["target"]:
        low, high = audit["rank_correlation_interval"]
        warnings.append(
            f"The audit of {audit['examples']} examples estimates a rank correlation of "
            f"{audit['rank_correlation']:.4f} with the exact score (95 %: {low:.4f} to "
            f"{high:.4f}), below the target of {audit['target']:g}. Use target= for a stronger "
            "setting, or method='exact'."
        )
    if count := audit["uncertain"]["count"]:
        rows = first_five(audit["uncertain"]["positions"])
        warnings.append(
            f"The scores of {count:,} examples are uncertain: estimates of d from different parts "
            f"of the data disagree. Rows {rows} (counted from 0); they are mostly near-duplicates. "
            "Use method='exact' or a ridge if they matter."
        )
    return warnings
