"""What figures show of whole datasets that are scored without training.

The runs of the estimator (`scores.shared_run`) are large and stay in a cache. Their summary is
small: curves, densities, counts, correlations, and the positions of images that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.selection.orders import select
from cgscore.typing import Array, Index
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, Images, c_scores, load
from cgscore_paper.densities import density, edges
from cgscore_paper.detection_curve import detection_numbers
from cgscore_paper.jobs import Cell, job
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import RATES, estimate, estimated, shared_run

PARTS = ("first_term", "partial", "third_term")
WITH_C_SCORE = ("cg", "partial", "cg_prime")
#: Numbers of runs of which a summary or an estimate may be finished, the best first; the paper's
#: is the first.
RUN_COUNTS = (10, 3, 2, 1)
#: Rate of the scatter, and how many examples it shows.
SCATTER_RATE, MAX_SCATTER_POINTS = 0.2, 5_000
#: Size of a window, and where windows start, in per cent.
WINDOW_SHARE, OFFSETS = 0.5, range(0, 51, 5)
_MAX_SHOWN_CLASSES = 20  # of larger datasets only images of four classes are shown
_EXTREMES = 10  # highest and lowest examples of a class
_CLASS_BINS = 40


def run_cells(dataset: str, runs: int, seed: int) -> list[Cell]:
    """The cells of `shared_run` that a summary is of."""
    standardised = SOURCES[dataset].standardised
    return [
        shared_run.cell(dataset=dataset, standardised=standardised, seed=seed, run=run)
        for run in range(runs)
    ]


@job(
    "scores.summary",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "runs": 2, "seed": 0},
    tolerance=1e-3,
)
def summary(work: Work, dataset: str, runs: int, seed: int) -> dict[str, Any]:
    """Numbers of all examples of a dataset, from the mean of some runs of the estimator.

    ``terms`` and ``c_score`` are rank correlations at every ratio, ``rates`` has detection and
    densities for every share of wrong labels, ``classes`` means and deviations, ``shown`` and
    ``four_classes`` the examples with the highest and the lowest scores.
    """
    images, source = load(work.data, dataset), SOURCES[dataset]
    cells = run_cells(dataset, runs, seed)
    by_ratio = {ratio: estimated(work, cells, 0.0, ratio) for ratio in source.ratios}
    published = c_scores(work.data, dataset, images.codes)
    cg = by_ratio[source.ratio]["cg"]
    value: dict[str, Any] = {
        "examples": len(cg),
        "runs": runs,
        "terms": {
            str(ratio): {part: spearman(terms[part], terms["cg"]) for part in PARTS}
            for ratio, terms in by_ratio.items()
        },
        "rates": {"0": {"density": _density(cg)}},
        **class_numbers(images, cg),
    }
    if published is not None:
        value["c_score"] = {
            str(ratio): {by: spearman(terms[by], 1 - published) for by in WITH_C_SCORE}
            for ratio, terms in by_ratio.items()
        }
    for rate in RATES[1:]:
        wrong = wrong_labels(images.codes, rate, seed) != images.codes
        noisy = estimated(work, cells, rate)
        value["rates"][str(round(100 * rate))] = {
            **detection_numbers(wrong, {by: noisy[by] for by in ("cg", "partial")}),
            "counts": counts(noisy["partial"], wrong),
            "windows": window_shares(noisy["cg"], wrong_labels(images.codes, rate, seed), wrong),
        }
        if rate == SCATTER_RATE:
            rows = np.random.default_rng(seed).permutation(len(wrong))[:MAX_SCATTER_POINTS]
            value |= {f"scatter_{by}": noisy[by][rows] for by in ("cg", "partial")}
            value["scatter_wrong"] = wrong[rows]
    return value


def counts(partial: Array, wrong: NDArray[np.bool_]) -> dict[str, dict[str, int]]:
    """Wrong and right labels with a positive and a negative score, and among the highest ones.

    The highest are as many as there are wrong labels.
    """
    positive = partial > 0
    highest = np.zeros(len(wrong), bool)
    highest[np.argsort(-partial, kind="stable")[: wrong.sum()]] = True
    subsets = {"positive": positive, "negative": ~positive, "highest": highest}
    return {
        group: {name: int((in_group & in_subset).sum()) for name, in_subset in subsets.items()}
        for group, in_group in (("wrong", wrong), ("right", ~wrong))
    }


def window_shares(cg: Array, given: Index, wrong: NDArray[np.bool_]) -> dict[str, Any]:
    """The share of wrong labels in windows of half of the examples (appendix B), by offset."""
    count = max(1, round(WINDOW_SHARE * len(given)))
    groups = {"per_class": given, "overall": np.zeros_like(given)}
    return {
        reading: {
            str(offset): float(
                wrong[select(cg, group, count, order="window", offset=offset / 100)].mean()
            )
            for offset in OFFSETS
        }
        for reading, group in groups.items()
    }


def class_numbers(images: Images, cg: Array) -> dict[str, Any]:
    """Means and deviations of classes, and the examples at both ends of some of them."""
    codes, k = images.codes, len(images.names)
    means = np.array([cg[codes == c].mean() for c in range(k)])
    order = np.argsort(means, kind="stable")
    four = [*order[:2].tolist(), *order[-2:].tolist()]
    bins = edges(cg[np.isin(codes, four)], bins=_CLASS_BINS)
    shown = range(k) if k <= _MAX_SHOWN_CLASSES else four
    return {
        "classes": {
            "means": means.tolist(),
            "deviations": [float(cg[codes == c].std()) for c in range(k)],
        },
        "shown": {str(c): _extremes(cg, codes, c) for c in shown},
        "four_classes": {
            "from": float(bins[0]),
            "to": float(bins[-1]),
            "densities": {str(c): density(cg[codes == c], bins).tolist() for c in four},
        },
    }


def _extremes(cg: Array, codes: Index, c: int) -> dict[str, Any]:
    """Positions and scores of the highest and the lowest examples of a class, from high to low."""
    members = np.flatnonzero(codes == c)
    ranked = members[np.argsort(-cg[members], kind="stable")]
    ends = {"highest": ranked[:_EXTREMES], "lowest": ranked[-_EXTREMES:]}
    return {end: {"rows": rows.tolist(), "scores": cg[rows].tolist()} for end, rows in ends.items()}


def _density(cg: Array) -> dict[str, Any]:
    bins = edges(cg)
    return {
        "from": float(bins[0]),
        "to": float(bins[-1]),
        "right": density(cg, bins).tolist(),
    }


def summary_cell(plan: Plan, dataset: str, runs: int | None = None) -> Cell:
    """The cell of `summary`, by default of as many runs as the plan has."""
    count = plan.runs if runs is None else runs
    return summary.cell(dataset=dataset, runs=count, seed=plan.seed)


def summary_of(work: Work, plan: Plan, dataset: str) -> CellResult:
    """The summary of a dataset: of the plan's runs, or of those stored the one of most runs."""
    return _best(work, plan, lambda runs: summary_cell(plan, dataset, runs))


def estimate_of(work: Work, plan: Plan, dataset: str, augmented: bool) -> tuple[int, CellResult]:
    """The number of runs and their mean scores (`scores.estimate`), chosen in the same way."""

    def cell(runs: int) -> Cell:
        return estimate.cell(dataset=dataset, augmented=augmented, runs=runs, seed=plan.seed)

    result = _best(work, plan, cell)
    return next(runs for runs in _counts(work, plan) if work.finished([cell(runs)])), result


def _counts(work: Work, plan: Plan) -> Iterable[int]:
    return RUN_COUNTS if work.stored_only else (plan.runs,)


def _best(work: Work, plan: Plan, cell: Callable[[int], Cell]) -> CellResult:
    """The first finished one of `RUN_COUNTS`; otherwise that of the plan is asked for."""
    for runs in _counts(work, plan):
        stored = if_finished(lambda runs=runs: work(cell(runs)))  # type: ignore[misc]
        if stored is not None:
            return stored
    return work(cell(plan.runs))
