"""How scores came about: ``Scores.meta``, built here and nowhere else.

Keys that every result has, and those of single methods, are described in ``docs/metadata.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cgscore.execution.machine import peak_memory
from cgscore.problem import Problem, Solution

#: Keys that every result has.
COMMON = (
    "audit",
    "choice",
    "class_names",
    "classes",
    "condition",
    "digits",
    "dtype",
    "duplicates",
    "encoder",
    "fingerprint",
    "judge",
    "kernel",
    "loss",
    "method",
    "n",
    "notes",
    "p",
    "peak_memory",
    "preprocessing",
    "read_options",
    "ridge",
    "ridge_choice",
    "seed",
    "skipped",
    "source",
    "storage",
    "task",
    "task_reason",
    "timings",
    "version",
    "warnings",
)

#: Keys that some methods add, and that are there with certain columns of the data.
PARTICULAR = (
    "annotators",
    "audit_left_out",
    "block_size",
    "blocks",
    "blocks_in_float64",
    "certain",
    "complexity_of",
    "groups",
    "iterations",
    "landmarks",
    "landmarks_drawn",
    "rank",
    "ratio",
    "refinements",
    "runs",
    "runs_of_class",
    "runs_rule",
    "source_fingerprint",
    "tasks",
    "verdicts",
    "workers",
)


def metadata(
    problem: Problem,
    solution: Solution,
    warnings: list[str],
    *,
    method: str,
    seconds: float,
    seed: int | None = None,
    choice: Mapping[str, Any] | None = None,
    ridge_choice: Mapping[str, Any] | None = None,
    judge: Mapping[str, Any] | None = None,
    annotators: Sequence[Mapping[str, Any]] | None = None,
    verdicts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that describes the scores, in types that JSON can write.

    Parameters
    ----------
    problem, solution : Problem and Solution
        What was scored, and what the method found.
    warnings : list of str
        What a careful reader should know.
    method : str
        That scored.
    seconds : float
        From the beginning to the end.
    seed : int or None
        Of what was drawn; None where nothing can be.
    choice, ridge_choice : mapping or None
        How the method and the ridge were chosen, where they were.
    judge : mapping or None
        By which ridge and method labels are judged, if not by the scores themselves.
    annotators : sequence of mappings or None
        How reliable every annotator is, where there are several.
    verdicts : mapping or None
        What labels were judged with, where predictions are not kept.
    """
    from cgscore import __version__

    inputs, dataset, labels = problem.inputs, problem.dataset, problem.labels
    n, p = dataset.shape
    facts = dict(solution.facts)
    return {
        "version": __version__,
        "method": method,
        "audit": solution.audit,
        **facts,
        "timings": {**facts["timings"], "total": seconds},
        "task": labels.task,
        "task_reason": labels.reason,
        "kernel": inputs.kernel.name,
        "ridge": inputs.ridge,
        "ridge_choice": None if ridge_choice is None else dict(ridge_choice),
        "judge": None if judge is None else dict(judge),
        "choice": None if choice is None else dict(choice),
        "seed": seed,
        "n": n,
        "p": p,
        "classes": len(labels.classes),
        "source": dataset.source,
        "read_options": dict(dataset.options),
        "fingerprint": dataset.fingerprint,
        "encoder": None if dataset.encoder is None else dict(dataset.encoder),
        "preprocessing": f"{dataset.preprocessing}; rows scaled to unit norm",
        "class_names": labels.names(dataset.class_names),
        "duplicates": {
            "copies": len(inputs.repeats.copies),
            "conflicting_rows": int(np.isinf(solution.valuation.cg).sum()),
            "merged": len(inputs.merged.copies) > 0,
        },
        "peak_memory": peak_memory(),
        "notes": list(dataset.notes),
        "skipped": list(dataset.skipped),
        "warnings": warnings,
        **({} if annotators is None else {"annotators": [dict(row) for row in annotators]}),
        **({} if verdicts is None else {"verdicts": dict(verdicts)}),
    }
