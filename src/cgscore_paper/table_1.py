"""Table 1: rank correlations of CG and CG' with scores that need training (section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore.training import forgetting
from cgscore.typing import Array
from cgscore_paper import appendix_j, detection
from cgscore_paper.cells import Work
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, c_scores, load, missing
from cgscore_paper.figures import SCORES, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import Compared, Result, table
from cgscore_paper.scores import estimated, shared_runs, subset_cell
from cgscore_paper.trainings import epochs_cell, values

TITLE = "Table 1: rank correlations with scores that need training"

OURS = ("cg", "cg_prime")
OTHERS = ("c_score", "forgetting", "el2n")
DEPENDS = ("cg", "partial", "cg_prime")
SCALING_EXAMPLES, SCALING_RUNS = 10_000, 10  # of `scalings`
RATIOS = SOURCES["cifar-10"].ratios

PAPER = {
    "cifar-10": {
        "cg": {"c_score": 0.557, "forgetting": 0.432, "el2n": 0.365},
        "cg_prime": {"c_score": 0.115, "forgetting": 0.110, "el2n": 0.136},
    },
    "cifar-100": {
        "cg": {"c_score": 0.529, "forgetting": 0.289, "el2n": 0.356},
        "cg_prime": {"c_score": 0.243, "forgetting": 0.090, "el2n": 0.177},
    },
}

_COLOURS = ("#0072b2", "#d55e00")  # of the numbers of runs


def make(work: Work, plan: Plan) -> Result:
    """Correlations on the whole of CIFAR-10 and CIFAR-100 and on the examples trained on."""
    not_run, datasets = [], []
    for name in PAPER:
        reason = missing(work.data, name)
        if reason and name != "cifar-10":
            not_run.append(f"{SOURCES[name].title}: {reason}")
        else:
            datasets.append(name)
    detection.compute_cells(work, plan, datasets, (0.0,))
    numbers: dict[str, Any] = {}
    compared, lines = [], []
    depends: dict[str, Any] = {}
    scaled: dict[str, Any] = {}
    for name in datasets:
        codes, title = load(work.data, name).codes, SOURCES[name].title
        known = c_scores(work.data, name, codes)
        if known is None:
            file = SOURCES[name].c_scores
            not_run.append(f"{title}, C-score: there is no {file} in cscores/ of the data")
        else:
            depends[name] = _depends(work, plan, name, 1 - known)
            scaled[name] = dict(work(scalings_cell(plan, name)).value)
        numbers[name] = by_part = {
            "whole": _whole(work, plan, name, None if known is None else 1 - known),
            "trained_on": _trained_on(work, plan, name, known is not None),
        }
        lines += [
            [f"{title}, paper", None, *_line(PAPER[name])],
            *(
                [f"{title}, {what}", by_part[part]["examples"], *_line(by_part[part])]
                for part, what in (("whole", "whole"), ("trained_on", "trained on"))
            ),
        ]
        compared += _compared(plan, name, by_part)
    with_ridge = dict(work(appendix_j.ridges_cell(plan)).value) if scaled else {}
    numbers |= {"what_it_depends_on": depends, "scalings": scaled, "ridges": with_ridge}
    head = [f"{SCORES[ours][0]}, {SCORES[by][0]}" for ours in OURS for by in OTHERS]
    text = "\n\n".join(
        [
            "Spearman's rank correlation, with the sign as it comes. 1 - C-score, forgetting and "
            "EL2N are high for examples that are hard to learn. So is the CG-score; the CG'-score "
            "is high for examples that are learned fast, and the paper does not say which sign its "
            "numbers for it have.",
            table(["", "examples", *head], lines),
            "What it depends on: rank correlation with 1 - C-score on all examples, by how many "
            "others the estimator draws for each of a class and how many runs it averages over.",
            table(
                ["", "score", *(f"1:{ratio}" for ratio in RATIOS)],
                [
                    [f"{SOURCES[name].title}, {way}", SCORES[by][0], *correlations]
                    for name, ways in depends.items()
                    for way, by_part in ways.items()
                    for by, correlations in by_part.items()
                ],
            ),
            *(_scaling_table(name, by_part) for name, by_part in scaled.items()),
            *([_ridge_table(with_ridge)] if scaled else []),
        ]
    )
    return Result(numbers, text, {"": _figure(plan, numbers)}, compared, not_run)


def _scaling_table(name: str, scaling: dict[str, Any]) -> str:
    rows = [
        [way, *(correlations[by] for by in DEPENDS)]
        for way, correlations in scaling["ways"].items()
    ]
    return (
        f"The same for {scaling['examples']:,} examples of {SOURCES[name].title}, scored among "
        f"themselves at 1:{scaling['ratio']}, by what is done to pixels before rows get unit "
        "norm:\n\n"
    ) + table(["", *(SCORES[by][0] for by in DEPENDS)], rows)


def _ridge_table(with_ridge: dict[str, Any]) -> str:
    rows = [
        [f"ridge {ridge}", *correlations["c_score"]]
        for ridge, correlations in with_ridge["ridges"].items()
    ]
    return (
        f"CG-score and 1 - C-score of {with_ridge['examples']:,} images (those of "
        "appendix A), one run, "
        "with a ridge on the diagonal of the kernel matrix, which the paper does not have:\n\n"
    ) + table(["", *(f"1:{ratio}" for ratio in RATIOS)], rows)


def _whole(work: Work, plan: Plan, name: str, hard: Array | None) -> dict[str, Any]:
    """All examples, with 1 - C-score where it is known."""
    scores = estimated(work, shared_runs(plan, name))
    correlations: dict[str, Any] = {"examples": len(scores["cg"])}
    for ours in OURS:
        correlations[ours] = {} if hard is None else {"c_score": spearman(scores[ours], hard)}
    return correlations


def _trained_on(work: Work, plan: Plan, name: str, published: bool) -> dict[str, Any]:
    """The examples that are trained on, with every other score."""
    scores = work(subset_cell(plan, name))
    others = {by: values(work, plan, name, by) for by in OTHERS if published or by != "c_score"}
    epochs = work(epochs_cell(plan, name))
    correlations: dict[str, Any] = {
        "examples": len(scores["cg"]),
        "cg_and_forgetting_of_one_training": {
            counted: spearman(scores["cg"], forgetting(epochs["correct"], never_learned=counted))
            for counted in ("zero", "last")
        },
    }
    for ours in OURS:
        correlations[ours] = {by: spearman(scores[ours], other) for by, other in others.items()}
    return correlations


def _depends(work: Work, plan: Plan, name: str, hard: Array) -> dict[str, Any]:
    """Correlations of all examples with 1 - C-score, by ratio and number of runs."""
    cells = shared_runs(plan, name)
    ways: dict[str, list[Cell]] = {f"{plan.runs} runs": cells, "1 run": cells[:1]}
    by_runs: dict[str, Any] = {}
    for way, runs in ways.items():
        estimates = [estimated(work, runs, ratio=ratio) for ratio in RATIOS]
        by_runs[way] = {
            by: [spearman(estimate[by], hard) for estimate in estimates] for by in DEPENDS
        }
    return by_runs


@job(
    "estimator.scalings",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0},
    tolerance=1e-3,
)
def scalings(work: Work, dataset: str, seed: int) -> dict[str, Any]:
    """Correlations of some examples with 1 - C-score, by how pixels are scaled and by runs.

    Every example has the paper's ratio of others, and rows get unit norm after all of this.
    """
    images = load(work.data, dataset)
    rng, k = np.random.default_rng([seed, 3]), len(images.names)
    count = min(SCALING_EXAMPLES // k, int(np.bincount(images.codes).min()))
    by_class = [
        rng.choice(np.flatnonzero(images.codes == c), count, replace=False) for c in range(k)
    ]
    rows = np.sort(np.concatenate(by_class))
    published = c_scores(work.data, dataset, images.codes)
    if published is None:
        return {}
    hard, codes = 1 - published[rows], images.codes[rows]
    pixels, raw = images.rows(False), images[rows].rows(False).astype(np.float64)
    ways = {
        "pixels as they are": (raw, SCALING_RUNS),
        "channels standardised": (images.rows(True)[rows], SCALING_RUNS),
        "mean image taken off": (raw - pixels.mean(axis=0), 1),
        "own mean taken off": (raw - raw.mean(axis=1, keepdims=True), 1),
    }
    ratio = SOURCES[dataset].ratio
    scaling: dict[str, Any] = {"examples": len(rows), "ratio": ratio, "ways": {}}
    for way, (X, runs) in ways.items():
        unit, total = unit_rows(X), dict.fromkeys(DEPENDS, np.zeros(len(rows)))
        for run in range(runs):
            estimate = shared_run(unit, codes, [ratio], seed=seed, run=run, progress=work.progress)
            terms = estimate.terms(codes, ratio, work.progress)
            terms["cg"] = terms["first_term"] + terms["partial"] + terms["third_term"]
            total = {by: total[by] + terms[by] for by in DEPENDS}
            if run + 1 in (1, SCALING_RUNS):
                scaling["ways"][f"{way}, {run + 1} run{'s' * (run > 0)}"] = {
                    by: spearman(total[by], hard) for by in DEPENDS
                }
    return scaling


def scalings_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `scalings`."""
    return scalings.cell(dataset=dataset, seed=plan.seed)


def _line(correlations: dict[str, Any]) -> list[float | None]:
    return [correlations[ours].get(by) for ours in OURS for by in OTHERS]


def _compared(plan: Plan, name: str, by_part: dict[str, Any]) -> list[Compared]:
    """The paper's numbers: with 1 - C-score on all examples, with the others where we train."""
    compared = []
    for ours in OURS:
        for by in OTHERS:
            part = by_part["whole" if by == "c_score" else "trained_on"]
            if by not in part[ours]:
                continue
            what = f"{SOURCES[name].title}: {SCORES[ours][0]} and {SCORES[by][0]}"
            cause = _cause(ours, by, plan, by_part["trained_on"])
            compared.append(Compared(what, PAPER[name][ours][by], part[ours][by], cause))
    return compared


def _cause(ours: str, by: str, plan: Plan, part: dict[str, Any]) -> str:
    """Why a number may be apart."""
    if ours == "cg_prime":
        return (
            "CG' is high for what is learned fast, so that a negative sign is expected against "
            "scores that are high for what is hard; the paper prints none. Its size depends on the "
            "ratio and on how pixels are scaled: the table of what it depends on."
        )
    if by == "c_score":
        return (
            "Neither how pixels are scaled nor the number of runs or others makes up for it (the "
            "tables of what it depends on). A small ridge on the kernel matrix goes the right way, "
            "as it does in appendix J: last table."
        )
    cause = f"{SCORES[by][0]} is of our own trainings. {plan.description}"
    if by == "forgetting":
        correlation = part["cg_and_forgetting_of_one_training"]
        cause += (
            " What is never right counts as never forgotten, which few epochs make frequent: in "
            f"one training CG and forgetting have a correlation of {correlation['zero']:.3f}, and "
            f"of {correlation['last']:.3f} if what is never right counts as forgotten most."
        )
    return cause[0].upper() + cause[1:]


def _figure(plan: Plan, numbers: dict[str, Any]) -> tuple[Any, str]:
    """Dots of ours beside the paper's; and the correlation with 1 - C-score by ratio."""
    datasets = [name for name in PAPER if name in numbers]
    depends = numbers["what_it_depends_on"]
    figure, grid = panels(1, len(datasets) + len(depends), width=4.4, height=3.1)
    pairs = [(ours, by) for ours in OURS for by in OTHERS]
    for axes, name in zip(grid[0], datasets, strict=False):
        by_part = numbers[name]
        axes.axhline(0, color="#777777", linewidth=0.8)
        for shift, marker, colour, label, part in (
            (-0.2, "D", "#000000", "paper", PAPER[name]),
            (0.0, "o", "#0072b2", f"all {by_part['whole']['examples']:,}", by_part["whole"]),
            (
                0.2,
                "s",
                "#d55e00",
                f"{by_part['trained_on']['examples']:,} trained on",
                by_part["trained_on"],
            ),
        ):
            at = {x: part[ours][by] for x, (ours, by) in enumerate(pairs) if by in part[ours]}
            x = [place + shift for place in at]
            axes.plot(x, list(at.values()), marker, color=colour, markersize=5, label=label)
        names = [SCORES[by][0] for _, by in pairs]
        axes.set_xticks(range(len(pairs)), names, rotation=30, ha="right")
        axes.axvline(len(OTHERS) - 0.5, color="#777777", linewidth=0.8)
        for place, ours in zip((0.25, 0.75), OURS, strict=True):
            axes.text(
                place,
                1.02,
                SCORES[ours][0],
                transform=axes.transAxes,
                ha="center",
                fontsize=9,
            )
        axes.set_ylabel(f"rank correlation, {SOURCES[name].title}")
        axes.set_ylim(-0.75, 0.75)
        axes.legend(loc="lower left")
    for axes, (name, ways) in zip(grid[0, len(datasets) :], depends.items(), strict=True):
        for (way, correlations), colour in zip(ways.items(), _COLOURS, strict=True):
            for by, style in (("cg", "o-"), ("partial", "s:")):
                label = f"{SCORES[by][0]}, {way}"
                axes.plot(RATIOS, correlations[by], style, color=colour, markersize=4, label=label)
        axes.axhline(
            PAPER[name]["cg"]["c_score"], color="#000000", linestyle="--", label="paper, 1:4"
        )
        axes.set_xticks(RATIOS, [f"1:{ratio}" for ratio in RATIOS])
        axes.set_xlabel("of a class : others drawn")
        axes.set_ylabel(f"correlation with 1 - C-score, {SOURCES[name].title}")
        axes.legend(loc="best")
    caption = (
        "Rank correlations as in the table: the paper's, those of all examples (with published "
        "C-scores), and those of the examples that networks are trained on. Last: the correlation "
        f"with 1 - C-score on all examples by how many others are drawn. {plan.description}"
    )
    return figure, caption
