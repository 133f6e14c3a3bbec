"""Appendix B: how wrong labels differ from atypical examples.

(a), (b) Accuracy after training on half of the examples, from each offset of the ascending order by
CG-score, with 20 % wrong labels. (c) The partial score against the CG-score. The table counts wrong
and right labels by the sign of the partial score and among its highest fifth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.kernel import unit_rows
from cgscore.selection.orders import select
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore.typing import Array
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, load, missing
from cgscore_paper.figures import RIGHT, SCORES, WRONG, curve, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Compared, Result, table
from cgscore_paper.scores import estimated, shared_runs, subset_cell
from cgscore_paper.trainings import accuracy_cells, examples_cell, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Wrong = NDArray[np.bool_]
Counts = dict[str, int]

TITLE = "Appendix B: wrong labels and atypical examples"

RATE = 0.2
_PER_CENT = f"{100 * RATE:.0f} %"
WINDOW_SHARE = 0.5
SCATTER_DATASET = "cifar-10"  # in the scatter, and at 1:1
MAX_SCATTER_POINTS = 5_000
QUANTILES = (5, 25, 50, 75, 95)

#: Of the paper's table: positive partial score, negative, among the highest fifth.
PAPER: Mapping[str, Mapping[str, tuple[int, int, int]]] = {
    "fashion-mnist": {"wrong": (11_796, 204, 10_776), "right": (3_462, 44_538, 1_224)},
    "cifar-10": {"wrong": (7_146, 2_854, 5_619), "right": (8_331, 31_669, 4_381)},
}
GROUPS = ("wrong", "right")
_COLUMNS = ("accuracy", "deviation", "wrong labels")
SUBSETS = ("positive", "negative", "highest")


@job(
    "scores.even_run",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "standardised": True, "rate": 0.2, "seed": 0},
    tolerance=1e-3,
)
def even_run(
    work: Work, dataset: str, standardised: bool, rate: float, seed: int
) -> dict[str, Any]:
    """Partial scores of a whole dataset by one run of the estimator at the ratio 1:1."""
    images = load(work.data, dataset)
    rows = unit_rows(images.rows(standardised))
    estimate = shared_run(rows, images.codes, [1], seed=seed, run=0, progress=work.progress)
    given = wrong_labels(images.codes, rate, seed)
    return {"partial": estimate.terms(given, 1, work.progress)["partial"]}


def even_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `even_run`."""
    standardised = SOURCES[dataset].standardised
    return even_run.cell(dataset=dataset, standardised=standardised, rate=RATE, seed=plan.seed)


def counts(partial: Array, wrong: Wrong) -> dict[str, Counts]:
    """Wrong and right labels with a positive and a negative score, and among the highest ones.

    The highest are as many as there are wrong labels.
    """
    positive = partial > 0
    highest = np.zeros(len(wrong), bool)
    highest[np.argsort(-partial, kind="stable")[: wrong.sum()]] = True
    subsets = dict(zip(SUBSETS, (positive, ~positive, highest), strict=True))
    return {
        group: {name: int((in_group & in_subset).sum()) for name, in_subset in subsets.items()}
        for group, in_group in (("wrong", wrong), ("right", ~wrong))
    }


def make(work: Work, plan: Plan) -> Result:
    """Windows, the scatter and the table of counts."""
    missing_reasons = {name: missing(work.data, name) for name in PAPER}
    datasets = [name for name in PAPER if missing_reasons[name] is None] or list(
        PAPER
    )  # load() explains what is missing
    work.all([cell for name in datasets for cell in shared_runs(plan, name)], "estimator")
    whole, rows = {}, []
    for name in datasets:
        codes = load(work.data, name).codes
        wrong = wrong_labels(codes, RATE, plan.seed) != codes
        scores = estimated(work, shared_runs(plan, name), rate=RATE)
        runs = f"{plan.runs} run{'s' * (plan.runs > 1)}"
        counts_by_estimate = {f"1:{SOURCES[name].ratio}, {runs}": counts(scores["partial"], wrong)}
        if name == SCATTER_DATASET:
            partial = work(even_cell(plan, name))["partial"]
            counts_by_estimate["1:1, one run"] = counts(partial, wrong)
        whole[name] = {"found": scores, "wrong": wrong, "counts": counts_by_estimate}
        rows += _rows(name, counts_by_estimate)
    windows = _windows(work, plan, datasets)
    numbers: dict[str, Any] = {
        "windows": windows,
        "counts": {name: whole[name]["counts"] for name in datasets},
    }
    if SCATTER_DATASET in whole:
        numbers["scatter"] = _score_quantiles(
            whole[SCATTER_DATASET]["found"], whole[SCATTER_DATASET]["wrong"]
        )
    text = "\n\n".join(
        [
            f"{_PER_CENT} of the labels are wrong. Counts by the partial score, on whole datasets; "
            "the highest are as many as there are wrong labels:",
            table(
                ["", *(f"{group}, {name}" for group in GROUPS for name in SUBSETS)],
                rows,
            ),
            "Accuracy after training on half of the examples, and the share of wrong labels in "
            "that half, by where the half starts in the ascending order:",
            _window_table(plan, windows),
            _best(windows),
        ]
    )
    return Result(
        numbers,
        text,
        {
            "": (
                _figure(plan, windows, whole),
                _caption(
                    plan,
                    datasets,
                    len(whole[SCATTER_DATASET]["wrong"]) if SCATTER_DATASET in whole else 0,
                ),
            )
        },
        [comparison for name in datasets for comparison in _compared(name, whole[name]["counts"])],
        [
            f"{SOURCES[name].title}: {missing_reasons[name]}"
            for name in PAPER
            if name not in datasets
        ],
    )


def _rows(name: str, counts_by_estimate: Mapping[str, Mapping[str, Counts]]) -> list[list[Any]]:
    title, ratio = SOURCES[name].title, SOURCES[name].ratio
    paper = [count for group in GROUPS for count in PAPER[name][group]]
    ours = [
        [
            f"{title}, {estimate}",
            *(counts_of[group][subset] for group in GROUPS for subset in SUBSETS),
        ]
        for estimate, counts_of in counts_by_estimate.items()
    ]
    return [[f"{title}, paper (1:{ratio})", *paper], *ours]


def _shares(counts_of: Mapping[str, Sequence[int]]) -> tuple[float, float, float]:
    """Of the wrong and of the right labels those that are positive, of the wrong the highest."""
    (up, down, top), (right_up, right_down, _) = counts_of["wrong"], counts_of["right"]
    return up / (up + down), right_up / (right_up + right_down), top / (up + down)


def _compared(name: str, counts_by_estimate: Mapping[str, Mapping[str, Counts]]) -> list[Compared]:
    shares, *even_shares = [
        _shares({group: list(counts_of[group].values()) for group in GROUPS})
        for counts_of in counts_by_estimate.values()
    ]
    cause = ""
    if even_shares:
        cause = (
            f"{SOURCES[name].title}: the paper's counts by sign are those of the ratio 1:1, not of "
            f"1:{SOURCES[name].ratio}. One run at 1:1 (row of the table) has "
            f"{even_shares[0][0]:.3f} of the wrong and {even_shares[0][1]:.3f} of the "
            "right labels positive. "
            "With more others for each of a class, predictions lean to the others, and more "
            "partial scores are positive."
        )
    labels = (
        "positive among wrong labels",
        "positive among right labels",
        "wrong labels in the top",
    )
    return [
        Compared(f"{SOURCES[name].title}, {label}", paper, ours, cause)
        for label, paper, ours in zip(labels, _shares(PAPER[name]), shares, strict=True)
    ]


def _windows(work: Work, plan: Plan, datasets: Sequence[str]) -> dict[str, Any]:
    """Accuracies of every training, and shares of wrong labels, at every offset."""
    work.all([subset_cell(plan, name, RATE) for name in datasets], "scores")
    work.all([examples_cell(plan, name) for name in datasets], "examples")
    cells = {
        (name, offset): accuracy_cells(
            plan,
            name,
            "cg",
            rate=RATE,
            order="window",
            fraction=WINDOW_SHARE,
            offset=offset / 100,
            repeats=plan.appendix_repeats,
        )
        for name in datasets
        for offset in plan.offsets
    }
    work.all([cell for trainings in cells.values() for cell in trainings], "windows")
    windows: dict[str, Any] = {}
    for name in datasets:
        codes = work(examples_cell(plan, name))["own"]
        given = wrong_labels(codes, RATE, plan.seed)
        score, count = (
            values(work, plan, name, "cg", RATE),
            max(1, round(WINDOW_SHARE * len(codes))),
        )
        positions = [
            select(score, given, count, order="window", offset=offset / 100)
            for offset in plan.offsets
        ]
        windows[name] = {
            "examples": len(codes),
            "offsets": list(plan.offsets),
            "accuracy": [
                [training["accuracy"] for training in work.all(cells[name, offset])]
                for offset in plan.offsets
            ],
            "wrong": [float((given != codes)[rows].mean()) for rows in positions],
        }
    return windows


def _window_table(plan: Plan, windows: Mapping[str, Any]) -> str:
    columns = [column for column in _COLUMNS if column != "deviation" or plan.appendix_repeats > 1]
    head = [
        "offset",
        *(f"{SOURCES[name].title}, {column}" for name in windows for column in columns),
    ]
    rows: list[list[Any]] = []
    for i, offset in enumerate(plan.offsets):
        rows.append([f"{offset} %"])
        for window in windows.values():
            values_of = {
                "accuracy": float(np.mean(window["accuracy"][i])),
                "deviation": float(np.std(window["accuracy"][i])),
                "wrong labels": window["wrong"][i],
            }
            rows[-1] += [values_of[column] for column in columns]
    return table(head, rows)


def _best(windows: Mapping[str, Any]) -> str:
    """Where accuracy is highest."""
    offsets = []
    for name, window in windows.items():
        best = int(np.argmax([np.mean(accuracies) for accuracies in window["accuracy"]]))
        offsets.append(f"{window['offsets'][best]} % for {SOURCES[name].title}")
    return f"The highest accuracy is at {' and '.join(offsets)}; in the paper at 30 % for both."


def _score_quantiles(scores: Mapping[str, Array], wrong: Wrong) -> dict[str, Any]:
    """Quantiles of both scores for right and wrong labels."""
    return {
        "dataset": SCATTER_DATASET,
        "quantiles": list(QUANTILES),
        **{
            group: {
                name: np.percentile(scores[name][in_group], QUANTILES) for name in ("partial", "cg")
            }
            for group, in_group in (("right", ~wrong), ("wrong", wrong))
        },
    }


def _figure(plan: Plan, windows: Mapping[str, Any], whole: Mapping[str, Any]) -> Figure:
    scatter = SCATTER_DATASET in whole
    figure, ((*upper,),) = panels(1, len(windows) + scatter, width=3.4, height=2.9)
    for axes, letter, (name, window) in zip(upper, "ab", windows.items(), strict=False):
        _window_panel(axes, window)
        axes.set_title(f"({letter}) {SOURCES[name].title}")
    if scatter:
        _scatter(upper[-1], plan, whole[SCATTER_DATASET]["found"], whole[SCATTER_DATASET]["wrong"])
        upper[-1].set_title(f"({'abc'[len(windows)]}) {SOURCES[SCATTER_DATASET].title}")
    figure.get_layout_engine().set(w_pad=0.08)  # type: ignore[union-attr,call-arg]
    return figure


def _window_panel(axes: Axes, window: Mapping[str, Any]) -> None:
    curve(axes, window["offsets"], window["accuracy"], "cg")
    axes.set(xlabel="window starts at (% of examples)", ylabel="test accuracy")
    axes.yaxis.label.set_color(SCORES["cg"][1])
    right_axis = axes.twinx()
    right_axis.plot(
        window["offsets"], 100 * np.array(window["wrong"]), "s--", color=WRONG, markersize=3
    )
    right_axis.set_ylabel("wrong labels in the window (%)", color=WRONG)
    right_axis.set_ylim(bottom=-2)
    right_axis.grid(visible=False)


def _scatter(axes: Axes, plan: Plan, scores: Mapping[str, Array], wrong: Wrong) -> None:
    rows = np.random.default_rng(plan.seed).permutation(len(wrong))[:MAX_SCATTER_POINTS]
    for in_group, colour, label in ((~wrong, RIGHT, "right label"), (wrong, WRONG, "wrong label")):
        positions = rows[in_group[rows]]
        axes.plot(
            scores["partial"][positions],
            scores["cg"][positions],
            ".",
            color=colour,
            markersize=2,
            alpha=0.5,
            label=label,
            rasterized=True,
        )
    axes.axvline(0, color="#444444", linewidth=0.8, zorder=1)
    axes.set_xlim(*np.percentile(scores["partial"], (0.1, 99.9)))
    axes.set_ylim(0, float(np.percentile(scores["cg"], 99.9)))
    axes.set(xlabel="partial CG-score", ylabel="CG-score")
    axes.legend(loc="upper left", markerscale=4, handletextpad=0.2)


def _caption(plan: Plan, datasets: Sequence[str], scattered: int) -> str:
    caption = (
        f"{'(a), (b)' if len(datasets) > 1 else '(a)'} Test accuracy (left axis) of a "
        "network trained "
        f"on half of the examples, {_PER_CENT} of the labels being wrong, from each offset of the "
        "ascending order by CG-score; trainings for each offset, of which the mean is shown: "
        f"{plan.appendix_repeats}. Dashed (right axis): wrong labels in that half. Windows are "
        "taken within each given class, the same share of each; the paper takes them over all "
        f"classes together. {plan.description}"
    )
    if scattered:
        caption += (
            f" ({'abc'[len(datasets)]}) Partial score and CG-score on whole "
            f"{SOURCES[SCATTER_DATASET].title} "
            f"({plan.runs} runs of the estimator), {min(MAX_SCATTER_POINTS, scattered):,} "
            f"of {scattered:,} "
            "examples, drawn at random; the axes "
            "leave out the outermost thousandths."
        )
    return caption
