"""Test accuracy against the share of examples removed, for several figures.

An experiment is a dataset, a network and a list of scores. Its trainings are cells of
`trainings.accuracy`, so trainings that experiments share are done once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, has_c_scores, load, missing
from cgscore_paper.figures import (
    MAX_POINTS,
    MIN_REPEATS,
    SCORES,
    curve,
    deviation,
    legend_below,
    panels,
)
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.results import NOT_TESTED, Compared, table
from cgscore_paper.scores import subset_cell, subset_rows
from cgscore_paper.trainings import BY_TRAINING, accuracy_cells, examples_cell, scoring_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Where the paper prunes.
DATASETS = ("fashion-mnist", "cifar-10", "cifar-100")
#: What is removed first, and what an axis says of it.
ORDERS = {"low-first": "lowest scores removed first", "high-first": "highest scores removed first"}
#: A loss of accuracy that the paper calls small.
SMALL_LOSS = 0.01

Accuracies = list[list[float]]


@dataclass(frozen=True)
class Experiment:
    """What is pruned, by which scores, and what is trained.

    Attributes
    ----------
    dataset : str
        Its name.
    scores : tuple of str
        Scores, ``random`` and ``craig``.
    kept : tuple of float
        Shares of the examples that stay.
    repeats : int
        Trainings for every point.
    net : str
        The network.
    """

    dataset: str
    scores: tuple[str, ...]
    kept: tuple[float, ...]
    repeats: int
    net: str = "resnet"

    def orders(self, by: str) -> tuple[str, ...]:
        """Orders in which a score prunes: CRAIG chooses what stays and has no opposite."""
        return ("low-first",) if by == "craig" else tuple(ORDERS)

    def cells(self, plan: Plan, by: str, order: str, share: float) -> list[Cell]:
        """Trainings of one point; random removal has no order, so both orders share its cells."""
        return accuracy_cells(
            plan,
            self.dataset,
            by,
            order="low-first" if by == "random" else order,
            fraction=share,
            net=self.net,
            repeats=self.repeats,
        )


@dataclass(frozen=True)
class Curves:
    """The accuracies of an experiment.

    Attributes
    ----------
    experiment : Experiment
        What was done.
    examples : int
        Training examples before anything is removed.
    full : list of float
        Accuracies after training on all of them.
    found : mapping
        Order -> score -> accuracies at each of `removed`, of which the first is `full`.
    """

    experiment: Experiment
    examples: int
    full: list[float]
    found: Mapping[str, Mapping[str, Accuracies]]

    @property
    def removed(self) -> list[float]:
        """Shares of the examples, from 0 up."""
        return [0.0] + [round(1 - share, 6) for share in self.experiment.kept]

    @property
    def started(self) -> bool:
        """Whether any training is finished."""
        return bool(self.full) or any(
            accuracies
            for by_score in self.found.values()
            for points in by_score.values()
            for accuracies in points
        )

    @property
    def cg(self) -> str:
        """The CG-score that prunes: the exact one where that was tested."""
        return "exact_cg" if "exact_cg" in self.scores("low-first") else "cg"

    def means(self, order: str, by: str) -> list[float | None]:
        """The mean accuracy at each share removed; None where nothing is finished."""
        return [_mean(accuracies) for accuracies in self.found[order][by]]

    def scores(self, order: str) -> list[str]:
        """Scores by which anything was removed in an order."""
        return [by for by in self.found[order] if any(self.found[order][by][1:])]

    def common(self, order: str) -> list[int]:
        """Places of the shares above 0 at which all of `scores` were tested."""
        return [
            place
            for place in range(1, len(self.removed))
            if all(self.found[order][by][place] for by in self.scores(order))
        ]

    def overall(self, order: str, by: str) -> float | None:
        """The mean over the shares at which all scores were tested."""
        points = [self.found[order][by][place] for place in self.common(order)]
        return (
            float(np.mean([np.mean(point) for point in points])) if all(points) and points else None
        )

    def harmless_share(self, order: str, by: str) -> float | None:
        """The largest tested share up to which less than `SMALL_LOSS` of the accuracy is lost."""
        if not self.full or not any(self.found[order][by][1:]):
            return None
        floor, last = np.mean(self.full) - SMALL_LOSS, 0.0
        for share, mean in zip(self.removed, self.means(order, by), strict=True):
            if mean is not None and mean <= floor:
                break
            last = last if mean is None else share
        return last

    def numbers(self) -> dict[str, Any]:
        """All that a figure and a table show."""
        return {
            "examples": self.examples,
            "trainings": self.experiment.repeats,
            "removed": self.removed,
            "full": _summary([self.full]),
            **{
                order: {
                    by: _summary(accuracies)
                    | {
                        "overall": self.overall(order, by),
                        "lasting": self.harmless_share(order, by),
                    }
                    for by, accuracies in by_score.items()
                }
                for order, by_score in self.found.items()
            },
        }

    def text(self, title: str) -> str:
        """A table of accuracies, and sentences that say which score is where."""
        removed = [f"{percent(share)} removed" for share in self.removed[1:]]
        head = [title, "removed first", *removed, f"less than {SMALL_LOSS} lost up to"]
        rows: list[list[Any]] = [["all examples", "", _shown(self.full), *[""] * len(removed)]]
        for order, by_score in self.found.items():
            for by, accuracies in by_score.items():
                removed_first = {"random": "any", "craig": "chosen anew"}.get(
                    by, order.split("-")[0]
                )
                if by == "random" and order != "low-first":
                    continue
                shown = [_shown(at_share) for at_share in accuracies[1:]]
                harmless = self.harmless_share(order, by)
                rows.append(
                    [
                        SCORES[by][0],
                        removed_first,
                        *shown,
                        NOT_TESTED if harmless is None else percent(harmless),
                    ]
                )
        return "\n\n".join([table(head, rows), *self._ranks(title)])

    def _ranks(self, title: str) -> list[str]:
        """Sentences on the order of scores, where two or more can be compared."""
        sentences = []
        for order, kind in (("low-first", "highest"), ("high-first", "lowest")):
            means = {by: self.overall(order, by) for by in self.scores(order)}
            ranked = sorted(means, key=lambda by: means[by] or 0.0, reverse=order == "low-first")
            if len(ranked) < 2 or not self.common(order):
                continue
            shown = [f"{SCORES[by][0]} ({means[by]:.4f})" for by in ranked]
            shares = listed([percent(self.removed[place]) for place in self.common(order)])
            sentences.append(
                f"With the {ORDERS[order]}, the mean over {shares} removed is {kind} for "
                f"{shown[0]}, followed by {', '.join(shown[1:])}."
            )
        return [f"{title}: {' '.join(sentences)}"] if sentences else []


def available(work: Work, names: Iterable[str] = DATASETS) -> tuple[list[str], list[str]]:
    """The available datasets, and why the others are missing."""
    reasons = {name: missing(work.data, name) for name in names}
    return (
        [name for name in reasons if reasons[name] is None],
        [f"{SOURCES[name].title}: {text}" for name, text in reasons.items() if text],
    )


def experiment(
    work: Work, plan: Plan, dataset: str, scores: Sequence[str], **options: Any
) -> Experiment:
    """The experiment of a plan; the C-score is left out where none are published."""
    published = has_c_scores(work.data, dataset)
    known_scores = tuple(by for by in scores if published or by != "c_score")
    sizes: dict[str, Any] = {"kept": plan.kept, "repeats": plan.repeats, "net": plan.net} | options
    return Experiment(dataset, known_scores, **sizes)


def score_stages(work: Work, plan: Plan, needed: Iterable[tuple[str, float]]) -> None:
    """Run what gives scores for datasets and rates of wrong labels: without training, then with."""
    if work.stored_only:
        return
    pairs = list(dict.fromkeys(needed))
    datasets = dict.fromkeys(dataset for dataset, _ in pairs)
    work.all([examples_cell(plan, dataset) for dataset in datasets], "examples")
    work.all([subset_cell(plan, *pair) for pair in pairs], "scores without training")
    work.all([cell for pair in pairs for cell in scoring_cells(plan, *pair)], "scores by training")


def run(
    work: Work, plan: Plan, experiments: Sequence[Experiment], other_cells: Sequence[Cell] = ()
) -> list[Curves]:
    """Scores first, then all trainings of all experiments beside each other, and other cells.

    Of work that only reads what is stored: what is finished.
    """
    score_stages(work, plan, [(experiment.dataset, 0.0) for experiment in experiments])
    points = {
        (i, order, by, share): experiment.cells(plan, by, order, share)
        for i, experiment in enumerate(experiments)
        for by in experiment.scores
        for order in experiment.orders(by)
        for share in experiment.kept
    } | {
        (i, "", "full", 1.0): experiment.cells(plan, "full", "low-first", 1.0)
        for i, experiment in enumerate(experiments)
    }
    cells = {cell.name: cell for trainings in points.values() for cell in trainings}
    work.finished([*other_cells, *cells.values()], "trainings on parts")
    accuracies = {
        point: [float(training["accuracy"]) for training in work.finished(trainings)]
        for point, trainings in points.items()
    }
    return [
        Curves(
            experiment,
            subset_size(work, plan, experiment.dataset),
            accuracies[i, "", "full", 1.0],
            {
                order: {
                    by: [accuracies[i, "", "full", 1.0]]
                    + [accuracies[i, order, by, share] for share in experiment.kept]
                    for by in experiment.scores
                    if order in experiment.orders(by)
                }
                for order in ORDERS
            },
        )
        for i, experiment in enumerate(experiments)
    ]


def subset_size(work: Work, plan: Plan, dataset: str) -> int:
    """How many examples are trained on before any are removed."""
    return len(subset_rows(plan, load(work.data, dataset).codes))


def harmless_comparison(title: str, paper: float, curves: Curves | None) -> Compared:
    """A share that the paper removes, lowest scores first, at a small loss; more is as good."""
    what = f"{title}: share removed, lowest CG first, at a loss below {SMALL_LOSS} (at least)"
    if curves is None or not curves.full or curves.cg not in curves.scores("low-first"):
        return Compared(what, paper, None)
    means = curves.means("low-first", curves.cg)
    tested = [at for at, mean in zip(curves.removed, means, strict=True) if mean is not None]
    share = curves.harmless_share("low-first", curves.cg) or 0.0
    if share < paper and max(tested) < paper:  # nothing is known of as large a share
        return Compared(what, paper, None)
    return Compared(what, paper, min(share, paper), size=f"{curves.examples:,}")


def untested(title: str) -> str:
    """What an item says of a dataset of which no training is finished."""
    return f"{title}: no training is finished"


def draw(experiments: Mapping[str, Curves]) -> Figure:
    """A figure with a row for each order and a column, under its title, for each experiment."""
    figure, axes = panels(len(ORDERS), len(experiments), share_y="col")
    for column, (title, curves) in enumerate(experiments.items()):
        axes[0, column].set_title(title)
        for row, order in enumerate(ORDERS):
            panel = axes[row, column]
            _draw_full(panel, curves.full)
            shares = [100 * share for share in curves.removed]
            scores = curves.scores(order)
            for i, by in enumerate(scores):
                few = sum(map(bool, curves.found[order][by][1:])) < MAX_POINTS
                start = 1 if few else 0  # a line starts at all examples
                place = i - len(scores) // 2
                curve(panel, shares[start:], curves.found[order][by][start:], by, place=place)
            panel.set_xlim(-4, 100 * curves.removed[-1] + 6)
            if row == len(ORDERS) - 1:
                panel.set_xlabel("examples removed (%)")
            if column == 0:
                panel.set_ylabel(f"test accuracy,\n{ORDERS[order]}")
    legend_below(figure, axes.ravel())
    return figure


def _draw_full(panel: Axes, accuracies: Sequence[float]) -> None:
    """The accuracy with all examples, with a band of its deviation."""
    if not accuracies:
        return
    label, grey = SCORES["full"]
    mean, spread = np.mean(accuracies), deviation(accuracies)
    panel.axhline(float(mean), color=grey, label=label)
    if spread is not None:
        panel.axhspan(mean - spread, mean + spread, color=grey, alpha=0.15, linewidth=0)


def training_caption(plan: Plan, experiments: Sequence[Curves]) -> str:
    """Sentences about the trainings for captions."""
    counts = sorted({curves.examples for curves in experiments})
    scores = [by for curves in experiments for by in curves.experiment.scores]
    trainings = sorted({len(point) for curves in experiments for point in _points(curves) if point})
    span = listed(sorted({trainings[0], trainings[-1]})) if trainings else "0"
    parts = [
        f"Test accuracy after training on what is left of {listed(counts)} examples; mean of "
        f"{span} training{'s' * (span != '1')}, sample standard deviation where there are "
        f"{MIN_REPEATS} or more."
    ]
    trained = [SCORES[by][0] for by in dict.fromkeys(scores) if by in BY_TRAINING]
    if trained:
        runs = sorted({plan.scoring(curves.experiment.dataset).runs for curves in experiments})
        parts.append(f"{listed(trained)}: means of {listed(runs)} other trainings on all examples.")
    return " ".join(parts)


def _points(curves: Curves) -> list[list[float]]:
    by_score = [points for found in curves.found.values() for points in found.values()]
    return [curves.full, *(point for points in by_score for point in points)]


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"


def listed(values: Sequence[Any]) -> str:
    """Words or numbers joined by commas and "and"."""
    shown = [value if isinstance(value, str) else f"{value:,}" for value in values]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def _mean(accuracies: Sequence[float]) -> float | None:
    return float(np.mean(accuracies)) if len(accuracies) else None


def _summary(accuracies: Accuracies) -> dict[str, Any]:
    return {
        "mean": [_mean(at_share) for at_share in accuracies],
        "deviation": [deviation(at_share) for at_share in accuracies],
        "each": [list(at_share) for at_share in accuracies],
    }


def _shown(accuracies: Sequence[float]) -> str:
    if not accuracies:
        return NOT_TESTED
    spread = deviation(accuracies)
    return f"{np.mean(accuracies):.4f}" + (f" ± {spread:.4f}" if spread is not None else "")
