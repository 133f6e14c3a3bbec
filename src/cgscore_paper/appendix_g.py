"""Appendix G: the CG-score before and after labels are made wrong, and many wrong labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore_paper import densities, detection
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.datasets import SOURCES, missing
from cgscore_paper.figures import RIGHT, legend_below, panels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result
from cgscore_paper.whole import summary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Appendix G: densities, and detection at high rates of wrong labels"

RATE = 0.2  # of the densities
RATES = (0.5, 0.8)  # of the curves


def make(work: Work, plan: Plan) -> Result:
    """Densities at 0 and 20 %, detection at 50 and 80 %."""
    missing_reason = missing(work.data, "cifar-100")
    datasets = ["fashion-mnist", "cifar-10", *([] if missing_reason else ["cifar-100"])]
    detection.compute_cells(work, plan, datasets, RATES)
    whole = {
        name: found
        for name in datasets
        if (found := if_finished(lambda name=name: summary_of(work, plan, name))) is not None  # type: ignore[misc]
    }
    parts = {
        (name, rate, trained): (
            detection.noisy_subset(work, plan, name, rate)
            if trained
            else detection.noisy_dataset(work, plan, name, rate)
        )
        for rate in RATES
        for name in datasets
        for trained in (False, True)
    }
    shown = {key: noisy for key, noisy in parts.items() if noisy}
    figures = {}
    if whole:
        figures[""] = (_densities(whole), _DENSITY_CAPTION)
    if shown:
        figures["-2"] = (_curves(shown), _CURVE_CAPTION)
    detected: dict[str, Any] = {f"{rate:.0%}": {} for rate in RATES}
    for (name, rate, trained), noisy in shown.items():
        part = "trained_on" if trained else "whole"
        detected[f"{rate:.0%}"].setdefault(name, {})[part] = noisy.curves
    not_run = [f"{SOURCES['cifar-100'].title}: {missing_reason}"] if missing_reason else []
    return Result(
        numbers={
            "densities": {name: found["rates"]["0"] for name, found in whole.items()},
            "detection": detected,
        },
        text=detection.rows(shown.values()) if shown else "",
        figures=figures,
        not_run=not_run + [detection.untested(*key) for key in parts if key not in shown],
    )


_DENSITY_CAPTION = (
    f"Density of the CG-score of whole datasets before (above) and after (below) {RATE:.0%} of the "
    f"labels of every class are made wrong, on a logarithmic axis. {densities.CLIPPING_NOTE}"
)
_CURVE_CAPTION = (
    f"Wrong labels found when the highest scores are examined first. {detection.CURVE_NOTE}"
)


def _densities(whole: Mapping[str, CellResult]) -> Figure:
    """Whole datasets with right labels (top) and with some wrong (bottom)."""
    figure, grid = panels(2, len(whole), width=3.2, share_y=True)
    heights: list[float] = []
    for (above, below), (name, found) in zip(grid.T, whole.items(), strict=True):
        before = found["rates"]["0"]["density"]
        bins = np.linspace(before["from"], before["to"], len(before["right"]) + 1)
        densities.steps(above, before["right"], bins, RIGHT, "right labels")
        above.set_title(f"{SOURCES[name].title}: all {found['examples']:,} right")
        noisy = found["rates"][str(round(100 * RATE))]
        detection.Noisy(f"{RATE:.0%} wrong", noisy).draw_density(below)
        below.set_ylabel("")
        heights += before["right"] + noisy["density"]["right"] + noisy["density"]["wrong"]
    densities.log_axis(grid[0, 0], [np.array(heights)])
    for line in grid:
        line[0].set_ylabel("density")
    legend_below(figure, grid[1])
    return figure


def _curves(shown: Mapping[tuple[str, float, bool], detection.Noisy]) -> Figure:
    """A row of panels for each rate: of each dataset the whole, and what is trained on."""
    lines = [[noisy for (_, at, _), noisy in shown.items() if at == rate] for rate in RATES]
    lines = [line for line in lines if line]
    columns = max(map(len, lines))
    figure, grid = panels(len(lines), columns, width=3.0, height=2.5, share_y=True)
    for axes_of_line, line in zip(grid, lines, strict=True):
        for axes, noisy in zip(axes_of_line, line, strict=False):
            noisy.draw_found(axes)
            axes.label_outer()
        for axes in axes_of_line[len(line) :]:
            axes.set_axis_off()
    legend_below(figure, grid.ravel())
    return figure
