"""Figure 3: wrong labels have higher scores, and are found by them (section 4.2)."""

from __future__ import annotations

from cgscore_paper import densities, detection
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, load, missing
from cgscore_paper.figures import legend_below, panels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result

TITLE = "Figure 3: wrong labels by the CG-score"

RATE = 0.2


def make(work: Work, plan: Plan) -> Result:
    """Densities and detection with 20 % wrong labels: whole datasets, and what is trained on."""
    why = missing(work.data, "cifar-100")
    datasets = ("fashion-mnist", "cifar-10" if why else "cifar-100")
    detection.ready(work, plan, datasets, (RATE,))
    wholes = [
        detection.whole(work, plan, name, load(work.data, name).codes, RATE) for name in datasets
    ]
    parts = [detection.trained_on(work, plan, name, RATE) for name in datasets]
    figure, grid = panels(2, 4, width=2.9, height=2.5)
    for line, shown in zip(grid, (wholes, parts), strict=True):
        for axes, one in zip(line[:2], shown, strict=True):
            one.draw_density(axes)
        for axes, one in zip(line[2:], shown, strict=True):
            one.draw_found(axes)
    legend_below(figure, grid.ravel(), columns=8)
    instead = " CIFAR-10 stands in for the paper's CIFAR-100." if why else ""
    caption = (
        "Left: density of the CG-score for right and wrong labels. Right: wrong labels found when "
        "the highest scores are examined first. Top row: whole datasets, scored without training "
        f"({plan.runs} runs of the estimator). Bottom row: the examples that networks are trained "
        f"on, scored among themselves.{instead} {densities.TOLD} {detection.TOLD} "
        f"{plan.description}"
    )
    numbers = {
        part: {name: one.numbers for name, one in zip(datasets, shown, strict=True)}
        for part, shown in (("whole", wholes), ("trained_on", parts))
    }
    text = (
        f"{RATE:.0%} of the labels of every class are wrong. The first rows are whole datasets, "
        f"the last ones the examples that are trained on.\n\n{detection.rows([*wholes, *parts])}"
    )
    not_run = [f"{SOURCES['cifar-100'].title}: {why}"] if why else []
    return Result(
        numbers={"rate": RATE, **numbers},
        text=text,
        figures={"": (figure, caption)},
        not_run=not_run,
    )
