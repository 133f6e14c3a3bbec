"""Wrong labels found by examining the highest scores first (figure 3, appendix G)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.typing import Array, Index
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.densities import density, edges, steps
from cgscore_paper.detection_curve import EXAMINED_SHARES, auroc, found_at_count, found_shares
from cgscore_paper.figures import RIGHT, SCORES, WRONG, legend_below, panels
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import table
from cgscore_paper.scores import estimated, shared_runs, subset_cell
from cgscore_paper.trainings import examples_cell, scoring_cells, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Scores of whole datasets, and of the training subset.
DATASET_SCORES = ("cg", "partial")
SUBSET_SCORES = (*DATASET_SCORES, "forgetting", "el2n")

#: Sentences about the curves for captions.
CURVE_NOTE = (
    "The oracle examines wrong labels first; a random order finds as large a share of them as it "
    "examines. Ties count as in a random order. Forgetting is the paper's: what is never right is "
    "never forgotten, and after few epochs many wrong labels never were."
)


@dataclass(frozen=True)
class Noisy:
    """Examples of which some labels are wrong, and their scores.

    Attributes
    ----------
    title : str
        Of a panel: dataset, how many examples, which share is wrong.
    wrong : (n,) array of bool
        Labels that are wrong.
    scores : dict
        (n,) arrays by the names of `figures.SCORES`, harder being higher.
    """

    title: str
    wrong: NDArray[np.bool_]
    scores: dict[str, Array]

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that are drawn or tabulated: curves, AUROC, densities of CG."""
        bin_edges = edges(self.scores["cg"])
        return {
            **self.curves,
            "density": {
                "from": bin_edges[0],
                "to": bin_edges[-1],
                "right": density(self.scores["cg"][~self.wrong], bin_edges),
                "wrong": density(self.scores["cg"][self.wrong], bin_edges),
            },
        }

    @property
    def curves(self) -> dict[str, Any]:
        """The numbers without densities."""
        return {
            "examples": len(self.wrong),
            "wrong": int(self.wrong.sum()),
            "scores": {
                by: {
                    "auroc": auroc(score, self.wrong),
                    "found_among_as_many": found_at_count(score, self.wrong),
                    # four digits are finer than what is drawn
                    "found": np.round(found_shares(score, self.wrong), 4),
                }
                for by, score in self.scores.items()
            },
        }

    def draw_density(self, axes: Axes) -> None:
        """Densities of CG for right and wrong labels, each of area 1 before clipping."""
        cg = self.scores["cg"]
        bin_edges = edges(cg)
        for in_group, colour, label in (
            (~self.wrong, RIGHT, "right"),
            (self.wrong, WRONG, "wrong"),
        ):
            steps(axes, density(cg[in_group], bin_edges), bin_edges, colour, f"{label} labels")
        axes.set_title(self.title)
        axes.set_xlabel("CG-score")
        axes.set_ylabel("density")

    def draw_found(self, axes: Axes) -> None:
        """The curve of every score, between the oracle and a random order."""
        lines = {"oracle": self.wrong.astype(float), "random": np.zeros(len(self.wrong))}
        styles = {"oracle": "--", "random": ":", "partial": "-."}
        for by, score in (lines | self.scores).items():
            label, colour = SCORES[by]
            y = 100 * found_shares(score, self.wrong)
            axes.plot(100 * EXAMINED_SHARES, y, styles.get(by, "-"), color=colour, label=label)
        axes.set_title(self.title)
        axes.set_xlabel("examined (% of examples)")
        axes.set_ylabel("wrong labels found (%)")


def compute_cells(work: Work, plan: Plan, datasets: Sequence[str], rates: Sequence[float]) -> None:
    """Compute all cells of `noisy_dataset` and `noisy_subset`: scores first, then trainings."""
    cells = [cell for name in datasets for cell in shared_runs(plan, name)]
    cells += [subset_cell(plan, name, rate) for name in datasets for rate in rates]
    cells += [examples_cell(plan, name) for name in datasets]
    work.all(cells, "scores without training")
    trainings = [scoring_cells(plan, name, rate) for name in datasets for rate in rates]
    work.all([cell for cells in trainings for cell in cells], "trainings for scores")


def noisy_dataset(work: Work, plan: Plan, dataset: str, codes: Index, rate: float) -> Noisy:
    """All examples of a dataset, whose right labels are `codes`, scored without training."""
    scores = estimated(work, shared_runs(plan, dataset), rate)
    return _noisy(plan, dataset, codes, rate, {by: scores[by] for by in DATASET_SCORES})


def noisy_subset(
    work: Work, plan: Plan, dataset: str, rate: float, names: Sequence[str] = SUBSET_SCORES
) -> Noisy:
    """The training subset, scored with and without training."""
    codes = work(examples_cell(plan, dataset))["own"]
    scores = {by: values(work, plan, dataset, by, rate) for by in names}
    return _noisy(plan, dataset, codes, rate, scores)


def _noisy(plan: Plan, dataset: str, codes: Index, rate: float, scores: dict[str, Array]) -> Noisy:
    title = f"{SOURCES[dataset].title}: {rate:.0%} of {len(codes):,} wrong"
    return Noisy(title, wrong_labels(codes, rate, plan.seed) != codes, scores)


def rows(shown: Iterable[Noisy]) -> str:
    """A table of the wrong labels that each score finds."""
    lines = [
        [noisy.title, SCORES[by][0], auroc(score, noisy.wrong), found_at_count(score, noisy.wrong)]
        for noisy in shown
        for by, score in noisy.scores.items()
    ]
    return table(["", "score", "AUROC", "found among as many as are wrong"], lines)


def draw_all(shown: Sequence[Noisy]) -> tuple[Figure, str]:
    """A figure with a panel of curves for each, and its caption."""
    figure, axes = panels(1, len(shown))
    for panel, noisy in zip(axes[0], shown, strict=True):
        noisy.draw_found(panel)
    legend_below(figure, axes[0])
    caption = (
        "Wrong labels found when the highest scores are examined first; all scores are of the same "
        f"examples and labels. {CURVE_NOTE}"
    )
    if not any(noisy.title.startswith(SOURCES["cifar-100"].title) for noisy in shown):
        caption += " CIFAR-10 stands where the paper shows CIFAR-100."
    return figure, caption
