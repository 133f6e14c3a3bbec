"""Appendix J: which of its three terms the CG-score follows."""

from __future__ import annotations

from typing import Any

from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore_paper import appendix_a
from cgscore_paper.cells import Work
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, c_scores, load, missing
from cgscore_paper.figures import SCORES, legend_below, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import Compared, Result, table
from cgscore_paper.scores import RATIOS, estimated, shared_runs

TITLE = "Appendix J: the CG-score and its three terms"

#: What each is called, and its colour.
TERMS = {
    "first_term": ("first term", "#d55e00"),
    "partial": ("second term (partial)", SCORES["partial"][1]),
    "third_term": ("third term", "#009e73"),
}

#: The paper's, for ratios 1 to 4.
PAPER = {
    "cifar-10": {
        "first_term": (-0.759, -0.461, -0.136, 0.132),
        "partial": (0.912, 0.948, 0.962, 0.970),
        "third_term": (-0.015, 0.066, 0.121, 0.163),
    },
    "cifar-100": {
        "first_term": (-0.671, -0.296, 0.035, 0.264),
        "partial": (0.902, 0.939, 0.955, 0.964),
        "third_term": (-0.069, 0.018, 0.087, 0.136),
    },
}

#: Numbers of runs that the table for some images has, and ridges.
_TABLE_RUNS = (1, 2, 10, 20)
RIDGES = (0.0, 0.02, 0.05, 0.1)


@job(
    "estimator.ridges",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0},
    tolerance=1e-3,
)
def ridges(work: Work, dataset: str, seed: int) -> dict[str, Any]:
    """Correlations of the images of appendix A with a ridge on the kernel matrix, in one run.

    Of the score with its terms at every ratio, and with 1 - C-score where that is known.
    """
    images = load(work.data, dataset)
    positions = appendix_a.positions(images.codes, seed)
    published = c_scores(work.data, dataset, images.codes)
    rows, codes = unit_rows(images.rows(True)[positions]), images.codes[positions]
    by_ridge: dict[str, Any] = {}
    for ridge in RIDGES:
        estimate = shared_run(
            rows, codes, RATIOS, seed=seed, run=0, ridge=ridge, progress=work.progress
        )
        correlations: dict[str, list[float]] = {name: [] for name in (*TERMS, "c_score")}
        for ratio in RATIOS:
            terms = estimate.terms(codes, ratio, work.progress)
            cg = terms["first_term"] + terms["partial"] + terms["third_term"]
            for term in TERMS:
                correlations[term].append(spearman(terms[term], cg))
            if published is not None:
                correlations["c_score"].append(spearman(cg, 1 - published[positions]))
        by_ridge[f"{ridge:g}"] = correlations
    return {"examples": len(codes), "ridges": by_ridge}


def ridges_cell(plan: Plan) -> Cell:
    """The cell of `ridges`."""
    return ridges.cell(dataset=appendix_a.DATASET, seed=plan.seed)


def make(work: Work, plan: Plan) -> Result:
    """The table and a figure of it."""
    missing_reasons = {name: missing(work.data, name) for name in PAPER}
    datasets = [name for name, why in missing_reasons.items() if not why]
    correlations = {name: _correlations(work, plan, name) for name in datasets}
    figure, axes = panels(1, len(datasets), width=4.6, height=3.0)
    for panel, name in zip(axes[0], datasets, strict=True):
        for term, (label, colour) in TERMS.items():
            panel.plot(
                RATIOS, correlations[name][term], "o-", color=colour, label=label, markersize=4
            )
            panel.plot(RATIOS, PAPER[name][term], "s--", color=colour, markersize=3, alpha=0.6)
        panel.plot([], [], "s--", color="#555555", markersize=3, alpha=0.6, label="paper")
        panel.axhline(0, color="#555555", lw=0.8)
        panel.set(xlabel="others for each of a class", ylabel=f"Spearman, {SOURCES[name].title}")
        panel.set(xticks=RATIOS, ylim=(-1, 1.05))
    legend_below(figure, axes[0, :1], columns=2)
    names = " and ".join(SOURCES[name].title for name in datasets)
    caption = (
        f"Spearman's correlation of the CG-score with each of its terms, all of {names}, by the "
        f"paper's estimator with {plan.runs} runs. Solid: ours; dashed: the paper's."
    )
    head = ["", *(f"1:{ratio}" for ratio in RATIOS)]
    tables = [
        table(
            [SOURCES[name].title, *head[1:]],
            [[label, *correlations[name][term]] for term, (label, _) in TERMS.items()],
        )
        for name in datasets
    ]
    text = (
        "The three terms add up to the CG-score: `(alpha - d)^2 / d`, `2 (alpha - d)` and `d`. "
        "Spearman's correlation of each with the sum, by others for each example of a class:\n\n"
        + "\n\n".join(tables)
    )
    subset = _by_runs(work, plan) if appendix_a.DATASET in datasets else {}
    if subset:
        text += (
            f"\n\nThe same for {subset['examples']:,} images of "
            f"{SOURCES[appendix_a.DATASET].title} (those of appendix A) by the number of runs that "
            "are averaged, by how pixels are scaled, and by a ridge on the diagonal of the kernel "
            "matrix, which the paper does not have:\n\n"
            + table(
                ["", "term", *head[1:]],
                [
                    [way, label, *at[term]]
                    for way, at in subset["ways"].items()
                    for term, (label, _) in TERMS.items()
                ],
            )
        )
    cause = (
        "Not the number of runs, nor the scaling of pixels; a small ridge on the kernel matrix, of "
        "which the paper says nothing, moves the terms towards the paper's numbers: the rows with "
        "a ridge in the table of some images."
    )
    compared = [
        Compared(
            f"{SOURCES[name].title} 1:{ratio}, {label}",
            PAPER[name][term][place],
            correlations[name][term][place],
            cause,
        )
        for name in datasets
        for term, (label, _) in TERMS.items()
        for place, ratio in enumerate(RATIOS)
    ]
    left_out = [f"{SOURCES[name].title}: {why}" for name, why in missing_reasons.items() if why]
    numbers: dict[str, Any] = {
        "ratios": list(RATIOS),
        "runs": plan.runs,
        "spearman": correlations,
        "paper": PAPER,
    }
    numbers["by_runs"] = subset
    return Result(numbers, text, {"": (figure, caption)}, compared, left_out)


def _by_runs(work: Work, plan: Plan) -> dict[str, Any]:
    """Correlations of the images of appendix A after some numbers of runs."""
    standardised, raw = work.all(appendix_a.shared_cells(plan), "estimates")
    ways = {}
    for name, result in (("standardised", standardised), ("as they are", raw)):
        for runs in _TABLE_RUNS:
            if runs <= result["terms"].shape[2]:
                ways[f"{name}, {runs} run{'s' * (runs > 1)}"] = {
                    term: result["terms"][:, place, runs - 1].tolist()
                    for place, term in enumerate(TERMS)
                }
    with_ridge = work(ridges_cell(plan))
    for ridge, correlations in with_ridge["ridges"].items():
        if float(ridge):
            ways[f"standardised, 1 run, ridge {ridge}"] = {
                term: correlations[term] for term in TERMS
            }
    return {"examples": with_ridge["examples"], "ways": ways}


def _correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """Term -> its rank correlation with the CG-score at every ratio."""
    cells = shared_runs(plan, dataset)
    correlations: dict[str, list[float]] = {term: [] for term in TERMS}
    for ratio in RATIOS:
        scores = estimated(work, cells, 0.0, ratio)
        for term, values in correlations.items():
            values.append(spearman(scores[term], scores["cg"]))
    return correlations
