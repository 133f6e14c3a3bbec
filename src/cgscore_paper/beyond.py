"""Beyond the paper: its detection and pruning experiments with the scores that it does not have.

Exact and iterative scores, the automatic ridge, the margin of leave-one-out predictions and the
label score, beside the paper's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore_paper import detection_curve
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, missing
from cgscore_paper.figures import SCORES, curve, legend_below, panels
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import WITHOUT_TRAINING, accuracy_cells, examples_cell, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Beyond the paper: ridge, margin, label score, exact and iterative scores"

DATASETS = ("fashion-mnist", "cifar-10")
RATES = (0.2, 0.5, 0.8)
EVERY = 5  # per cent, of the points of a curve

#: Panels of pruning: share of wrong labels, what is dropped first, scores.
PRUNED: Mapping[str, tuple[float, str, tuple[str, ...]]] = {
    "low": (0.0, "low-first", ("cg", "exact_cg", "ridge_cg", "ridge_margin")),
    "high": (0.0, "high-first", ("cg", "exact_cg", "ridge_cg", "ridge_margin")),
    "wrong": (0.2, "high-first", ("cg", "ridge_margin", "posterior")),
}
_SHOWN = {
    "low": "lowest dropped first",
    "high": "highest dropped first",
    "wrong": "20 % wrong, highest first",
}
#: Columns of the table of detection.
_MEASURES = {"auroc": "AUROC", "average_precision": "average precision", "found": "found"}


def make(work: Work, plan: Plan) -> Result:
    """Detection on the examples that are trained on, then pruning."""
    absent = {name: missing(work.data, name) for name in DATASETS}
    there = [name for name in DATASETS if absent[name] is None] or list(DATASETS)
    work.all([examples_cell(plan, name) for name in there], "examples")
    work.all([subset_cell(plan, name, rate) for name in there for rate in (0.0, *RATES)], "scores")
    found = {name: _detection(work, plan, name) for name in there}
    pruned = _pruning(work, plan, there)
    examples = {name: len(work(examples_cell(plan, name))["own"]) for name in there}
    text = "\n\n".join(
        [
            "None of this is in the paper. How well each score finds wrong labels; "
            '"found" is the share of the wrong labels among as many of the highest examples:',
            *(_detection_table(name, found[name], examples[name]) for name in there),
            "Labels that `label_issues()` flags, with the automatic ridge and no share of wrong "
            "labels given:",
            _flagged_table(found),
            "Accuracy after training on what is kept, by what is dropped first and how much is "
            "kept; labels are right where nothing else is said:",
            *(_pruning_table(name, pruned[name]) for name in there),
        ]
    )
    counts = ", ".join(f"{examples[name]:,} examples of {SOURCES[name].title}" for name in there)
    figures = {
        "": (
            _detection_figure(found),
            f"Beyond the paper. Wrong labels found when examples are looked at from the highest "
            f"score down ({counts}; the estimator, CG and partial, with {plan.subset_runs} runs). "
            "Margin and label score are taken with the opposite sign, so that suspicious is high. "
            "The oracle sees the wrong labels first.",
        ),
        "-2": (
            _pruning_figure(pruned, plan),
            f"Beyond the paper. Test accuracy after training on what is kept, the same share of "
            f"every class; trainings for each point: {plan.appendix_repeats}. {plan.description}",
        ),
    }
    return Result(
        {"examples": examples, "detection": found, "pruning": pruned},
        text,
        figures,
        not_run=[
            f"{SOURCES[name].title}: {absent[name]}" for name in DATASETS if name not in there
        ],
    )


def _detection(work: Work, plan: Plan, name: str) -> dict[str, Any]:
    codes = work(examples_cell(plan, name))["own"]
    found: dict[str, Any] = {}
    for rate in RATES:
        wrong = wrong_labels(codes, rate, plan.seed) != codes
        flagged = work(subset_cell(plan, name, rate))["flagged"]
        hit = int((flagged & wrong).sum())
        scores = {}
        for by in WITHOUT_TRAINING:
            score = values(work, plan, name, by, rate)
            scores[by] = {
                "auroc": detection_curve.auroc(score, wrong),
                "average_precision": detection_curve.average_precision(score, wrong),
                "found": detection_curve.found_at_count(score, wrong),
                "curve": detection_curve.found(score, wrong)[::EVERY],
            }
        found[str(round(100 * rate))] = {
            "scores": scores,
            "flagged": {
                "count": int(flagged.sum()),
                "wrong": int(wrong.sum()),
                "precision": hit / flagged.sum() if flagged.any() else None,
                "recall": hit / wrong.sum(),
            },
        }
    return found


def _pruning(work: Work, plan: Plan, there: Sequence[str]) -> dict[str, Any]:
    """Accuracies: dataset, panel, score, kept share, trainings."""
    kept, repeats = plan.kept[::2], plan.appendix_repeats
    cells = {}
    for name in there:
        for panel, (rate, order, scores) in PRUNED.items():
            for share in kept:
                for by in scores:
                    cells[name, panel, by, share] = accuracy_cells(
                        plan, name, by, rate=rate, order=order, fraction=share, repeats=repeats
                    )
                cells[name, panel, "random", share] = accuracy_cells(
                    plan, name, "random", rate=rate, fraction=share, repeats=repeats
                )
            cells[name, panel, "full", 1.0] = accuracy_cells(
                plan, name, "full", rate=rate, repeats=repeats
            )
    work.all([cell for some in cells.values() for cell in some], "pruning")
    found: dict[str, Any] = {name: {panel: {} for panel in PRUNED} for name in there}
    for (name, panel, by, share), some in cells.items():
        accuracies = [one["accuracy"] for one in work.all(some)]
        found[name][panel].setdefault(by, {})[f"{share:g}"] = accuracies
    return found


def _detection_table(name: str, found: Mapping[str, Any], examples: int) -> str:
    head = [
        f"{SOURCES[name].title}, {examples:,} examples",
        *(f"{shown}, {rate} %" for shown in _MEASURES.values() for rate in found),
    ]
    rows = [
        [SCORES[by][0], *(found[rate]["scores"][by][one] for one in _MEASURES for rate in found)]
        for by in WITHOUT_TRAINING
    ]
    return table(head, rows)


def _flagged_table(found: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{SOURCES[name].title}, {rate} %",
            *(one["flagged"][key] for key in ("wrong", "count", "precision", "recall")),
        ]
        for name, rates in found.items()
        for rate, one in rates.items()
    ]
    return table(["", "wrong", "flagged", "precision", "recall"], rows)


def _pruning_table(name: str, found: Mapping[str, Any]) -> str:
    shares = list(found["low"]["random"])
    head = [
        SOURCES[name].title,
        *(f"{_SHOWN[panel]}: {float(share):.0%}" for panel in PRUNED for share in shares),
    ]
    scores = dict.fromkeys(by for _, _, some in PRUNED.values() for by in some)
    rows = []
    for by in (*scores, "random", "full"):
        # all examples are kept whatever the share is
        points = [found[panel].get(by, {}) for panel in PRUNED for _ in shares]
        wanted = ["1"] * len(points) if by == "full" else shares * len(PRUNED)
        rows.append(
            [
                SCORES[by][0],
                *(
                    float(np.mean(some[share])) if some else None
                    for some, share in zip(points, wanted, strict=True)
                ),
            ]
        )
    return table(head, rows)


def _detection_figure(found: Mapping[str, Any]) -> Figure:
    figure, grid = panels(len(found), len(RATES), width=3.1, height=2.6)
    x = np.arange(0, 101, EVERY)
    for row, (name, rates) in zip(grid, found.items(), strict=True):
        for axes, (rate, one) in zip(row, rates.items(), strict=True):
            axes.plot(
                [0, int(rate), 100], [0, 1, 1], ":", color=SCORES["oracle"][1], label="oracle"
            )
            for by, measured in one["scores"].items():
                label, colour = SCORES[by]
                # the iterative score lies on the exact one: both are to be seen
                how = {"exact_cg": ("-", 2.4), "iterative_cg": ("--", 1.3)}.get(by, ("-", 1.3))
                axes.plot(x, measured["curve"], how[0], linewidth=how[1], color=colour, label=label)
            axes.set_title(f"{SOURCES[name].title}, {rate} % wrong")
            axes.set(xlabel="examples looked at (%)", ylabel="wrong labels found (share)")
            axes.label_outer()
    legend_below(figure, grid[0, :1], columns=4)
    return figure


def _pruning_figure(found: Mapping[str, Any], plan: Plan) -> Figure:
    figure, grid = panels(len(found), len(PRUNED), width=3.1, height=2.6)
    for row, (name, panes) in zip(grid, found.items(), strict=True):
        for axes, (panel, scores) in zip(row, panes.items(), strict=True):
            full = float(np.mean(scores["full"]["1"]))
            label, colour = SCORES["full"]
            axes.axhline(full, linestyle=":", color=colour, label=label)
            for by, points in scores.items():
                if by != "full":
                    x = [100.0, *(100 * float(share) for share in points)]
                    curve(axes, x, [scores["full"]["1"], *points.values()], by)
            axes.set_title(f"{SOURCES[name].title}\n{_SHOWN[panel]}")
            axes.set(xlabel="examples kept (%)", ylabel="test accuracy")
            axes.set_xticks([100, *(100 * share for share in plan.kept[::2])])
    legend_below(figure, grid.ravel(), columns=4)
    return figure
