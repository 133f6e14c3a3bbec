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
CURVE_STEP = 5  # per cent, of the points of a curve

#: Panels of pruning: share of wrong labels, what is dropped first, scores.
PRUNED: Mapping[str, tuple[float, str, tuple[str, ...]]] = {
    "low": (0.0, "low-first", ("cg", "exact_cg", "ridge_cg", "ridge_margin")),
    "high": (0.0, "high-first", ("cg", "exact_cg", "ridge_cg", "ridge_margin")),
    "wrong": (0.2, "high-first", ("cg", "ridge_margin", "posterior")),
}
_PANEL_TITLES = {
    "low": "lowest dropped first",
    "high": "highest dropped first",
    "wrong": "20 % wrong, highest first",
}
#: Columns of the table of detection.
_MEASURES = {"auroc": "AUROC", "average_precision": "average precision", "found": "found"}


def make(work: Work, plan: Plan) -> Result:
    """Detection on the examples that are trained on, then pruning."""
    missing_reasons = {name: missing(work.data, name) for name in DATASETS}
    datasets = [name for name in DATASETS if missing_reasons[name] is None] or list(DATASETS)
    work.all([examples_cell(plan, name) for name in datasets], "examples")
    work.all(
        [subset_cell(plan, name, rate) for name in datasets for rate in (0.0, *RATES)], "scores"
    )
    detected = {name: _detection(work, plan, name) for name in datasets}
    pruned = _pruning(work, plan, datasets)
    examples = {name: len(work(examples_cell(plan, name))["own"]) for name in datasets}
    text = "\n\n".join(
        [
            "None of this is in the paper. How well each score finds wrong labels; "
            '"found" is the share of the wrong labels among as many of the highest examples:',
            *(_detection_table(name, detected[name], examples[name]) for name in datasets),
            "Labels that `label_issues()` flags, with the automatic ridge and no share of wrong "
            "labels given:",
            _flagged_table(detected),
            "Accuracy after training on what is kept, by what is dropped first and how much is "
            "kept; labels are right where nothing else is said:",
            *(_pruning_table(name, pruned[name]) for name in datasets),
        ]
    )
    counts = ", ".join(f"{examples[name]:,} examples of {SOURCES[name].title}" for name in datasets)
    figures = {
        "": (
            _detection_figure(detected),
            f"Beyond the paper. Wrong labels found when examples are looked at from the highest "
            f"score down ({counts}; the estimator, CG and partial, with {plan.subset_runs} runs). "
            "Margin and label score are taken with the opposite sign, so that suspicious is high. "
            "The oracle sees the wrong labels first.",
        ),
        "-2": (
            _pruning_figure(pruned, plan),
            f"Beyond the paper. Test accuracy after training on what is kept, the same share of "
            f"every class; trainings for each point: {plan.appendix_repeats}.",
        ),
    }
    return Result(
        {"examples": examples, "detection": detected, "pruning": pruned},
        text,
        figures,
        not_run=[
            f"{SOURCES[name].title}: {missing_reasons[name]}"
            for name in DATASETS
            if name not in datasets
        ],
    )


def _detection(work: Work, plan: Plan, name: str) -> dict[str, Any]:
    codes = work(examples_cell(plan, name))["own"]
    by_rate: dict[str, Any] = {}
    for rate in RATES:
        wrong = wrong_labels(codes, rate, plan.seed) != codes
        flagged = work(subset_cell(plan, name, rate))["flagged"]
        hits = int((flagged & wrong).sum())
        scores = {}
        for by in WITHOUT_TRAINING:
            score = values(work, plan, name, by, rate)
            scores[by] = {
                "auroc": detection_curve.auroc(score, wrong),
                "average_precision": detection_curve.average_precision(score, wrong),
                "found": detection_curve.found_at_count(score, wrong),
                "curve": detection_curve.found_shares(score, wrong)[::CURVE_STEP],
            }
        by_rate[str(round(100 * rate))] = {
            "scores": scores,
            "flagged": {
                "count": int(flagged.sum()),
                "wrong": int(wrong.sum()),
                "precision": hits / flagged.sum() if flagged.any() else None,
                "recall": hits / wrong.sum(),
            },
        }
    return by_rate


def _pruning(work: Work, plan: Plan, datasets: Sequence[str]) -> dict[str, Any]:
    """Accuracies: dataset, panel, score, kept share, trainings."""
    shares, repeats = plan.kept[::2], plan.appendix_repeats
    cells = {}
    for name in datasets:
        for panel, (rate, order, scores) in PRUNED.items():
            for share in shares:
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
    work.all([cell for trainings in cells.values() for cell in trainings], "pruning")
    accuracies_of: dict[str, Any] = {name: {panel: {} for panel in PRUNED} for name in datasets}
    for (name, panel, by, share), trainings in cells.items():
        accuracies = [training["accuracy"] for training in work.all(trainings)]
        accuracies_of[name][panel].setdefault(by, {})[f"{share:g}"] = accuracies
    return accuracies_of


def _detection_table(name: str, detected: Mapping[str, Any], examples: int) -> str:
    head = [
        f"{SOURCES[name].title}, {examples:,} examples",
        *(f"{title}, {rate} %" for title in _MEASURES.values() for rate in detected),
    ]
    rows = [
        [
            SCORES[by][0],
            *(detected[rate]["scores"][by][measure] for measure in _MEASURES for rate in detected),
        ]
        for by in WITHOUT_TRAINING
    ]
    return table(head, rows)


def _flagged_table(detected: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{SOURCES[name].title}, {rate} %",
            *(at_rate["flagged"][key] for key in ("wrong", "count", "precision", "recall")),
        ]
        for name, rates in detected.items()
        for rate, at_rate in rates.items()
    ]
    return table(["", "wrong", "flagged", "precision", "recall"], rows)


def _pruning_table(name: str, accuracies: Mapping[str, Any]) -> str:
    shares = list(accuracies["low"]["random"])
    head = [
        SOURCES[name].title,
        *(f"{_PANEL_TITLES[panel]}: {float(share):.0%}" for panel in PRUNED for share in shares),
    ]
    scores = dict.fromkeys(by for _, _, at_share in PRUNED.values() for by in at_share)
    rows = []
    for by in (*scores, "random", "full"):
        # all examples are kept whatever the share is
        points = [accuracies[panel].get(by, {}) for panel in PRUNED for _ in shares]
        wanted = ["1"] * len(points) if by == "full" else shares * len(PRUNED)
        rows.append(
            [
                SCORES[by][0],
                *(
                    float(np.mean(at_share[share])) if at_share else None
                    for at_share, share in zip(points, wanted, strict=True)
                ),
            ]
        )
    return table(head, rows)


def _detection_figure(detected: Mapping[str, Any]) -> Figure:
    figure, grid = panels(len(detected), len(RATES), width=3.1, height=2.6)
    x = np.arange(0, 101, CURVE_STEP)
    for row, (name, rates) in zip(grid, detected.items(), strict=True):
        for axes, (rate, at_rate) in zip(row, rates.items(), strict=True):
            axes.plot(
                [0, int(rate), 100], [0, 1, 1], ":", color=SCORES["oracle"][1], label="oracle"
            )
            for by, measured in at_rate["scores"].items():
                label, colour = SCORES[by]
                # the iterative score lies on the exact one: both are to be seen
                line_style = {"exact_cg": ("-", 2.4), "iterative_cg": ("--", 1.3)}.get(
                    by, ("-", 1.3)
                )
                axes.plot(
                    x,
                    measured["curve"],
                    line_style[0],
                    linewidth=line_style[1],
                    color=colour,
                    label=label,
                )
            axes.set_title(f"{SOURCES[name].title}, {rate} % wrong")
            axes.set(xlabel="examples looked at (%)", ylabel="wrong labels found (share)")
            axes.label_outer()
    legend_below(figure, grid[0, :1], columns=4)
    return figure


def _pruning_figure(accuracies: Mapping[str, Any], plan: Plan) -> Figure:
    figure, grid = panels(len(accuracies), len(PRUNED), width=3.1, height=2.6)
    for row, (name, by_panel) in zip(grid, accuracies.items(), strict=True):
        for axes, (panel, scores) in zip(row, by_panel.items(), strict=True):
            full = float(np.mean(scores["full"]["1"]))
            label, colour = SCORES["full"]
            axes.axhline(full, linestyle=":", color=colour, label=label)
            for by, points in scores.items():
                if by != "full":
                    x = [100.0, *(100 * float(share) for share in points)]
                    curve(axes, x, [scores["full"]["1"], *points.values()], by)
            axes.set_title(f"{SOURCES[name].title}\n{_PANEL_TITLES[panel]}")
            axes.set(xlabel="examples kept (%)", ylabel="test accuracy")
            axes.set_xticks([100, *(100 * share for share in plan.kept[::2])])
    legend_below(figure, grid.ravel(), columns=4)
    return figure
