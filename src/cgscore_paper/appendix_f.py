"""Appendix F: TracIn and CRAIG beside the CG-score."""

from __future__ import annotations

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
)
from cgscore_paper.results import Result

TITLE = "Appendix F: TracIn and CRAIG"

SCORES = ("cg", "tracin", "craig", "random")
BY_NOISE = ("partial", "cg", "self_influence")
RATE = 0.2


def make(work: Work, plan: Plan) -> Result:
    """Pruning by TracIn and CRAIG, and wrong labels by self-influence."""
    names, not_run = available(work)
    score_stages(work, plan, [(name, rate) for name in names for rate in (0.0, RATE)])
    pruned = {
        SOURCES[curves.experiment.dataset].title: curves
        for curves in run(
            work,
            plan,
            [experiment(work, plan, name, SCORES, repeats=plan.appendix_repeats) for name in names],
        )
    }
    noise = [detection.noisy_subset(work, plan, name, RATE, BY_NOISE) for name in names]
    figure, detection_caption = detection.draw_all(noise)
    numbers = {
        name: {"pruning": pruned[SOURCES[name].title].numbers(), "detection": curves.curves}
        for name, curves in zip(names, noise, strict=True)
    }
    text = [curves.text(title) for title, curves in pruned.items()] + [detection.rows(noise)]
    captions = (
        "Pruning by TracIn, CRAIG and the CG-score with the lowest scores removed first (above) "
        "and the highest (below; CRAIG chooses what stays, so there is no opposite). "
        f"{training_caption(plan, list(pruned.values()))} {_settings(plan, names)} "
        f"{plan.description}",
        f"{detection_caption} TracIn is here the influence of an example on its own loss. "
        f"{plan.description}",
    )
    return Result(
        numbers,
        "\n\n".join(text),
        {"": (draw(pruned), captions[0]), "-2": (figure, captions[1])},
        not_run=not_run,
    )


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
