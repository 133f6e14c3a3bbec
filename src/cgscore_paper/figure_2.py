"""Figure 2: pruning by scores, lowest first and highest first."""

from __future__ import annotations

from collections.abc import Sequence

from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.figures import SCORES as LABELS
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    SMALL_LOSS,
    Curves,
    available,
    draw,
    experiment,
    harmless_comparison,
    percent,
    run,
    training_caption,
    untested,
)
from cgscore_paper.results import NOT_TESTED, Result

TITLE = "Figure 2: pruning by scores"

SCORES = ("cg", "c_score", "el2n", "forgetting", "random")
#: Of all examples there are exact scores besides.
FULL_SCORES = ("exact_cg", *SCORES)
#: Shares that the paper removes, lowest scores first, at a loss below `SMALL_LOSS`.
PAPER = {"cifar-10": 0.4, "cifar-100": 0.2}


def make(work: Work, plan: Plan) -> Result:
    """Accuracy against the share removed, for every dataset that is there."""
    names, not_run = available(work)
    scores = FULL_SCORES if plan.background else SCORES
    all_curves = run(work, plan, [experiment(work, plan, name, scores) for name in names])
    curves_by_title = {
        SOURCES[curves.experiment.dataset].title: curves for curves in all_curves if curves.started
    }
    not_run += [
        untested(SOURCES[curves.experiment.dataset].title)
        for curves in all_curves
        if not curves.started
    ]
    text = [curves.text(title) for title, curves in curves_by_title.items()]
    for title, curves in curves_by_title.items():
        name = curves.experiment.dataset
        if name in PAPER:
            text.append(_harmless(title, curves, PAPER[name]))
        if name != "fashion-mnist" and "c_score" not in curves.experiment.scores:
            not_run.append(f"C-score of {title}: there are no published ones in cscores/")
    numbers = {curves.experiment.dataset: curves.numbers() for curves in curves_by_title.values()}
    figures = {}
    if curves_by_title:
        caption = (
            "Pruning with the lowest scores removed first (above) and the highest (below). "
            f"{training_caption(plan, list(curves_by_title.values()))}"
        )
        figures[""] = (draw(curves_by_title), caption)
    compared = [
        harmless_comparison(SOURCES[name].title, share, _curves_of(all_curves, name))
        for name, share in PAPER.items()
    ]
    return Result(numbers, "\n\n".join(text), figures, compared, not_run)


def _curves_of(all_curves: Sequence[Curves], dataset: str) -> Curves | None:
    return next((one for one in all_curves if one.experiment.dataset == dataset), None)


def _harmless(title: str, curves: Curves, paper: float) -> str:
    """What the paper says of a share that can be removed, and what is found here."""
    by = curves.cg
    shares = {
        name: curves.harmless_share("low-first", name)
        for name in (by, "random")
        if curves.harmless_share("low-first", name) is not None
    }
    here = [
        f"{percent(share or 0.0)} " + ("at random" if name == "random" else f"by {LABELS[name][0]}")
        for name, share in shares.items()
    ]
    return (
        f"The paper removes {percent(paper)} of {title}, lowest scores first, with less than "
        f"{SMALL_LOSS} of the accuracy lost. Of the shares tested here this holds up to "
        f"{' and up to '.join(here) if here else NOT_TESTED}."
    )
