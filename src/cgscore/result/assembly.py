"""`Scores` from the solution of a problem."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from cgscore.errors import CGScoreWarning
from cgscore.issues.judged import judge_labels
from cgscore.kernel import RELU
from cgscore.problem import Judgement, Problem, Solution
from cgscore.result.metadata import metadata
from cgscore.result.scores import Scores
from cgscore.result.table import score_table


def assemble(
    problem: Problem,
    solution: Solution,
    *,
    method: str,
    seconds: float,
    seed: int | None = None,
    choice: Mapping[str, Any] | None = None,
    ridge_choice: Mapping[str, Any] | None = None,
    judgement: Judgement | None = None,
    further_warnings: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    annotators: Sequence[Mapping[str, Any]] | None = None,
) -> Scores:
    """The scores, with their table and metadata; other parameters are those of `metadata`.

    The table gets the columns of the dataset, further `columns`, and those of the solution.
    Warnings are issued, and kept in the metadata.
    """
    messages = [
        *solution.warnings,
        *problem.warnings(),
        *_kernel_warnings(problem),
        *further_warnings,
    ]
    for message in messages:
        warnings.warn(message, CGScoreWarning, stacklevel=3)
    inputs, values = problem.inputs, solution.valuation
    judging = solution if judgement is None else judgement
    judged_labels = None
    if not judging.keeps_predictions:
        loo = values.loo if judgement is None else judgement.loo
        judged_labels = judge_labels(loo, problem.labels.codes)
    return Scores(
        table=score_table(
            values,
            problem.labels,
            problem.dataset.ids,
            inputs.repeats if len(inputs.repeats.copies) else None,
            {**problem.dataset.columns, **(columns or {}), **solution.columns},
        ),
        loo=values.loo if solution.keeps_predictions else None,
        judged_loo=None if judgement is None or judged_labels is not None else judgement.loo,
        judged_labels=judged_labels,
        judged_d=None if judgement is None or len(problem.labels.classes) else judgement.d,
        d=values.d,
        alpha=values.alpha,
        classes=problem.labels.classes,
        complexity=solution.complexity,
        meta=metadata(
            problem,
            solution,
            messages,
            method=method,
            seconds=seconds,
            seed=seed,
            choice=choice,
            ridge_choice=ridge_choice,
            judge=None if judgement is None else judgement.facts,
            annotators=annotators,
            verdicts=None if judged_labels is None else judged_labels.facts(),
        ),
        dataset=problem.dataset,
    )


def _kernel_warnings(problem: Problem) -> list[str]:
    kernel = problem.inputs.kernel
    if kernel is RELU:
        return []
    return [
        f"kernel={kernel.name!r} is an experiment: the scores are not those of the paper, and its "
        "theorems say nothing about them."
    ]
