"""Appendix J: which of its three terms the CG-score follows."""

from __future__ import annotations

from typing import Any

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
    "Correlations of terms that nearly cancel depend on how channels are scaled, which the paper "
    "does not say; here every channel is standardised."
)


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
    numbers = {"ratios": list(RATIOS), "runs": plan.runs, "spearman": found, "paper": PAPER}
    return Result(numbers, text, {"": (figure, caption)}, compared, left_out)


def _correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """Term -> its rank correlation with the CG-score at every ratio."""
    cells = shared_runs(plan, dataset)
    found: dict[str, list[float]] = {term: [] for term in TERMS}
    for ratio in RATIOS:
        scores = estimated(work, cells, 0.0, ratio)
        for term, values in found.items():
            values.append(rank_correlation(scores[term], scores["cg"]))
    return found
