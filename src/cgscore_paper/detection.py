"""Wrong labels found by examining the highest scores first (figure 3, appendix G)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore_paper.cells import Work, if_finished
from cgscore_paper.datasets import SOURCES
from cgscore_paper.densities import log_axis, steps
from cgscore_paper.detection_curve import EXAMINED_SHARES, detection_numbers
from cgscore_paper.figures import RIGHT, SCORES, WRONG, legend_below, panels
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import examples_cell, scoring_cells, subset_codes, values
from cgscore_paper.whole import summary_cell, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Scores of whole datasets, and of the training subset.
DATASET_SCORES = ("cg", "partial")
SUBSET_SCORES = (*DATASET_SCORES, "forgetting", "el2n")

#: Sentences about the curves for captions.
CURVE_NOTE = (
    "The oracle examines wrong labels first. Ties count as in a random order. What is never right "
    "counts as never forgotten, as in the paper."
)


@dataclass(frozen=True)
class Noisy:
    """Examples of which some labels are wrong, and what their scores find.

    Attributes
    ----------
    title : str
        Of a panel: dataset, how many examples, which share is wrong.
    numbers : mapping
        As `detection_curve.detection_numbers` returns them.
    """

    title: str
    numbers: Mapping[str, Any]

    @property
    def curves(self) -> dict[str, Any]:
        """The numbers without densities."""
        return {name: self.numbers[name] for name in ("examples", "wrong", "scores")}

    def draw_density(self, axes: Axes) -> None:
        """Densities of CG for right and wrong labels, each of area 1 before clipping."""
        density = self.numbers["density"]
        bins = np.linspace(density["from"], density["to"], len(density["right"]) + 1)
        for group, colour in (("right", RIGHT), ("wrong", WRONG)):
            steps(axes, density[group], bins, colour, f"{group} labels")
        log_axis(axes, (density["right"], density["wrong"]))
        axes.set_title(self.title)
        axes.set_xlabel("CG-score")
        axes.set_ylabel("density")

    def draw_found(self, axes: Axes) -> None:
        """The curve of every score, between the oracle and a random order."""
        share = self.numbers["wrong"] / self.numbers["examples"]
        lines = {"oracle": np.minimum(EXAMINED_SHARES / share, 1), "random": EXAMINED_SHARES}
        lines |= {by: score["found"] for by, score in self.numbers["scores"].items()}
        styles = {"oracle": "--", "random": ":", "partial": "-."}
        for by, found in lines.items():
            label, colour = SCORES[by]
            y = 100 * np.asarray(found)
            axes.plot(100 * EXAMINED_SHARES, y, styles.get(by, "-"), color=colour, label=label)
        axes.set_title(self.title)
        axes.set_xlabel("examined (% of examples)")
        axes.set_ylabel("wrong labels found (%)")


def compute_cells(work: Work, plan: Plan, datasets: Sequence[str], rates: Sequence[float]) -> None:
    """Compute all cells of `noisy_dataset` and `noisy_subset`: scores first, then trainings."""
    if work.stored_only:
        return
    cells = [summary_cell(plan, name) for name in datasets]
    cells += [subset_cell(plan, name, rate) for name in datasets for rate in rates]
    cells += [examples_cell(plan, name) for name in datasets]
    work.all(cells, "scores without training")
    trainings = [scoring_cells(plan, name, rate) for name in datasets for rate in rates]
    work.all([cell for cells in trainings for cell in cells], "trainings for scores")


def noisy_dataset(work: Work, plan: Plan, dataset: str, rate: float) -> Noisy | None:
    """All examples of a dataset, scored without training; None if that is not finished."""
    found = if_finished(lambda: summary_of(work, plan, dataset))
    if found is None:
        return None
    numbers = found["rates"][str(round(100 * rate))]
    return Noisy(_title(dataset, rate, numbers["examples"]), numbers)


def noisy_subset(
    work: Work, plan: Plan, dataset: str, rate: float, names: Sequence[str] = SUBSET_SCORES
) -> Noisy | None:
    """The examples that are trained on, by those scores that are finished; None without any."""
    codes = subset_codes(work, plan, dataset)
    scores = {
        by: score
        for by in names
        if (score := if_finished(lambda by=by: values(work, plan, dataset, by, rate)))  # type: ignore[misc]
        is not None
    }
    if "cg" not in scores or len(scores) <= len(DATASET_SCORES):
        return None
    wrong = wrong_labels(codes, rate, plan.seed) != codes
    return Noisy(_title(dataset, rate, len(codes)), detection_numbers(wrong, scores))


def _title(dataset: str, rate: float, examples: int) -> str:
    return f"{SOURCES[dataset].title}: {rate:.0%} of {examples:,} wrong"


def untested(dataset: str, rate: float, trained: bool) -> str:
    """What an item says of detection that is not finished."""
    how = "with scores by training" if trained else "scored without training"
    return f"{SOURCES[dataset].title}, {rate:.0%} wrong labels, {how}"


def rows(shown: Iterable[Noisy]) -> str:
    """A table of the wrong labels that each score finds."""
    lines = [
        [noisy.title, SCORES[by][0], score["auroc"], score["found_among_as_many"]]
        for noisy in shown
        for by, score in noisy.numbers["scores"].items()
    ]
    return table(["", "score", "AUROC", "found among as many as are wrong"], lines)


def draw_all(shown: Sequence[Noisy]) -> tuple[Figure, str]:
    """A figure with a panel of curves for each, and its caption."""
    figure, axes = panels(1, len(shown), share_y=True)
    for panel, noisy in zip(axes[0], shown, strict=True):
        noisy.draw_found(panel)
        panel.label_outer()
    legend_below(figure, axes[0])
    caption = (
        "Wrong labels found when the highest scores are examined first; all scores are of the same "
        f"examples and labels. {CURVE_NOTE}"
    )
    if not any(noisy.title.startswith(SOURCES["cifar-100"].title) for noisy in shown):
        caption += " CIFAR-10 stands where the paper shows CIFAR-100."
    return figure, caption
