"""Appendix F: TracIn and CRAIG beside the CG-score."""

from __future__ import annotations

from typing import Any

from cgscore_paper import detection
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    available,
    draw,
    experiment,
    listed,
    run,
    score_stages,
    training_caption,
    untested,
)
from cgscore_paper.results import Result

TITLE = "Appendix F: TracIn and CRAIG"

SCORES = ("cg", "tracin", "craig", "random")
BY_NOISE = ("partial", "cg", "self_influence")
RATE = 0.2
#: What this appendix adds to figure 2.
NEW = {"tracin", "craig"}


def make(work: Work, plan: Plan) -> Result:
    """Pruning by TracIn and CRAIG, and wrong labels by self-influence."""
    names, not_run = available(work)
    score_stages(work, plan, [(name, rate) for name in names for rate in (0.0, RATE)])
    experiments = [
        experiment(work, plan, name, scores(plan), repeats=plan.appendix_repeats) for name in names
    ]
    all_curves = run(work, plan, experiments)
    pruned = {
        SOURCES[curves.experiment.dataset].title: curves
        for curves in all_curves
        if NEW & {*curves.scores("low-first"), *curves.scores("high-first")}
    }
    noise = {
        name: noisy
        for name in names
        if (noisy := detection.noisy_subset(work, plan, name, RATE, BY_NOISE))
    }
    not_run += [untested(SOURCES[n].title) for n in names if SOURCES[n].title not in pruned]
    not_run += [detection.untested(name, RATE, True) for name in names if name not in noise]
    numbers: dict[str, Any] = {name: {} for name in names}
    for curves in pruned.values():
        numbers[curves.experiment.dataset]["pruning"] = curves.numbers()
    for name, noisy in noise.items():
        numbers[name]["detection"] = noisy.curves
    text = [curves.text(title) for title, curves in pruned.items()]
    figures = {}
    if pruned:
        caption = (
            "Pruning by TracIn, CRAIG and the CG-score with the lowest scores removed first "
            "(above) and the highest (below; CRAIG chooses what stays, so there is no opposite). "
            f"{training_caption(plan, list(pruned.values()))} {_settings(plan, names)}"
        )
        figures[""] = (draw(pruned), caption)
    if noise:
        figure, caption = detection.draw_all(list(noise.values()))
        caption += " TracIn is here the influence of an example on its own loss."
        figures["-2"] = (figure, caption)
        text.append(detection.rows(noise.values()))
    return Result(numbers, "\n\n".join(text), figures, not_run=not_run)


def scores(plan: Plan) -> tuple[str, ...]:
    """Scores that prune; of all examples the exact CG-score."""
    return ("exact_cg", *SCORES[1:]) if plan.background else SCORES


def _settings(plan: Plan, names: list[str]) -> str:
    """When TracIn and CRAIG look at the network."""
    counts = sorted({len(plan.scoring(name).tracin_epochs) for name in names})
    few = sorted({plan.scoring(name).tracin_every for name in names})
    validation = sorted({plan.scoring(name).validation for name in names})
    again = sorted({plan.pruning(name).reselect_every for name in names})
    return (
        f"Checkpoints of TracIn: {listed(counts)}, one for every {listed(few)} epochs. It averages "
        f"over up to {listed(validation)} test examples, which are among those that accuracy is "
        f"measured on, as in the paper. Epochs after which CRAIG chooses again: {listed(again)}."
    )
