"""Appendix G: the CG-score before and after labels are made wrong, and many wrong labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.typing import Index
from cgscore_paper import densities, detection
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, load, missing
from cgscore_paper.detection_curve import auroc
from cgscore_paper.figures import RIGHT, legend_below, panels
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Compared, Result, table
from cgscore_paper.scores import estimated, shared_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Appendix G: densities, and detection at high rates of wrong labels"

RATE = 0.2  # of the densities
RATES = (0.5, 0.8)  # of the curves

# Of a class of CIFAR-10 with 80 % wrong labels, in the paper: examples of its own, examples of
# other classes, and of each other class.
_PAPER_COUNTS = {"right": 1_000, "wrong": 4_000, "from_each_other": 445}
_PAPER_CLASS_SIZE = 5_000
_LABELS = {
    "right": "of its own",
    "wrong": "of other classes",
    "from_each_other": "of each other class",
}


def make(work: Work, plan: Plan) -> Result:
    """Densities at 0 and 20 %, detection at 50 and 80 %."""
    missing_reason = missing(work.data, "cifar-100")
    datasets = ["fashion-mnist", "cifar-10", *([] if missing_reason else ["cifar-100"])]
    codes = {name: load(work.data, name).codes for name in datasets}
    detection.compute_cells(work, plan, datasets, RATES)
    drawn, density = _densities(work, plan, codes)
    curves, detected, shown = _detection(work, plan, codes)
    counts = _counts(codes["cifar-10"], RATES[-1], plan.seed)
    text = "\n\n".join(
        [
            f"Detection at {RATES[0]:.0%} and {RATES[1]:.0%} wrong labels; a random order has an "
            "AUROC of 0.5 and finds the share that is wrong.",
            detection.rows(shown),
            f"A class of CIFAR-10 at {RATES[-1]:.0%} wrong labels:",
            table(
                ["examples", "paper", "fewest", "most"],
                [[_LABELS[kind], count, *counts[kind]] for kind, count in _PAPER_COUNTS.items()],
            ),
        ]
    )
    compared = [
        Compared(
            f"CIFAR-10, {RATES[-1]:.0%} wrong: share of a class that is {_LABELS[kind]} "
            f"({count:,} of {_PAPER_CLASS_SIZE:,})",
            count / _PAPER_CLASS_SIZE,
            float(np.mean(counts[kind])) / counts["class"],
            "A class is not as large as the paper's (table of counts).",
        )
        for kind, count in _PAPER_COUNTS.items()
    ]
    return Result(
        numbers={"densities": density, "detection": detected, "counts": counts},
        text=text,
        figures={"": drawn, "-2": curves},
        compared=compared,
        not_run=[f"{SOURCES['cifar-100'].title}: {missing_reason}"] if missing_reason else [],
    )


def _densities(
    work: Work, plan: Plan, codes: dict[str, Index]
) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """Whole datasets with right labels (top) and with some wrong (bottom)."""
    figure, grid = panels(2, len(codes), width=3.4)
    numbers = {}
    for (above, below), name in zip(grid.T, codes, strict=True):
        before = estimated(work, shared_runs(plan, name))["cg"]
        among = densities.edges(before)
        right = densities.density(before, among)
        densities.steps(above, right, among, RIGHT, "right labels")
        above.set_title(f"{SOURCES[name].title}: all {len(before):,} right", fontsize=9.5)
        above.set_xlabel("CG-score")
        above.set_ylabel("density")
        after = detection.noisy_dataset(work, plan, name, codes[name], RATE)
        after.draw_density(below)
        numbers[name] = {
            "before": {"from": among[0], "to": among[-1], "right": right},
            "after": after.numbers["density"],
            "auroc": auroc(after.scores["cg"], after.wrong),
        }
    legend_below(figure, grid[1])
    caption = (
        f"Density of the CG-score of whole datasets ({plan.runs} runs of the estimator) before "
        f"(top) and after (bottom) {RATE:.0%} of the labels of every class are made wrong. "
        f"{densities.CLIPPING_NOTE}"
    )
    return (figure, caption), numbers


def _detection(
    work: Work, plan: Plan, codes: dict[str, Index]
) -> tuple[tuple[Figure, str], dict[str, Any], list[detection.Noisy]]:
    """A row of panels for each rate: of each dataset the whole, and what is trained on."""
    figure, grid = panels(len(RATES), 2 * len(codes), width=2.9, height=2.5)
    numbers: dict[str, Any] = {}
    shown: list[detection.Noisy] = []
    for line, rate in zip(grid, RATES, strict=True):
        by_dataset = numbers[f"{rate:.0%}"] = {}
        for pair, name in zip(line.reshape(-1, 2), codes, strict=True):
            parts = {
                "whole": detection.noisy_dataset(work, plan, name, codes[name], rate),
                "trained_on": detection.noisy_subset(work, plan, name, rate),
            }
            for axes, noisy in zip(pair, parts.values(), strict=True):
                noisy.draw_found(axes)
            by_dataset[name] = {part: noisy.curves for part, noisy in parts.items()}
            shown += parts.values()
    legend_below(figure, grid.ravel())
    caption = (
        "Wrong labels found when the highest scores are examined first, with "
        f"{RATES[0]:.0%} (top) and {RATES[1]:.0%} (bottom) wrong. Of each dataset first the whole "
        f"({plan.runs} runs of the estimator), then the examples that networks are trained on, "
        f"scored among themselves. {detection.CURVE_NOTE} {plan.description}"
    )
    return (figure, caption), numbers, shown


def _counts(codes: Index, rate: float, seed: int) -> dict[str, Any]:
    """Fewest and most examples of a given label: right, wrong, and from each other class."""
    k = int(codes.max()) + 1
    given = wrong_labels(codes, rate, seed)
    moved = np.zeros((k, k), int)
    np.add.at(moved, (given, codes), 1)
    other = moved[~np.eye(k, dtype=bool)].reshape(k, k - 1)

    def span(values: Any) -> list[int]:
        return [int(values.min()), int(values.max())]

    return {
        "class": len(codes) // k,
        "right": span(moved.diagonal()),
        "wrong": span(other.sum(axis=1)),
        "from_each_other": span(other),
    }
