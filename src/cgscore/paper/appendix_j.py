"""Appendix J: which of its three terms the CG-score follows."""

from __future__ import annotations

from typing import Any

from cgscore.paper import appendix_a
from cgscore.paper.cells import Work
from cgscore.paper.datasets import SOURCES, missing
from cgscore.paper.figures import SCORES, legend_below, panels
from cgscore.paper.plans import Plan
from cgscore.paper.results import Compared, Result, table
from cgscore.paper.scored import RATIOS, estimated, shared_runs
from cgscore.solvers.audit import rank_correlation

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

_CAUSE = (
    "The paper averages over 10 runs. Fewer leave more of the draws' noise in every term, which "
    "pulls the correlations with the first and the second term down: the table by number of runs."
)
#: Numbers of runs that the table for some images has.
_AFTER = (1, 2, 10, 20)


def make(work: Work, plan: Plan) -> Result:
    """The table and a figure of it."""
    absent = {name: missing(work.data, name) for name in PAPER}
    there = [name for name, why in absent.items() if not why]
    found = {name: _correlations(work, plan, name) for name in there}
    figure, axes = panels(1, len(there), width=4.6, height=3.0)
    for one, name in zip(axes[0], there, strict=True):
        for term, (label, colour) in TERMS.items():
            one.plot(RATIOS, found[name][term], "o-", color=colour, label=label, markersize=4)
            one.plot(RATIOS, PAPER[name][term], "s--", color=colour, markersize=3, alpha=0.6)
        one.plot([], [], "s--", color="#555555", markersize=3, alpha=0.6, label="paper")
        one.axhline(0, color="#555555", lw=0.8)
        one.set(xlabel="others for each of a class", ylabel=f"Spearman, {SOURCES[name].title}")
        one.set(xticks=RATIOS, ylim=(-1, 1.05))
    legend_below(figure, axes[0, :1], columns=2)
    names = " and ".join(SOURCES[name].title for name in there)
    caption = (
        f"Spearman's correlation of the CG-score with each of its terms, all of {names}, by the "
        f"paper's estimator with {plan.runs} runs. Solid: ours; dashed: the paper's."
    )
    head = ["", *(f"1:{ratio}" for ratio in RATIOS)]
    tables = [
        table(
            [SOURCES[name].title, *head[1:]],
            [[label, *found[name][term]] for term, (label, _) in TERMS.items()],
        )
        for name in there
    ]
    text = (
        "The three terms add up to the CG-score: `(alpha - d)^2 / d`, `2 (alpha - d)` and `d`. "
        "Spearman's correlation of each with the sum, by others for each example of a class:\n\n"
        + "\n\n".join(tables)
    )
    some = _by_runs(work, plan) if appendix_a.DATASET in there else {}
    if some:
        text += (
            f"\n\nThe same for {some['examples']:,} images of "
            f"{SOURCES[appendix_a.DATASET].title} (those of appendix A) by the number of runs that "
            "are averaged, and by how pixels are scaled:\n\n"
            + table(
                ["", "term", *head[1:]],
                [
                    [way, label, *at[term]]
                    for way, at in some["ways"].items()
                    for term, (label, _) in TERMS.items()
                ],
            )
        )
    compared = [
        Compared(
            f"{SOURCES[name].title} 1:{ratio}, {label}",
            PAPER[name][term][place],
            found[name][term][place],
            _CAUSE,
        )
        for name in there
        for term, (label, _) in TERMS.items()
        for place, ratio in enumerate(RATIOS)
    ]
    left_out = [f"{SOURCES[name].title}: {why}" for name, why in absent.items() if why]
    numbers: dict[str, Any] = {
        "ratios": list(RATIOS),
        "runs": plan.runs,
        "spearman": found,
        "paper": PAPER,
    }
    numbers["by_runs"] = some
    return Result(numbers, text, {"": (figure, caption)}, compared, left_out)


def _by_runs(work: Work, plan: Plan) -> dict[str, Any]:
    """Correlations of the images of appendix A after some numbers of runs."""
    standardised, raw = work.all(appendix_a.shared_cells(plan), "estimates")
    ways = {}
    for name, found in (("standardised", standardised), ("as they are", raw)):
        for runs in _AFTER:
            if runs <= found["terms"].shape[2]:
                ways[f"{name}, {runs} run{'s' * (runs > 1)}"] = {
                    term: found["terms"][:, place, runs - 1].tolist()
                    for place, term in enumerate(TERMS)
                }
    exact = work(appendix_a.exact_cell(True, plan.seed))
    return {"examples": len(exact["cg"]), "ways": ways}


def _correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """Term -> its rank correlation with the CG-score at every ratio."""
    cells = shared_runs(plan, dataset)
    found: dict[str, list[float]] = {term: [] for term in TERMS}
    for ratio in RATIOS:
        scores = estimated(work, cells, 0.0, ratio)
        for term, values in found.items():
            values.append(rank_correlation(scores[term], scores["cg"]))
    return found
