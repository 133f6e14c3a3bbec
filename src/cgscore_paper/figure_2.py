"""Figure 2: pruning by scores, lowest first and highest first."""

from __future__ import annotations

from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    SMALL_LOSS,
    available,
    draw,
    experiment,
    percent,
    run,
    training_caption,
)
from cgscore_paper.results import Result

TITLE = "Figure 2: pruning by scores"

SCORES = ("cg", "c_score", "el2n", "forgetting", "random")
#: Shares that the paper removes, lowest scores first, at a loss below `SMALL_LOSS`.
PAPER = {"cifar-10": 0.4, "cifar-100": 0.2}


def make(work: Work, plan: Plan) -> Result:
    """Accuracy against the share removed, for every dataset that is there."""
    names, not_run = available(work)
    curves_by_title = {
        SOURCES[curves.experiment.dataset].title: curves
        for curves in run(work, plan, [experiment(work, plan, name, SCORES) for name in names])
    }
    text = [curves.text(title) for title, curves in curves_by_title.items()]
    for title, curves in curves_by_title.items():
        name = curves.experiment.dataset
        if name in PAPER:
            text.append(
                f"The paper reports that {percent(PAPER[name])} of {title} can be removed, lowest "
                f"scores first, with less than {SMALL_LOSS} of the accuracy lost. Here "
                "this holds up to "
                f"{percent(curves.harmless_share('low-first', 'cg'))} by the CG-score and up to "
                f"{percent(curves.harmless_share('low-first', 'random'))} at random."
            )
        if name != "fashion-mnist" and "c_score" not in curves.experiment.scores:
            not_run.append(f"C-score of {title}: there are no published ones in cscores/")
    if plan.prune_training is not None:
        text.append(
            "Which end to keep depends on how much is left: with few examples and short trainings "
            "the easy ones serve better, with many the hard ones (Sorscher et al., 2022). A desk "
            "is on the first side, the paper with 50,000 examples and 200 epochs on the second, so "
            "that this figure does not repeat the paper's order of scores."
        )
    caption = (
        "Pruning with the lowest scores removed first (above) and the highest (below). "
        f"{training_caption(plan, list(curves_by_title.values()))} {plan.description}"
    )
    numbers = {curves.experiment.dataset: curves.numbers() for curves in curves_by_title.values()}
    return Result(
        numbers, "\n\n".join(text), {"": (draw(curves_by_title), caption)}, not_run=not_run
    )
