"""Appendix A: how close the paper's estimator comes to the exact score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore import score
from cgscore.errors import CGScoreWarning
from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore.solvers.sampled.subsample import recommended_runs
from cgscore.typing import Array
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, load
from cgscore_paper.figures import legend_below, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import Compared, Result, table
from cgscore_paper.scores import RATIOS

TITLE = "Appendix A: the estimator against the exact score"

DATASET = "cifar-10"
PER_CLASS, RUNS, FEW_RUNS = 1000, 20, 2
TABLE_RUNS = (1, 2, 10, 20)  # of the table of appendix J
KINDS = ("spearman", "pearson")
PARTS = ("first_term", "partial", "third_term")

#: The paper's after 20 runs, for ratios 1 to 4.
PAPER = {"spearman": (0.829, 0.914, 0.953, 0.973), "pearson": (0.796, 0.898, 0.943, 0.967)}

#: Examples of a class and of all in the training sets for which the paper names a number of runs.
SIZES = {"fashion-mnist": (6_000, 60_000), "cifar-10": (5_000, 50_000), "cifar-100": (500, 50_000)}
_PAPER_RUNS = {"fashion-mnist": "2-3", "cifar-10": "2-3", "cifar-100": "about 10"}

_COLOURS = ("#17becf", "#ff7f0e", "#2ca02c", "#d62728")  # by ratio, as in the paper


def positions(codes: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """As many examples of every class."""
    rng, counts = np.random.default_rng(seed), np.bincount(codes)
    count = min(PER_CLASS, int(counts.min()))
    by_class = [
        rng.choice(np.flatnonzero(codes == c), count, replace=False) for c in range(len(counts))
    ]
    return np.sort(np.concatenate(by_class))


def small(work: Work, standardised: bool, seed: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Rows and classes of as many images of every class; channels by all training images."""
    images = load(work.data, DATASET)
    rows = positions(images.codes, seed)
    return images.rows(standardised)[rows], images.codes[rows]


@job("estimator.exact", version=1, alone=True, sample={"standardised": True, "seed": 0})
def exact(work: Work, standardised: bool, seed: int) -> dict[str, Any]:
    """Exact scores of the images of `small`."""
    X, codes = small(work, standardised, seed)
    return {
        "cg": score(X, codes, method="exact", judge=False, progress=False).table["cg"].to_numpy()
    }


def exact_cell(standardised: bool, seed: int) -> Cell:
    """The cell of `exact`."""
    return exact.cell(standardised=standardised, seed=seed)


@job("estimator.separate_draws", version=1, alone=True, sample={"ratio": 2, "runs": 2, "seed": 0})
def separate_draws(work: Work, ratio: int, runs: int, seed: int) -> dict[str, Any]:
    """Correlations of means over 1, 2, ... runs with the exact score.

    Every class of a run has a draw of its own, as in the paper: ``method="subsample"``. A run has
    the same draws however many there are.
    """
    X, codes = small(work, True, seed)
    correlations = _Correlations(work(exact_cell(True, seed))["cg"])
    for count in range(1, runs + 1):
        with warnings.catch_warnings():  # few runs leave out predictions, which are not used
            warnings.simplefilter("ignore", CGScoreWarning)
            scores = score(
                X,
                codes,
                method="subsample",
                ratio=ratio,
                runs=count,
                seed=seed,
                judge=False,
                progress=False,
            )
        correlations.add(scores.table["cg"].to_numpy())
    return correlations.value


@job(
    "estimator.shared_draws",
    version=1,
    alone=True,
    sample={"standardised": True, "runs": 2, "seed": 0},
    tolerance=1e-3,
)
def shared_draws(work: Work, standardised: bool, runs: int, seed: int) -> dict[str, Any]:
    """The same where the classes of a run share one draw, for all ratios.

    ``terms`` is the rank correlation of the mean score with the mean of each of its terms.
    """
    X, codes = small(work, standardised, seed)
    exact_cg, rows = work(exact_cell(standardised, seed))["cg"], unit_rows(X)
    totals = np.zeros((len(RATIOS), len(PARTS), len(X)))
    correlations = [_Correlations(exact_cg) for _ in RATIOS]
    by_term = np.zeros((len(RATIOS), len(PARTS), runs))
    for run in range(runs):
        estimate = shared_run(rows, codes, RATIOS, seed=seed, run=run, progress=work.progress)
        for i, ratio in enumerate(RATIOS):
            terms = estimate.terms(codes, ratio, work.progress)
            totals[i] += [terms[name] for name in PARTS]
            cg = totals[i].sum(axis=0)
            correlations[i].add(cg)
            by_term[i, :, run] = [spearman(term, cg) for term in totals[i]]
    return {
        "terms": by_term,
        **{kind: np.array([at_ratio.value[kind] for at_ratio in correlations]) for kind in KINDS},
    }


class _Correlations:
    """Correlations of a sequence of estimates with the exact score."""

    def __init__(self, exact_cg: Array) -> None:
        self._exact = exact_cg
        self.value: dict[str, list[float]] = {kind: [] for kind in KINDS}

    def add(self, cg: Array) -> None:
        """Add the next estimate."""
        self.value["spearman"].append(spearman(cg, self._exact))
        self.value["pearson"].append(float(np.corrcoef(cg, self._exact)[0, 1]))


@job("estimator.summary", version=1, alone=True, sample={"runs": 3, "seed": 0}, tolerance=1e-3)
def summary(work: Work, runs: int, seed: int) -> dict[str, Any]:
    """What the figure and the tables show, from exact scores, shared and separate draws.

    ``terms`` are rank correlations of the score with its terms after `TABLE_RUNS` (appendix J).
    """
    shared, raw_pixels = work.all(
        [
            shared_draws.cell(standardised=standardised, runs=count, seed=seed)
            for standardised, count in ((True, runs), (False, FEW_RUNS))
        ],
        "estimates",
    )
    separate = work.all(
        [separate_draws.cell(ratio=ratio, runs=FEW_RUNS, seed=seed) for ratio in RATIOS],
        "estimates",
    )
    early = {
        "standardised, one draw for all classes": {
            kind: shared[kind][:, FEW_RUNS - 1].tolist() for kind in KINDS
        },
        "standardised, a draw for each class": {
            kind: [at_ratio[kind][-1] for at_ratio in separate] for kind in KINDS
        },
        "as they are, one draw for all classes": {
            kind: raw_pixels[kind][:, -1].tolist() for kind in KINDS
        },
    }
    return {
        "examples": len(work(exact_cell(True, seed))["cg"]),
        "runs": runs,
        "correlations": {
            kind: {str(ratio): shared[kind][i].tolist() for i, ratio in enumerate(RATIOS)}
            for kind in KINDS
        },
        "after_few_runs": {"runs": FEW_RUNS, **early},
        "terms": _terms_by_runs({"standardised": shared, "as they are": raw_pixels}),
    }


def _terms_by_runs(results: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{name}, {runs} run{'s' * (runs > 1)}": {
            part: result["terms"][:, place, runs - 1].tolist() for place, part in enumerate(PARTS)
        }
        for name, result in results.items()
        for runs in TABLE_RUNS
        if runs <= result["terms"].shape[2]
    }


def summary_cell(plan: Plan) -> Cell:
    """The cell of `summary`."""
    return summary.cell(runs=RUNS, seed=plan.seed)


def _not_tested() -> list[Compared]:
    return [
        Compared(f"{kind.title()} 1:{ratio}, {RUNS} runs", paper, None)
        for kind in KINDS
        for ratio, paper in zip(RATIOS, PAPER[kind], strict=True)
    ]


def make(work: Work, plan: Plan) -> Result:
    """The figure, what draws that classes share and raw pixels change, and the number of runs."""
    finished = if_finished(lambda: work(summary_cell(plan)))
    if finished is None:
        return Result({}, "", compared=_not_tested(), not_run=[SOURCES[DATASET].title])
    curves, n = finished["correlations"], finished["examples"]
    last = {kind: [curves[kind][str(ratio)][-1] for ratio in RATIOS] for kind in KINDS}
    early = {way: of for way, of in finished["after_few_runs"].items() if way != "runs"}
    runs = {
        name: {"ratio": SOURCES[name].ratio, "runs": _recommended(name), "paper": _PAPER_RUNS[name]}
        for name in SIZES
    }
    numbers = {
        "examples": n,
        "runs": RUNS,
        "correlations": curves,
        "after_few_runs": {"runs": FEW_RUNS, **early},
        "paper": PAPER,
        "recommended_runs": runs,
    }
    size = f"{n:,}; {RUNS} runs"
    compared = [
        Compared(f"{kind.title()} 1:{ratio}, {RUNS} runs", paper, ours_of, size=size)
        for kind in KINDS
        for ratio, paper, ours_of in zip(RATIOS, PAPER[kind], last[kind], strict=True)
    ]
    head = ["", *(f"{kind.title()} 1:{ratio}" for kind in KINDS for ratio in RATIOS)]
    text = f"""Correlation with the exact score of {n:,} {SOURCES[DATASET].title} images
({n // 10:,} of each class) after {RUNS} runs:

{_lines(head, [("the paper", PAPER), ("ours", last)])}

The paper draws others for each class. Here the classes of a run share one draw, which is much less
work. Channels are standardised by all training images, which the paper does not say. After
{FEW_RUNS} runs, what both change, each compared with the exact score of the same pixels:

{_lines(head, list(early.items()))}

Runs by the paper's rule that they see half of the others together, overlap ignored, and at least
two:

{_runs_table(runs)}"""
    figure, axes = panels(1, 2, width=3.9, height=3.0, share_y=True)
    for panel, kind in zip(axes[0], KINDS, strict=True):
        for ratio, colour, paper in zip(RATIOS, _COLOURS, PAPER[kind], strict=True):
            values = curves[kind][str(ratio)]
            at = np.arange(1, len(values) + 1)
            panel.plot(at, values, "o-", color=colour, markersize=2.5, label=f"1:{ratio}")
            panel.axhline(paper, color=colour, lw=0.9, ls="--", alpha=0.7)
        panel.plot([], [], color="#555555", lw=0.9, ls="--", label="paper, 20 runs")
        panel.set(
            xlabel="runs", ylabel=f"{kind.title()} with the exact score", xticks=[1, 5, 10, 15, 20]
        )
    legend_below(figure, axes[0, :1])
    caption = (
        f"Correlation of the estimated with the exact CG-score of {n:,} {SOURCES[DATASET].title} "
        "images as runs are averaged, by the ratio of a class to the others that are drawn for "
        "it. Dashed: the paper's values after 20 runs."
    )
    return Result(numbers, text, {"": (figure, caption)}, compared)


def _recommended(name: str) -> int:
    class_size, n = SIZES[name]
    return recommended_runs(class_size, n, SOURCES[name].ratio)


def _lines(head: list[str], rows: list[tuple[str, Any]]) -> str:
    return table(
        head,
        [
            [label, *(v for kind in KINDS for v in correlations[kind])]
            for label, correlations in rows
        ],
    )


def _runs_table(runs: dict[str, Any]) -> str:
    rows = [
        [SOURCES[name].title, f"1:{entry['ratio']}", entry["runs"], entry["paper"]]
        for name, entry in runs.items()
    ]
    return table(["", "ratio", "runs", "the paper says"], rows)
