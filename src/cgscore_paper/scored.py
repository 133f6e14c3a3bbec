"""Cells that need no training: scores of whole datasets and of subsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import score
from cgscore.execution.progress import Silent
from cgscore.kernel import Array, unit_rows
from cgscore_paper.cells import Cell, Work
from cgscore_paper.datasets import SOURCES, Images, load
from cgscore_paper.estimator import TERMS, SharedDraw, draw, sample_size
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan

Index = NDArray[np.intp]

RATES = (0.0, 0.2, 0.5, 0.8)
RATIOS = (1, 2, 3, 4)


def column(name: str, rate: float, ratio: int) -> str:
    """The name of an array of `shared_run`."""
    return f"{name}-{round(100 * rate)}-{ratio}"


def shared_run(work: Work, dataset: str, standardised: bool, seed: int, run: int) -> dict[str, Any]:
    """One run of the paper's estimator for a whole dataset.

    Every rate of wrong labels at the paper's ratio; right labels at its other ratios, too.
    """
    images = load(work.data, dataset)
    n, k, most = len(images), len(images.names), SOURCES[dataset].ratio
    sizes = {ratio: sample_size(n, k, ratio) for ratio in SOURCES[dataset].ratios}
    rows = unit_rows(images.rows(standardised))
    drawn = draw(images.codes, list(sizes.values()), np.random.default_rng([seed, run]))
    made = SharedDraw.make(rows, drawn, work.progress)
    found: dict[str, Any] = {}
    for rate in RATES:
        given = wrong_labels(images.codes, rate, seed)
        for ratio in sizes if rate == 0 else (most,):
            terms = made.score(given, sizes[ratio], work.progress)
            found |= {column(name, rate, ratio): terms[name] for name in TERMS}
    return found


def shared_runs(plan: Plan, dataset: str) -> list[Cell]:
    """The cells of the estimator for a whole dataset."""
    how = SOURCES[dataset].standardised
    told = {"dataset": dataset, "standardised": how, "seed": plan.seed}
    return [Cell("scored.shared_run", {**told, "run": run}, alone=True) for run in range(plan.runs)]


def estimated(
    work: Work, cells: list[Cell], rate: float = 0.0, ratio: int | None = None
) -> dict[str, Array]:
    """Means over runs: ``cg``, its three terms and ``cg_prime`` of every example."""
    most = SOURCES[str(cells[0].options["dataset"])].ratio
    runs = work.all(cells, "estimator")
    found = {
        name: np.mean([run[column(name, rate, ratio or most)] for run in runs], axis=0)
        for name in TERMS
    }
    found["cg"] = found["first_term"] + found["partial"] + found["third_term"]
    return found


def chosen(plan: Plan, codes: Index) -> Index:
    """The examples that are trained on, as many of every class; all if the plan says none."""
    if plan.examples is None or plan.examples >= len(codes):
        return np.arange(len(codes))
    k = int(codes.max()) + 1
    rng = np.random.default_rng([plan.seed, 1])
    some = [
        rng.choice(np.flatnonzero(codes == c), plan.examples // k, replace=False) for c in range(k)
    ]
    return np.sort(np.concatenate(some))


def subset(plan: Plan, work: Work, dataset: str) -> tuple[Index, Images]:
    """Positions and images of what is trained on, at their full size."""
    images = load(work.data, dataset)
    rows = chosen(plan, images.codes)
    return rows, images[rows]


def subset_scores(work: Work, plan: str, dataset: str, rate: float, seed: int) -> dict[str, Any]:
    """Scores of the examples that are trained on, by the paper's estimator on them alone.

    Beside ``cg``, its terms and ``cg_prime``: exact and iterative scores, and with automatic ridge
    ``cg``, ``margin`` and label scores.
    """
    made = Plan.named(plan, seed)
    _, images = subset(made, work, dataset)
    source = SOURCES[dataset]
    X, given = images.rows(source.standardised), wrong_labels(images.codes, rate, seed)
    size = sample_size(len(images), len(images.names), source.ratio)
    rows, total = unit_rows(X), dict.fromkeys(TERMS, np.zeros(len(images)))
    for run in range(made.subset_runs):
        drawn = draw(images.codes, [size], np.random.default_rng([seed, run]))
        terms = SharedDraw.make(rows, drawn, Silent()).score(given, size, Silent())
        total = {name: total[name] + terms[name] for name in TERMS}
    found: dict[str, Any] = {name: total[name] / made.subset_runs for name in TERMS}
    found["cg"] = found["first_term"] + found["partial"] + found["third_term"]
    for method in ("exact", "iterative"):
        table = score(X, given, method=method, progress=False).table
        found[f"{method}_cg"] = table["cg"].to_numpy()
        found[f"{method}_partial"] = table["partial"].to_numpy()
    ours = score(X, given, ridge="auto", progress=False)
    issues = ours.label_issues()
    found["ridge_cg"] = ours.table["cg"].to_numpy()
    found["ridge_margin"] = ours.table["margin"].to_numpy()
    found["posterior"] = issues["label_score"].to_numpy()
    found["flagged"] = issues["is_label_issue"].to_numpy()
    found["given"] = given
    found["ridge"] = float(ours.meta["ridge"])
    return found


def subset_cell(plan: Plan, dataset: str, rate: float = 0.0) -> Cell:
    """The cell of `subset_scores`."""
    told = {"plan": plan.name, "dataset": dataset, "rate": rate, "seed": plan.seed}
    return Cell("scored.subset_scores", told, alone=True)
