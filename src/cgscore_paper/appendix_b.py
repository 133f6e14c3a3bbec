"""Appendix B: how wrong labels differ from atypical examples.

(a), (b) Accuracy after training on half of the examples, from each offset of the ascending order by
CG-score, with 20 % wrong labels. (c) The partial score against the CG-score. The table counts wrong
and right labels by the sign of the partial score and among its highest fifth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.datasets import SOURCES, load, missing
from cgscore_paper.figures import MAX_POINTS, RIGHT, SCORES, WRONG, deviation, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import score_stages, subset_size
from cgscore_paper.results import NOT_TESTED, Compared, Result, table
from cgscore_paper.trainings import OVERALL_WINDOW, accuracy_cells, subset_codes, values
from cgscore_paper.whole import WINDOW_SHARE, counts, summary_of, window_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Counts = Mapping[str, int]

TITLE = "Appendix B: wrong labels and atypical examples"

RATE = 0.2
_PER_CENT = f"{100 * RATE:.0f} %"
SCATTER_DATASET = "cifar-10"  # in the scatter, and at 1:1
#: Two readings of "sorted in ascending order": within each given class, or all together.
READINGS = {"per_class": ("window", "per class"), "overall": (OVERALL_WINDOW, "over all")}
_STYLES = {"per_class": "o-", "overall": "^--"}
#: Where the paper finds the highest accuracy.
PAPER_OFFSET = 30

#: Of the paper's table: positive partial score, negative, among the highest fifth.
PAPER: Mapping[str, Mapping[str, tuple[int, int, int]]] = {
    "fashion-mnist": {"wrong": (11_796, 204, 10_776), "right": (3_462, 44_538, 1_224)},
    "cifar-10": {"wrong": (7_146, 2_854, 5_619), "right": (8_331, 31_669, 4_381)},
}
GROUPS = ("wrong", "right")
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


@job(
    "scores.even_counts",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0},
)
def even_counts(work: Work, dataset: str, seed: int) -> dict[str, Any]:
    """`whole.counts` of the partial scores of `even_run`."""
    codes = load(work.data, dataset).codes
    standardised = SOURCES[dataset].standardised
    cell = even_run.cell(dataset=dataset, standardised=standardised, rate=RATE, seed=seed)
    return dict(counts(work(cell)["partial"], wrong_labels(codes, RATE, seed) != codes))


def even_counts_cell(plan: Plan) -> Cell:
    """The cell of `even_counts`."""
    return even_counts.cell(dataset=SCATTER_DATASET, seed=plan.seed)


def window_cells(plan: Plan, name: str, reading: str, offset: int) -> list[Cell]:
    """Trainings on the window that starts at an offset, in per cent."""
    return accuracy_cells(
        plan,
        name,
        "cg",
        rate=RATE,
        order=READINGS[reading][0],
        fraction=WINDOW_SHARE,
        offset=offset / 100,
        repeats=plan.appendix_repeats,
    )


def make(work: Work, plan: Plan) -> Result:
    """Windows, the scatter and the table of counts."""
    missing_reasons = {name: missing(work.data, name) for name in PAPER}
    datasets = [name for name in PAPER if missing_reasons[name] is None] or list(
        PAPER
    )  # load() explains what is missing
    whole = {name: if_finished(lambda name=name: summary_of(work, plan, name)) for name in datasets}  # type: ignore[misc]
    counted = {name: _counts(work, plan, name, whole[name]) for name in datasets}
    windows = _windows(work, plan, datasets)
    trained = {name: of for name, of in windows.items() if _any(of)}
    scatter = whole.get(SCATTER_DATASET)
    if scatter is not None and "scatter_cg" not in scatter.value:
        scatter = None
    not_run = [f"{SOURCES[name].title}: {why}" for name, why in missing_reasons.items() if why]
    not_run += [f"{SOURCES[name].title}, windows" for name in datasets if name not in trained]
    parts = [
        f"{_PER_CENT} of the labels are wrong. Counts by the partial score, on whole datasets; "
        "the highest are as many as there are wrong labels:",
        table(
            ["", *(f"{group}, {name}" for group in GROUPS for name in SUBSETS)],
            [row for name in datasets for row in _rows(name, counted[name])],
        ),
    ]
    if trained:
        parts += [
            "Accuracy after training on half of the examples, and the share of wrong labels in "
            "that half, by where the half starts in the ascending order, within each given class "
            "or over all examples:",
            _window_table(plan, trained),
            _best(trained),
        ]
    figures = {}
    if trained or scatter is not None:
        figures[""] = (_figure(trained, scatter), _caption(trained, scatter))
    return Result(
        {"windows": trained, "counts": counted},
        "\n\n".join(parts),
        figures,
        [one for name in PAPER for one in _compared(name, counted.get(name, {}), whole.get(name))],
        not_run,
    )


def _any(window: Mapping[str, Any]) -> bool:
    return any(any(window[reading]["accuracy"]) for reading in READINGS)


def _counts(
    work: Work, plan: Plan, name: str, found: CellResult | None
) -> dict[str, Mapping[str, Counts]]:
    """Counts by estimate: at the paper's ratio, and at 1:1."""
    by_estimate = {}
    if found is not None:
        runs = f"{found['runs']} run{'s' * (found['runs'] > 1)}"
        counts_of = found["rates"][str(round(100 * RATE))]["counts"]
        by_estimate[f"1:{SOURCES[name].ratio}, {runs}"] = counts_of
    even = if_finished(lambda: work(even_counts_cell(plan))) if name == SCATTER_DATASET else None
    if even is not None:
        by_estimate["1:1, one run"] = {group: even[group] for group in GROUPS}
    return by_estimate


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


def _compared(
    name: str, counts_by_estimate: Mapping[str, Mapping[str, Counts]], found: CellResult | None
) -> list[Compared]:
    shares: list[tuple[float | None, ...]] = [
        _shares({group: list(counts_of[group].values()) for group in GROUPS})
        for counts_of in counts_by_estimate.values()
    ]
    cause = ""
    if len(shares) > 1:
        cause = (
            f"{SOURCES[name].title}: the paper's counts by sign are those of the ratio 1:1, not of "
            f"1:{SOURCES[name].ratio}. One run at 1:1 (row of the table) has "
            f"{shares[1][0]:.3f} of the wrong and {shares[1][1]:.3f} of the right labels positive."
        )
    labels = (
        "positive among wrong labels",
        "positive among right labels",
        "wrong labels in the top",
    )
    size = f"{found['examples']:,}; {next(iter(counts_by_estimate))}" if found else ""
    ours = shares[0] if shares else (None, None, None)
    return [
        Compared(f"{SOURCES[name].title}, {label}", paper, value, cause, size)
        for label, paper, value in zip(labels, _shares(PAPER[name]), ours, strict=True)
    ]


def _windows(work: Work, plan: Plan, datasets: Sequence[str]) -> dict[str, Any]:
    """For both readings: accuracies of every training, and wrong labels, at every offset."""
    score_stages(work, plan, [(name, RATE) for name in datasets])
    cells = {
        (name, reading, offset): window_cells(plan, name, reading, offset)
        for name in datasets
        for reading in READINGS
        for offset in plan.offsets
    }
    work.finished([cell for trainings in cells.values() for cell in trainings], "windows")
    windows: dict[str, Any] = {}
    for name in datasets:
        wrong = if_finished(lambda name=name: _wrong(work, plan, name))  # type: ignore[misc]
        windows[name] = {
            "examples": subset_size(work, plan, name),
            "offsets": list(plan.offsets),
            **{
                reading: {
                    "accuracy": [
                        [one["accuracy"] for one in work.finished(cells[name, reading, offset])]
                        for offset in plan.offsets
                    ],
                    "wrong": wrong and [wrong[reading][str(offset)] for offset in plan.offsets],
                }
                for reading in READINGS
            },
        }
    return windows


def _wrong(work: Work, plan: Plan, name: str) -> Mapping[str, Mapping[str, float]] | None:
    """Shares of wrong labels of windows: of a whole dataset from its summary."""
    if plan.examples is None:
        found: Mapping[str, Any] = summary_of(work, plan, name)["rates"][str(round(100 * RATE))]
        return found.get("windows")
    codes = subset_codes(work, plan, name)
    given = wrong_labels(codes, RATE, plan.seed)
    return window_shares(values(work, plan, name, "cg", RATE), given, given != codes)


def _window_table(plan: Plan, windows: Mapping[str, Any]) -> str:
    head = ["offset"]
    for name in windows:
        for _, label in READINGS.values():
            head += [f"{SOURCES[name].title}, {label}", "wrong"]
    rows: list[list[Any]] = []
    for i, offset in enumerate(plan.offsets):
        rows.append([f"{offset} %"])
        for window in windows.values():
            for reading in READINGS:
                accuracies, wrong = window[reading]["accuracy"][i], window[reading]["wrong"]
                shown = f"{np.mean(accuracies):.4f}" if accuracies else NOT_TESTED
                rows[-1] += [shown, wrong[i] if wrong else None]
    return table(head, rows)


def best_offset(window: Mapping[str, Any], reading: str) -> int | None:
    """Where accuracy is highest; None unless every window was trained on."""
    accuracies = window[reading]["accuracy"]
    if not all(accuracies):
        return None
    best = int(np.argmax([np.mean(of) for of in accuracies]))
    return int(window["offsets"][best])


def _best(windows: Mapping[str, Any]) -> str:
    offsets = [
        f"{best} % for {SOURCES[name].title} {label}"
        for name, window in windows.items()
        for reading, (_, label) in READINGS.items()
        if (best := best_offset(window, reading)) is not None
    ]
    if not offsets:
        return f"The paper's accuracy is highest at {PAPER_OFFSET} % for both."
    return (
        f"The highest accuracy is at {', '.join(offsets)}; in the paper at {PAPER_OFFSET} % for "
        "both."
    )


def _figure(windows: Mapping[str, Any], scatter: CellResult | None) -> Figure:
    figure, ((*upper,),) = panels(1, len(windows) + (scatter is not None), width=3.6, height=2.9)
    for axes, (name, window) in zip(upper, windows.items(), strict=False):
        _window_panel(axes, window)
        axes.set_title(SOURCES[name].title)
    if scatter is not None:
        _scatter(upper[-1], scatter)
        upper[-1].set_title(SOURCES[SCATTER_DATASET].title)
    figure.get_layout_engine().set(w_pad=0.08)  # type: ignore[union-attr,call-arg]
    return figure


def _window_panel(axes: Axes, window: Mapping[str, Any]) -> None:
    blue = SCORES["cg"][1]
    for reading, (_, label) in READINGS.items():
        points = [
            (offset, accuracies)
            for offset, accuracies in zip(
                window["offsets"], window[reading]["accuracy"], strict=True
            )
            if accuracies
        ]
        if not points:
            continue
        offsets = [offset for offset, _ in points]
        means = [np.mean(accuracies) for _, accuracies in points]
        spread = [deviation(accuracies) or np.nan for _, accuracies in points]
        style = _STYLES[reading] if len(points) > MAX_POINTS else _STYLES[reading][0]
        axes.errorbar(
            offsets, means, spread, fmt=style, color=blue, label=label, markersize=4, capsize=2
        )
    axes.legend(loc="lower left")
    axes.set(xlabel="window starts at (% of examples)", ylabel="test accuracy")
    axes.yaxis.label.set_color(blue)
    wrong = window["per_class"]["wrong"]
    if wrong:
        right_axis = axes.twinx()
        right_axis.plot(window["offsets"], 100 * np.array(wrong), ":", color=WRONG)
        right_axis.set_ylabel("wrong labels (%), per class", color=WRONG)
        right_axis.set_ylim(bottom=-2)
        right_axis.grid(visible=False)


def _scatter(axes: Axes, found: CellResult) -> None:
    partial, cg, wrong = (found[f"scatter_{name}"] for name in ("partial", "cg", "wrong"))
    for in_group, colour, label in ((~wrong, RIGHT, "right label"), (wrong, WRONG, "wrong label")):
        axes.plot(
            partial[in_group],
            cg[in_group],
            ".",
            color=colour,
            markersize=2,
            alpha=0.5,
            label=label,
            rasterized=True,
        )
    axes.axvline(0, color="#444444", linewidth=0.8, zorder=1)
    axes.set_xlim(*np.percentile(partial, (0.1, 99.9)))
    axes.set_ylim(0, float(np.percentile(cg, 99.9)))
    axes.set(xlabel="partial CG-score", ylabel="CG-score")
    axes.legend(loc="upper left", markerscale=4, handletextpad=0.2)


def _caption(windows: Mapping[str, Any], scatter: CellResult | None) -> str:
    parts = []
    if windows:
        parts.append(
            f"Test accuracy (left axis) of a network trained on half of the examples, {_PER_CENT} "
            "of the labels being wrong, from each offset of the ascending order by CG-score. "
            "Dotted (right axis): wrong labels in that half."
        )
    if scatter is not None:
        shown, count = len(scatter["scatter_cg"]), scatter["examples"]
        parts.append(
            f"{'Last: partial' if windows else 'Partial'} score and CG-score, {shown:,} of "
            f"{count:,} examples, drawn at random; axes leave out the outermost thousandths."
        )
    return " ".join(parts)
