"""Appendix J: which of its three terms the CG-score follows."""

from __future__ import annotations

from typing import Any

from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore_paper import appendix_a
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, c_scores, load, missing
from cgscore_paper.figures import SCORES, legend_below, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import MAX_UNEXPLAINED_DIFFERENCE, Compared, Result, table
from cgscore_paper.scores import RATIOS
from cgscore_paper.whole import estimate_of, summary_of

TITLE = "Appendix J: the CG-score and its three terms"

#: What each is called, and its colour.
TERMS = {
    "first_term": ("first term", "#d55e00"),
    "partial": ("second term (partial)", SCORES["partial"][1]),
    "third_term": ("third term", "#009e73"),
}

#: Images that are scored.
WAYS = {"plain": "images as they are", "augmented": "cropped and mirrored"}

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

#: Ridges of the table for some images.
RIDGES = (0.0, 0.02, 0.05, 0.1)


@job(
    "estimator.ridges",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0},
    tolerance=1e-2,  # correlations near 0: processors differ in their third digit
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
    found = {name: correlations(work, plan, name) for name in datasets}
    shown = {name: ways for name, ways in found.items() if ways}
    not_run = [f"{SOURCES[name].title}: {why}" for name, why in missing_reasons.items() if why]
    not_run += [
        f"{SOURCES[name].title}, {WAYS[way]}"
        for name in datasets
        for way in WAYS
        if way not in found[name]
    ]
    head = [f"1:{ratio}" for ratio in RATIOS]
    tables = [
        table(
            [SOURCES[name].title, "", *head],
            [
                [label, *line]
                for term, (label, _) in TERMS.items()
                for line in (
                    ["paper", *PAPER[name][term]],
                    *([_way(way, of["runs"]), *of[term]] for way, of in ways.items()),
                )
            ],
        )
        for name, ways in shown.items()
    ]
    text = (
        "The three terms add up to the CG-score: `(alpha - d)^2 / d`, `2 (alpha - d)` and `d`. "
        "Spearman's correlation of each with the sum, by others for each example of a class:\n\n"
        + "\n\n".join(
            [*tables, *(line for name, ways in shown.items() if (line := _nearer(name, ways)))]
        )
    )
    figures = {"": (_figure(shown), _CAPTION)} if shown else {}
    subset = if_finished(lambda: _by_runs(work, plan)) if appendix_a.DATASET in datasets else None
    numbers: dict[str, Any] = {"ratios": list(RATIOS), "spearman": found, "paper": PAPER}
    numbers["by_runs"] = subset or {}
    return Result(
        numbers,
        text,
        figures,
        [one for name in PAPER for one in _compared(name, found.get(name, {}))],
        not_run,
        _trials(subset) if subset else "",
    )


_CAPTION = (
    "Spearman's correlation of the CG-score with each of its terms, by the paper's estimator. "
    "Filled: images as they are; open: cropped and mirrored at random, anew in every run; crosses: "
    "the paper."
)


def _way(way: str, runs: int) -> str:
    return f"{WAYS[way]}, {runs} run{'s' * (runs > 1)}"


def correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """For plain and augmented images that are scored: term -> its rank correlation by ratio."""
    ways: dict[str, Any] = {}
    plain = if_finished(lambda: summary_of(work, plan, dataset))
    if plain is not None:
        ways["plain"] = {"runs": plain["runs"], "examples": plain["examples"]} | {
            term: [plain["terms"][str(ratio)][term] for ratio in RATIOS] for term in TERMS
        }
    for way in ("plain", "augmented"):
        estimate = if_finished(lambda way=way: estimate_of(work, plan, dataset, way == "augmented"))  # type: ignore[misc]
        if estimate is None or ways.get(way, {"runs": 0})["runs"] >= estimate[0]:
            continue
        runs, scores = estimate
        ways[way] = {"runs": runs, "examples": len(scores["cg-1"])} | {
            term: [spearman(scores[f"{term}-{ratio}"], scores[f"cg-{ratio}"]) for ratio in RATIOS]
            for term in TERMS
        }
    return ways


def _compared(name: str, ways: dict[str, Any]) -> list[Compared]:
    """The paper's numbers beside ours of images as they are; augmented ones may explain more."""
    of, augmented = ways.get("plain"), ways.get("augmented")
    return [
        Compared(
            f"{SOURCES[name].title} 1:{ratio}, {label}",
            PAPER[name][term][place],
            of[term][place] if of else None,
            _cause(PAPER[name][term][place], augmented and augmented[term][place]),
            f"{of['examples']:,}; {_way('plain', of['runs'])}" if of else "",
        )
        for term, (label, _) in TERMS.items()
        for place, ratio in enumerate(RATIOS)
    ]


def _cause(paper: float, augmented: float | None) -> str:
    """The run that explains a difference, if there is one."""
    if augmented is None or abs(augmented - paper) > MAX_UNEXPLAINED_DIFFERENCE:
        return ""
    return "Scores of cropped and mirrored images agree (row of the table)."


def _nearer(name: str, ways: dict[str, Any]) -> str:
    """Whether terms of augmented images are nearer to the paper's numbers."""
    if not {"plain", "augmented"} <= set(ways):
        return ""
    pairs = [
        [abs(ways[way][term][place] - PAPER[name][term][place]) for way in ("plain", "augmented")]
        for term in TERMS
        for place in range(len(RATIOS))
    ]
    nearer = sum(second < first for first, second in pairs)
    plain, augmented = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return (
        f"{SOURCES[name].title}: cropped and mirrored images are nearer to the paper's in {nearer} "
        f"of {len(pairs)} numbers; the mean distance is {augmented:.3f}, that of images as they "
        f"are {plain:.3f}."
    )


def _figure(shown: dict[str, Any]) -> Any:
    figure, axes = panels(1, len(shown), width=3.9, height=3.0, share_y=True)
    for panel, (name, ways) in zip(axes[0], shown.items(), strict=True):
        for term, (label, colour) in TERMS.items():
            for way, of in ways.items():
                fill = colour if way == "plain" else "white"
                panel.plot(
                    *(RATIOS, of[term], "o-"),
                    color=colour,
                    markerfacecolor=fill,
                    markersize=4.5,
                    label=label if way == next(iter(ways)) else "_",
                )
            panel.plot(RATIOS, PAPER[name][term], "x", color=colour, markersize=6)
        panel.plot([], [], "x", color="#555555", markersize=6, label="paper")
        panel.axhline(0, color="#555555", lw=0.8)
        panel.set(xlabel="others for each of a class", title=SOURCES[name].title)
        panel.set(xticks=RATIOS, ylim=(-1, 1.05))
    axes[0, 0].set_ylabel("rank correlation with the CG-score")
    legend_below(figure, axes[0, :1], columns=4)
    return figure


def _trials(subset: dict[str, Any]) -> str:
    return (
        f"Appendix J for {subset['examples']:,} images of {SOURCES[appendix_a.DATASET].title} "
        "(those of appendix A), by the number of runs, by how pixels are scaled, and with a ridge "
        "on the diagonal of the kernel matrix, of which the paper says nothing:\n\n"
        + table(
            ["", "term", *(f"1:{ratio}" for ratio in RATIOS)],
            [
                [way, label, *at[term]]
                for way, at in subset["ways"].items()
                for term, (label, _) in TERMS.items()
            ],
        )
    )


def _by_runs(work: Work, plan: Plan) -> dict[str, Any]:
    """Correlations of the images of appendix A after some numbers of runs."""
    ways = dict(work(appendix_a.summary_cell(plan))["terms"])
    with_ridge = work(ridges_cell(plan))
    for ridge, at_ridge in with_ridge["ridges"].items():
        if float(ridge):
            ways[f"standardised, 1 run, ridge {ridge}"] = {term: at_ridge[term] for term in TERMS}
    return {"examples": with_ridge["examples"], "ways": ways}
