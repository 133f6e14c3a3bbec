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
from cgscore_paper.datasets import SOURCES, missing
from cgscore_paper.figures import SCORES, curve, legend_below, panels
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.results import table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import BY_TRAINING, accuracy_cells, examples_cell, scoring_cells

if TYPE_CHECKING:
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

    def means(self, order: str, by: str) -> list[float]:
        """The mean accuracy at each share removed."""
        return [float(np.mean(accuracies)) for accuracies in self.found[order][by]]

    def overall(self, order: str, by: str) -> float:
        """The mean over all shares above 0."""
        return float(np.mean(self.means(order, by)[1:]))

    def harmless_share(self, order: str, by: str) -> float:
        """The largest share up to which less than `SMALL_LOSS` of the accuracy is lost."""
        floor, last = np.mean(self.full) - SMALL_LOSS, 0.0
        for share, mean in zip(self.removed, self.means(order, by), strict=True):
            if mean <= floor:
                break
            last = share
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
        rows: list[list[Any]] = [["all examples", "", *[_shown(self.full)] * len(removed), ""]]
        for order, by_score in self.found.items():
            for by, accuracies in by_score.items():
                removed_first = {"random": "any", "craig": "chosen anew"}.get(
                    by, order.split("-")[0]
                )
                if by == "random" and order != "low-first":
                    continue
                shown = [_shown(at_share) for at_share in accuracies[1:]]
                rows.append(
                    [SCORES[by][0], removed_first, *shown, percent(self.harmless_share(order, by))]
                )
        sentences = [f"{title}: with all examples the accuracy is {np.mean(self.full):.3f}."]
        for order, kind in (("low-first", "highest"), ("high-first", "lowest")):
            ranked = sorted(self.found[order], key=lambda by: self.overall(order, by))
            if order == "low-first":
                ranked.reverse()
            shown = [f"{SCORES[by][0]} ({self.overall(order, by):.3f})" for by in ranked]
            sentences.append(
                f"With the {ORDERS[order]}, the mean over the shares removed is {kind} for "
                f"{shown[0]}, followed by {', '.join(shown[1:])}."
            )
        return f"{table(head, rows)}\n\n{' '.join(sentences)}"


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
    published = "c_score" in work(examples_cell(plan, dataset)).value
    known_scores = tuple(by for by in scores if published or by != "c_score")
    sizes: dict[str, Any] = {"kept": plan.kept, "repeats": plan.repeats, "net": plan.net} | options
    return Experiment(dataset, known_scores, **sizes)


def score_stages(work: Work, plan: Plan, needed: Iterable[tuple[str, float]]) -> None:
    """Run what gives scores for datasets and rates of wrong labels: without training, then with."""
    pairs = list(dict.fromkeys(needed))
    datasets = dict.fromkeys(dataset for dataset, _ in pairs)
    work.all([examples_cell(plan, dataset) for dataset in datasets], "examples")
    work.all([subset_cell(plan, *pair) for pair in pairs], "scores without training")
    work.all([cell for pair in pairs for cell in scoring_cells(plan, *pair)], "scores by training")


def run(
    work: Work, plan: Plan, experiments: Sequence[Experiment], other_cells: Sequence[Cell] = ()
) -> list[Curves]:
    """Scores first, then all trainings of all experiments beside each other, and other cells."""
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
    work.all([*other_cells, *cells.values()], "trainings on parts")
    accuracies = {
        point: [float(work.load(cell)["accuracy"]) for cell in trainings]
        for point, trainings in points.items()
    }
    return [
        Curves(
            experiment,
            len(work(examples_cell(plan, experiment.dataset))["own"]),
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


def draw(experiments: Mapping[str, Curves]) -> Figure:
    """A figure with a row for each order and a column, under its title, for each experiment."""
    figure, axes = panels(len(ORDERS), len(experiments))
    for column, (title, curves) in enumerate(experiments.items()):
        axes[0, column].set_title(title)
        for row, order in enumerate(ORDERS):
            panel = axes[row, column]
            label, grey = SCORES["full"]
            mean, spread = np.mean(curves.full), np.std(curves.full)
            panel.axhline(mean, color=grey, label=label)
            panel.axhspan(mean - spread, mean + spread, color=grey, alpha=0.15, linewidth=0)
            for by, accuracies in curves.found[order].items():
                curve(panel, [100 * share for share in curves.removed], accuracies, by)
            if row == len(ORDERS) - 1:
                panel.set_xlabel("examples removed (%)")
            if column == 0:
                panel.set_ylabel(f"test accuracy,\n{ORDERS[order]}")
    legend_below(figure, axes[0])
    return figure


def training_caption(plan: Plan, experiments: Sequence[Curves]) -> str:
    """Sentences about the trainings for captions."""
    repeats = sorted({curves.experiment.repeats for curves in experiments})
    counts = sorted({curves.examples for curves in experiments})
    spread = " and, as a band, standard deviation" if max(repeats) > 1 else ""
    scores = [by for curves in experiments for by in curves.experiment.scores]
    parts = [
        f"Test accuracy after training on what is left of {listed(counts)} examples: mean{spread} "
        f"of {listed(repeats)} training{'s' * (max(repeats) > 1)}, each with as many steps as for "
        "all examples. The same share of every class is removed. The CG-score is the paper's "
        f"estimate from these examples alone ({plan.subset_runs} runs)."
    ]
    trained = [SCORES[by][0] for by in dict.fromkeys(scores) if by in BY_TRAINING]
    if trained:
        runs = sorted({plan.scoring(curves.experiment.dataset).runs for curves in experiments})
        parts.append(
            f"By {listed(runs)} other trainings of a ResNet on all of them: {listed(trained)}."
        )
    if "c_score" in scores:
        parts.append("C-scores are those published for all training examples.")
    return " ".join(parts)


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"


def listed(values: Sequence[Any]) -> str:
    """Words or numbers joined by commas and "and"."""
    shown = [value if isinstance(value, str) else f"{value:,}" for value in values]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def _summary(accuracies: Accuracies) -> dict[str, Any]:
    return {
        "mean": [float(np.mean(at_share)) for at_share in accuracies],
        "deviation": [float(np.std(at_share)) for at_share in accuracies],
        "each": [list(at_share) for at_share in accuracies],
    }


def _shown(accuracies: Sequence[float]) -> str:
    return f"{np.mean(accuracies):.3f}" + (
        f" ± {np.std(accuracies):.3f}" if len(accuracies) > 1 else ""
    )
