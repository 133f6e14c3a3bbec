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
    missing_reason = missing(work.data, "cifar-100")
    datasets = ("fashion-mnist", "cifar-10" if missing_reason else "cifar-100")
    detection.compute_cells(work, plan, datasets, (RATE,))
    datasets_noisy = [
        detection.noisy_dataset(work, plan, name, load(work.data, name).codes, RATE)
        for name in datasets
    ]
    subsets_noisy = [detection.noisy_subset(work, plan, name, RATE) for name in datasets]
    figure, grid = panels(2, 4, width=2.9, height=2.5)
    for line, shown in zip(grid, (datasets_noisy, subsets_noisy), strict=True):
        for axes, noisy in zip(line[:2], shown, strict=True):
            noisy.draw_density(axes)
        for axes, noisy in zip(line[2:], shown, strict=True):
            noisy.draw_found(axes)
    legend_below(figure, grid.ravel(), columns=8)
    stand_in_note = " CIFAR-10 stands in for the paper's CIFAR-100." if missing_reason else ""
    caption = (
        "Left: density of the CG-score for right and wrong labels. Right: wrong labels found when "
        "the highest scores are examined first. Top row: whole datasets, scored without training "
        f"({plan.runs} runs of the estimator). Bottom row: the examples that networks are trained "
        f"on, scored among themselves.{stand_in_note} {densities.CLIPPING_NOTE} "
        f"{detection.CURVE_NOTE} "
        f"{plan.description}"
    )
    numbers = {
        part: {name: noisy.numbers for name, noisy in zip(datasets, shown, strict=True)}
        for part, shown in (("whole", datasets_noisy), ("trained_on", subsets_noisy))
    }
    text = (
        f"{RATE:.0%} of the labels of every class are wrong. The first rows are whole datasets, "
        "the last ones the examples that are trained "
        f"on.\n\n{detection.rows([*datasets_noisy, *subsets_noisy])}"
    )
    not_run = [f"{SOURCES['cifar-100'].title}: {missing_reason}"] if missing_reason else []
    return Result(
        numbers={"rate": RATE, **numbers},
        text=text,
        figures={"": (figure, caption)},
        not_run=not_run,
    )
