"""Appendix D: seconds for each score, in one run on one machine."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from cgscore import score
from cgscore.errors import CGScoreWarning, ResultError
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.datasets import SOURCES, Images, load, missing
from cgscore_paper.figures import SCORES, legend_below, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import NOT_TESTED, Result, table
from cgscore_paper.scores import RATIOS, exact_cell, shared_runs, subset_rows
from cgscore_paper.trainings import examples_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cgscore import Scores

TITLE = "Appendix D: seconds for each score"

#: Name in tables, and of the colour.
ROWS: Mapping[str, tuple[str, str]] = {
    **{f"cg-{ratio}": (f"CG-score 1:{ratio}", "cg") for ratio in RATIOS},
    "forgetting": ("Forgetting", "forgetting"),
    "el2n": ("EL2N", "el2n"),
    "tracin": ("TracIn", "tracin"),
    "craig": ("CRAIG", "craig"),
    "exact": ("exact CG (ours)", "exact_cg"),
    "iterative": ("iterative CG (ours)", "iterative_cg"),
}

#: Seconds of the paper on an Nvidia A100, whole datasets.
PAPER: Mapping[str, Mapping[str, float]] = {
    "fashion-mnist": {
        "cg-1": 1063,
        "cg-2": 2610,
        "cg-3": 4834,
        "forgetting": 1879,
        "el2n": 370,
        "tracin": 1856,
        "craig": 3023,
    },
    "cifar-10": {
        "cg-1": 608,
        "cg-2": 1497,
        "cg-3": 2773,
        "cg-4": 4388,
        "forgetting": 3322,
        "el2n": 323,
        "tracin": 3425,
        "craig": 5263,
    },
    "cifar-100": {
        "cg-1": 37.9,
        "cg-2": 40.3,
        "cg-3": 49.0,
        "cg-4": 61.1,
        "forgetting": 6675,
        "el2n": 662,
        "tracin": 8400,
        "craig": 10472,
    },
}

CRAIG_SHARE = 0.3  # of the examples, on which CRAIG trains


@job(
    "seconds",
    version=1,
    alone=True,
    sample={"plan": "sample", "datasets": ["fashion-mnist"], "seed": 0},
    tolerance=None,
)
def measured_seconds(work: Work, plan: str, datasets: Sequence[str], seed: int) -> dict[str, Any]:
    """Seconds for each score of the training subset, one after the other.

    All datasets are in one cell, so that they are timed under the same conditions. Neither reading
    nor the comparison with exact scores that `cgscore.score` adds to the paper's estimator counts.
    """
    sizes_of_plan = Plan.named(plan, seed)
    seconds: dict[str, dict[str, float]] = {}
    sizes = {}
    for dataset in datasets:
        whole = load(work.data, dataset)
        images = whole[subset_rows(sizes_of_plan, whole.codes)]
        sizes[dataset] = {"examples": len(images), "whole": len(whole)}
        timers = _timers(work, sizes_of_plan, dataset, images)
        with work.progress.phase(f"seconds, {SOURCES[dataset].title}", len(timers)) as advance:
            seconds[dataset] = {}
            for name, timer in timers.items():
                seconds[dataset][name] = timer()
                advance(1)
    return {"seconds": seconds, "sizes": sizes, "cores": os.cpu_count()}


def _timers(work: Work, plan: Plan, dataset: str, images: Images) -> dict[str, Callable[[], float]]:
    """Functions that compute a score and return the seconds; data and imports are loaded before."""
    from cgscore.training import scores_by_training, train

    X, codes = images.rows(SOURCES[dataset].standardised), images.codes
    data, preset = work(examples_cell(plan, dataset)), plan.scoring(dataset)

    def by_kernel(**how: Any) -> Scores:
        with warnings.catch_warnings():  # one run leaves some predictions out
            warnings.simplefilter("ignore", CGScoreWarning)
            return score(X, codes, seed=plan.seed, judge=False, progress=False, **how)

    def by_estimator(ratio: int) -> float:
        scores = by_kernel(method="subsample", ratio=ratio, runs=1)
        return float(scores.meta["timings"]["tasks"])

    def by_training(name: str) -> object:
        return scores_by_training(
            data["X"],
            data["own"],
            preset=preset,
            names=(name,),
            X_test=data["X_test"],
            y_test=data["own_test"],
            runs=1,
            seed=plan.seed,
            progress=False,
            device=work.device,
        )

    def craig() -> object:
        channels = data["X"].shape[3] if data["X"].ndim == 4 else 1
        return train(
            preset.build(len(images.names), channels=channels, seed=plan.seed),
            data["X"],
            data["own"],
            settings=preset.settings,
            select=preset.craig(CRAIG_SHARE),
            seed=plan.seed,
            records=False,
            progress=False,
            device=work.device,
        )

    ratios = [ratio for ratio in RATIOS if ratio <= SOURCES[dataset].ratio]
    return {
        **{f"cg-{ratio}": partial(by_estimator, ratio) for ratio in ratios},
        **{
            name: partial(_elapsed, partial(by_training, name))
            for name in ("forgetting", "el2n", "tracin")
        },
        "craig": partial(_elapsed, craig),
        "exact": partial(_elapsed, partial(by_kernel, method="exact")),
        "iterative": partial(_elapsed, partial(by_kernel, method="iterative", device=work.device)),
    }


def _elapsed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def seconds_cell(plan: Plan, datasets: Sequence[str]) -> Cell:
    """The cell of `measured_seconds`."""
    return measured_seconds.cell(plan=plan.name, datasets=list(datasets), seed=plan.seed)


@job(
    "seconds.estimator",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "ratio": 2, "seed": 0},
    tolerance=None,
)
def estimator_seconds(work: Work, dataset: str, ratio: int, seed: int) -> dict[str, Any]:
    """Seconds of one run of the paper's estimator for all examples, and how busy the machine is."""
    images, before = load(work.data, dataset), psutil.getloadavg()[0]
    with warnings.catch_warnings():  # one run leaves some predictions out
        warnings.simplefilter("ignore", CGScoreWarning)
        scores = score(
            images.rows(SOURCES[dataset].standardised),
            images.codes,
            method="subsample",
            ratio=ratio,
            runs=1,
            seed=seed,
            judge=False,
            progress=False,
        )
    return {
        "seconds": float(scores.meta["timings"]["tasks"]),
        "load": before,
        "cores": os.cpu_count(),
    }


def estimator_cell(plan: Plan, dataset: str, ratio: int) -> Cell:
    """The cell of `estimator_seconds`."""
    return estimator_seconds.cell(dataset=dataset, ratio=ratio, seed=plan.seed)


def _whole(work: Work, plan: Plan) -> Result:
    """Seconds for whole datasets, of those cells that are finished."""
    seconds: dict[str, dict[str, float]] = {}
    loads: list[float] = []
    not_run = []
    for name in PAPER:
        if missing(work.data, name):
            not_run.append(f"{SOURCES[name].title}: {missing(work.data, name)}")
            continue
        seconds[name] = {}
        for ratio in RATIOS:
            found = if_finished(lambda n=name, r=ratio: work(estimator_cell(plan, n, r)))  # type: ignore[misc]
            if found is not None:
                seconds[name][f"cg-{ratio}"] = found["seconds"]
                loads.append(found["load"])
        exact = if_finished(lambda n=name: work(exact_cell(n)))  # type: ignore[misc]
        if exact is not None:
            seconds[name]["exact"] = exact.seconds
    keys = [key for key in ROWS if key != "iterative"]
    rows = [
        [
            ROWS[key][0],
            *(
                entry
                for name in seconds
                for entry in (_paper_seconds(name, key), _our_seconds(seconds[name], key))
            ),
        ]
        for key in keys
    ]
    head = [""]
    for name in seconds:
        head += [f"{SOURCES[name].title}, paper", "ours"]
    text = (
        "Seconds in one run for all examples: the paper's on an Nvidia A100, ours on two cores. "
        "The two machines cannot be compared, only which score takes longer than which.\n\n"
        + table(head, rows)
    )
    if loads:
        text += (
            f"\n\nWhile the estimator was timed, up to {max(loads):.1f} other processes wanted "
            "to run."
        )
    shown = {name: of for name, of in seconds.items() if of}
    caption = (
        "Seconds for each score in one run, whole datasets: ours on two cores, the paper's on an "
        "Nvidia A100."
    )
    return Result(
        {"seconds": seconds, "paper": {name: dict(PAPER[name]) for name in seconds}},
        text,
        {"": (_figure(shown), caption)} if shown else {},
        not_run=not_run,
    )


def _paper_seconds(name: str, key: str) -> str | None:
    return _formatted(PAPER[name][key]) if key in PAPER[name] else None


def _our_seconds(seconds: Mapping[str, float], key: str) -> str:
    return _formatted(seconds[key]) if key in seconds else NOT_TESTED


def make(work: Work, plan: Plan) -> Result:
    """A table for each dataset, and bars."""
    if plan.background:
        return _whole(work, plan)
    missing_reasons = {name: missing(work.data, name) for name in PAPER}
    datasets = [name for name in PAPER if missing_reasons[name] is None] or list(
        PAPER
    )  # load() explains what is missing
    timing = work(seconds_cell(plan, datasets))
    seconds, sizes = timing["seconds"], timing["sizes"]
    full = {name: _full_size(work, plan, name) for name in datasets}
    numbers = {
        "seconds": seconds,
        "paper": {name: dict(PAPER[name]) for name in datasets},
        "sizes": sizes,
        "cores": timing["cores"],
        "full_size": full,
    }
    text = "\n\n".join(
        [
            "Seconds in one run, and how many times those of EL2N in the same column. Ours are of "
            f"the examples that are trained on, with {timing['cores']} cores and one training for "
            "each score; the paper's are of whole datasets on an Nvidia A100. Seconds of the two "
            "cannot be compared, only which score takes longer than which. The time of CG-scores "
            "grows with the cube of the number of examples, that of training in proportion: the "
            "fewer examples, the cheaper are CG-scores beside training. CRAIG is a training on "
            f"{100 * CRAIG_SHARE:.0f} % of the examples; epochs between its choices: "
            f"{plan.scoring(datasets[0]).reselect_every}. Of the paper's estimator the check of a "
            "sample against exact scores, which `cgscore.score` adds, is not counted.",
            *(_table(name, seconds[name], sizes[name]["examples"]) for name in datasets),
            _full_size_text(full, sizes),
        ]
    )
    caption = (
        "Seconds for each score in one run: ours of "
        + ", ".join(
            f"{sizes[name]['examples']:,} examples of {SOURCES[name].title}" for name in datasets
        )
        + f" with {timing['cores']} cores, the paper's of whole datasets on an Nvidia A100."
    )
    return Result(
        numbers,
        text,
        {"": (_figure(seconds), caption)},
        not_run=[
            f"{SOURCES[name].title}: {missing_reasons[name]}"
            for name in PAPER
            if name not in datasets
        ],
    )


def _table(name: str, ours: Mapping[str, float], examples: int) -> str:
    paper = PAPER[name]
    rows = []
    for key in ours:
        paper_seconds = paper.get(key)
        rows.append(
            [
                ROWS[key][0],
                _formatted(ours[key]),
                f"{ours[key] / ours['el2n']:.2f}",
                None if paper_seconds is None else _formatted(paper_seconds),
                None if paper_seconds is None else f"{paper_seconds / paper['el2n']:.2f}",
            ]
        )
    title = f"{SOURCES[name].title}, {examples:,} examples"
    return table([title, "seconds", "/ EL2N", "paper, seconds", "paper, / EL2N"], rows)


def _formatted(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.2f}"


def _full_size(work: Work, plan: Plan, name: str) -> dict[str, float]:
    """Seconds for the whole dataset, of the estimator and of exact scores if they were computed."""
    measured = {}
    run_seconds = [
        seconds for cell in shared_runs(plan, name) if (seconds := _stored_seconds(work, cell))
    ]
    if run_seconds:
        measured["shared_run"] = float(np.mean(run_seconds))
    exact = _stored_seconds(work, exact_cell(name))
    if exact:
        measured["exact"] = exact
    return measured


def _stored_seconds(work: Work, cell: Cell) -> float | None:
    """Seconds of a cell that was computed for another item, or None."""
    try:
        return work.load(cell).seconds
    except ResultError:
        return None


def _full_size_text(full: Mapping[str, Mapping[str, float]], sizes: Mapping[str, Any]) -> str:
    lines = []
    for name, measured in full.items():
        title, n = SOURCES[name].title, sizes[name]["whole"]
        if "shared_run" in measured:
            lines.append(
                f"{title}, all {n:,} examples: one run of the estimator whose classes share their "
                f"others took {measured['shared_run']:,.0f} seconds, for all ratios and all four "
                "shares of wrong labels of these experiments together."
            )
        if "exact" in measured:
            lines.append(
                f"{title}, all {n:,} examples: exact scores took {measured['exact']:,.0f} seconds."
            )
    return "\n".join(f"- {line}" for line in lines)


def _figure(seconds: Mapping[str, Mapping[str, float]]) -> Figure:
    figure, ((*all_axes,),) = panels(1, len(seconds), width=4.0, height=3.6)
    for axes, (name, ours) in zip(all_axes, seconds.items(), strict=True):
        place = np.arange(len(ours))
        axes.barh(
            place - 0.2,
            list(ours.values()),
            0.38,
            color=[SCORES[ROWS[key][1]][1] for key in ours],
            label="coloured: ours",
        )
        paper_bars = [(i, PAPER[name][key]) for i, key in enumerate(ours) if key in PAPER[name]]
        axes.barh(
            [i + 0.2 for i, _ in paper_bars],
            [value for _, value in paper_bars],
            0.38,
            color="#d0d0d0",
            label="grey: paper, whole dataset, Nvidia A100",
        )
        axes.set_yticks(place, [ROWS[key][0] for key in ours])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="seconds", title=SOURCES[name].title)
    legend_below(figure, all_axes[:1])
    return figure
