"""Figure 3: wrong labels have higher scores, and are found by them (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cgscore_paper import densities, detection
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, missing
from cgscore_paper.figures import legend_below, panels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Figure 3: wrong labels by the CG-score"

RATE = 0.2
NOTE = (
    "Above: density of the CG-score for right and wrong labels, on a logarithmic axis. Below: "
    f"wrong labels found when the highest scores are examined first. {densities.CLIPPING_NOTE} "
    f"{detection.CURVE_NOTE}"
)


def make(work: Work, plan: Plan) -> Result:
    """Densities and detection with 20 % wrong labels: whole datasets, and what is trained on."""
    missing_reason = missing(work.data, "cifar-100")
    datasets = ("fashion-mnist", "cifar-10", *(() if missing_reason else ("cifar-100",)))
    detection.compute_cells(work, plan, datasets, (RATE,))
    parts = {
        "whole": {name: detection.noisy_dataset(work, plan, name, RATE) for name in datasets},
        "trained_on": {name: detection.noisy_subset(work, plan, name, RATE) for name in datasets},
    }
    shown = {part: [noisy for noisy in of.values() if noisy] for part, of in parts.items()}
    not_run = [f"{SOURCES['cifar-100'].title}: {missing_reason}"] if missing_reason else []
    not_run += [
        detection.untested(name, RATE, part == "trained_on")
        for part, of in parts.items()
        for name, noisy in of.items()
        if noisy is None
    ]
    figures = {
        suffix: (_figure(shown[part]), f"{what} {NOTE}")
        for suffix, part, what in (
            ("", "whole", "Whole datasets, scored without training."),
            ("-2", "trained_on", "The examples that networks are trained on."),
        )
        if shown[part]
    }
    numbers = {
        part: {name: noisy.numbers for name, noisy in of.items() if noisy}
        for part, of in parts.items()
    }
    everything = [*shown["whole"], *shown["trained_on"]]
    return Result(
        numbers={"rate": RATE, **numbers},
        text=detection.rows(everything) if everything else "",
        figures=figures,
        not_run=not_run,
    )


def _figure(shown: Sequence[detection.Noisy]) -> Figure:
    """Densities above, curves below."""
    figure, grid = panels(2, len(shown), width=3.2, height=2.5, share_y="row")
    for line, draw in zip(grid, ("draw_density", "draw_found"), strict=True):
        for axes, noisy in zip(line, shown, strict=True):
            getattr(noisy, draw)(axes)
        for axes in line[1:]:
            axes.set_ylabel("")
    heights = [
        height
        for noisy in shown
        for group in ("right", "wrong")
        for height in noisy.numbers["density"][group]
        if height > 0
    ]
    grid[0, 0].set_ylim(min(heights) / 2, 2 * max(heights))
    for axes in grid[1]:
        axes.set_title("")
    legend_below(figure, grid.ravel(), columns=8)
    return figure
