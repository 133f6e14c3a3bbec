"""Jobs that score without training: whole datasets, and the training subset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore import score
from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import TERMS, average_terms
from cgscore.solvers.sampled.shared_draws import shared_run as run_estimator
from cgscore.typing import Array, Index
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, Images, load
from cgscore_paper.jobs import Cell, job
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan

RATES = (0.0, 0.2, 0.5, 0.8)
RATIOS = (1, 2, 3, 4)


def column(name: str, rate: float, ratio: int) -> str:
    """The name of an array in the result of `shared_run`."""
    return f"{name}-{round(100 * rate)}-{ratio}"


@job(
    "scores.shared_run",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "standardised": True, "seed": 0, "run": 0},
    tolerance=1e-3,
)
def shared_run(work: Work, dataset: str, standardised: bool, seed: int, run: int) -> dict[str, Any]:
    """One run of the paper's estimator for a whole dataset.

    At the paper's ratio for every rate of wrong labels, and at its other ratios for right labels.
    """
    images = load(work.data, dataset)
    return _run_columns(work, images, images.rows(standardised), dataset, RATES, seed, run)


def _run_columns(
    work: Work,
    images: Images,
    pixels: NDArray[Any],
    dataset: str,
    rates: Sequence[float],
    seed: int,
    run: int,
) -> dict[str, Any]:
    """`TERMS` of all images in one run, from their rows of pixels.

    The estimator takes no copies: one of an earlier image gets the terms of that image.
    """
    source = SOURCES[dataset]
    kept, place = originals(pixels)
    estimate = run_estimator(
        unit_rows(pixels if len(kept) == len(images) else pixels[kept]),
        images.codes[kept],
        source.ratios,
        seed=seed,
        run=run,
        progress=work.progress,
    )
    columns: dict[str, Any] = {}
    for rate in rates:
        given = wrong_labels(images.codes, rate, seed)[kept]
        for ratio in source.ratios if rate == 0 else (source.ratio,):
            terms = estimate.terms(given, ratio, work.progress)
            columns |= {column(name, rate, ratio): terms[name][place] for name in TERMS}
    return columns


def originals(pixels: NDArray[Any]) -> tuple[Index, Index]:
    """Positions of rows that copy no earlier row, and for every row which of them it equals."""
    flat = np.ascontiguousarray(pixels)
    whole = flat.view(np.dtype((np.void, flat.itemsize * flat.shape[1])))[:, 0]
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    kept = np.sort(first)
    return kept, np.searchsorted(kept, first[inverse])


def shared_runs(plan: Plan, dataset: str) -> list[Cell]:
    """The cells of `shared_run` for a whole dataset."""
    return [
        shared_run.cell(
            dataset=dataset,
            standardised=SOURCES[dataset].standardised,
            seed=plan.seed,
            run=run,
        )
        for run in range(plan.runs)
    ]


@job(
    "scores.augmented_run",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0, "run": 0},
    tolerance=1e-3,
)
def augmented_run(work: Work, dataset: str, seed: int, run: int) -> dict[str, Any]:
    """One run of the paper's estimator on images that are cropped and mirrored at random.

    As `shared_run` does for right labels, with other crops in every run.
    """
    images = load(work.data, dataset)
    augmented = images.augmented(np.random.default_rng([seed, 3, run]))
    pixels = augmented.rows(SOURCES[dataset].standardised, like=images)
    columns = _run_columns(work, augmented, pixels, dataset, (0.0,), seed, run)
    return {name: values.astype(np.float32) for name, values in columns.items()}


def estimated(
    work: Work, cells: list[Cell], rate: float = 0.0, ratio: int | None = None
) -> dict[str, Array]:
    """Means over runs: ``cg``, its three terms and ``cg_prime`` of every example."""
    largest = SOURCES[str(cells[0].options["dataset"])].ratio
    runs = work.all(cells, "estimator")
    means = {
        name: np.mean([run[column(name, rate, ratio or largest)] for run in runs], axis=0)
        for name in TERMS
    }
    means["cg"] = means["first_term"] + means["partial"] + means["third_term"]
    return means


@job(
    "scores.exact",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10"},
    tolerance=1e-3,
)
def exact_scores(work: Work, dataset: str) -> dict[str, Any]:
    """Exact scores of all examples of a dataset, from pixels as they are."""
    images = load(work.data, dataset)
    table = score(
        images.rows(False), images.codes, method="exact", judge=False, progress=False
    ).table
    return {name: table[name].to_numpy(np.float32) for name in ("cg", "partial", "margin")}


def exact_cell(dataset: str) -> Cell:
    """The cell of `exact_scores`."""
    return exact_scores.cell(dataset=dataset)


@job(
    "scores.estimate",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "augmented": True, "runs": 2, "seed": 0},
    tolerance=1e-3,
)
def estimate(work: Work, dataset: str, augmented: bool, runs: int, seed: int) -> dict[str, Any]:
    """Means over runs of `shared_run` or `augmented_run` for right labels, at every ratio."""
    source = SOURCES[dataset]
    cells = [
        augmented_run.cell(dataset=dataset, seed=seed, run=run)
        if augmented
        else shared_run.cell(dataset=dataset, standardised=source.standardised, seed=seed, run=run)
        for run in range(runs)
    ]
    return {
        f"{name}-{ratio}": values.astype(np.float32)
        for ratio in source.ratios
        for name, values in estimated(work, cells, ratio=ratio).items()
    }


def estimate_cell(plan: Plan, dataset: str, runs: int | None = None) -> Cell:
    """The cell of `estimate`, by default of as many runs as the plan has."""
    count = plan.runs if runs is None else runs
    return estimate.cell(dataset=dataset, augmented=False, runs=count, seed=plan.seed)


def augmented_cell(plan: Plan, dataset: str, runs: int) -> Cell:
    """The cell of `estimate` on augmented images."""
    return estimate.cell(dataset=dataset, augmented=True, runs=runs, seed=plan.seed)


def subset_rows(plan: Plan, codes: Index) -> Index:
    """Positions of the training subset, equally many of every class."""
    if plan.examples is None or plan.examples >= len(codes):
        return np.arange(len(codes))
    k = int(codes.max()) + 1
    rng = np.random.default_rng([plan.seed, 1])
    rows = [
        rng.choice(np.flatnonzero(codes == c), plan.examples // k, replace=False) for c in range(k)
    ]
    return np.sort(np.concatenate(rows))


def subset(plan: Plan, work: Work, dataset: str) -> tuple[Index, Images]:
    """Positions and images of the training subset, at their full size."""
    images = load(work.data, dataset)
    rows = subset_rows(plan, images.codes)
    return rows, images[rows]


@job(
    "scores.subset",
    version=1,
    alone=True,
    sample={"plan": "sample", "dataset": "fashion-mnist", "rate": 0.2, "seed": 0},
    tolerance=1e-3,
)
def subset_scores(work: Work, plan: str, dataset: str, rate: float, seed: int) -> dict[str, Any]:
    """Scores of the training subset among itself, by the paper's estimator.

    Besides ``cg``, its terms and ``cg_prime``: exact and iterative scores, and, with the automatic
    ridge, ``cg``, ``margin`` and label scores.
    """
    sizes, source = Plan.named(plan, seed), SOURCES[dataset]
    _, images = subset(sizes, work, dataset)
    X, given = images.rows(source.standardised), wrong_labels(images.codes, rate, seed)
    columns: dict[str, Any] = dict(
        average_terms(
            unit_rows(X), images.codes, source.ratio, sizes.subset_runs, seed=seed, labels=given
        )
    )
    columns["cg"] = columns["first_term"] + columns["partial"] + columns["third_term"]
    for method in ("exact", "iterative"):
        table = score(X, given, method=method, judge=False, progress=False).table
        columns[f"{method}_cg"] = table["cg"].to_numpy()
        columns[f"{method}_partial"] = table["partial"].to_numpy()
    with_ridge = score(X, given, ridge="auto", progress=False)
    issues = with_ridge.label_issues()
    columns["ridge_cg"] = with_ridge.table["cg"].to_numpy()
    columns["ridge_margin"] = with_ridge.table["margin"].to_numpy()
    columns["posterior"] = issues["label_score"].to_numpy()
    columns["flagged"] = issues["is_label_issue"].to_numpy()
    columns["given"] = given
    columns["ridge"] = float(with_ridge.meta["ridge"])
    return columns


def subset_cell(plan: Plan, dataset: str, rate: float = 0.0) -> Cell:
    """The cell of `subset_scores`."""
    return subset_scores.cell(plan=plan.name, dataset=dataset, rate=rate, seed=plan.seed)
