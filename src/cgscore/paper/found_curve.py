"""How many wrong labels are found when examples are looked at from the highest score down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from cgscore.kernel import Array
from cgscore.paper.cells import Work
from cgscore.paper.datasets import SOURCES
from cgscore.paper.figures import SCORES, panels
from cgscore.paper.noise import wrong_labels
from cgscore.paper.plans import Plan
from cgscore.paper.pruning_curves import legend_below, listed, percent
from cgscore.paper.results import table
from cgscore.paper.trained import examples_cell, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Shares of the examples that are looked at.
EXAMINED = np.linspace(0, 1, 51)


def detection_curve(score: ArrayLike, wrong: ArrayLike) -> Array:
    """The share of the wrong labels among the highest scores, for each of `EXAMINED`."""
    found = np.asarray(wrong, bool)[np.argsort(-np.asarray(score, np.float64), kind="stable")]
    counts = np.concatenate([[0], np.cumsum(found)])
    return np.asarray(counts[np.rint(EXAMINED * len(found)).astype(int)] / counts[-1])


def auroc(score: ArrayLike, wrong: ArrayLike) -> float:
    """The chance that a wrong label has a higher score than a right one; ties count half."""
    bad = np.asarray(wrong, bool)
    m, n = int(bad.sum()), len(bad)
    return float((rankdata(np.asarray(score))[bad].sum() - m * (m + 1) / 2) / (m * (n - m)))


def detection(
    work: Work, plan: Plan, dataset: str, scores: Iterable[str], rate: float
) -> dict[str, Any]:
    """Curves of scores, of an oracle and of a random order."""
    own = work(examples_cell(plan, dataset))["own"]
    wrong = wrong_labels(own, rate, plan.seed) != own
    given = {by: values(work, plan, dataset, by, rate) for by in scores} | {"oracle": wrong}
    return {
        "examples": len(own),
        "wrong": int(wrong.sum()),
        "rate": rate,
        "examined": EXAMINED.tolist(),
        "found": {by: detection_curve(one, wrong).tolist() for by, one in given.items()}
        | {"random": EXAMINED.tolist()},  # what is expected of it
        "auroc": {by: auroc(one, wrong) for by, one in given.items()} | {"random": 0.5},
    }


def draw_detection(numbers: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Panels of the curves of `detection`, which are given under titles of datasets."""
    figure, axes = panels(1, len(numbers))
    for panel, (title, one) in zip(axes[0], numbers.items(), strict=True):
        for by, found in one["found"].items():
            label, colour = SCORES[by]
            style = "--" if by in ("oracle", "random") else "-"
            panel.plot(100 * EXAMINED, 100 * np.array(found), style, color=colour, label=label)
        panel.set_title(title, fontsize=9.5)
        panel.set_xlabel("examples examined (%)")
    axes[0, 0].set_ylabel("wrong labels found (%)")
    legend_below(figure, axes[0].tolist())
    return figure


def explained_detection(numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """What a caption says of `draw_detection`."""
    rates = listed([percent(rate) for rate in sorted({one["rate"] for one in numbers.values()})])
    counts = listed(sorted({one["examples"] for one in numbers.values()}))
    told = (
        "Wrong labels found against examples examined, highest score first. Of "
        f"{counts} examples, {rates} have wrong labels; all scores are of the same examples and "
        "labels."
    )
    if SOURCES["cifar-100"].title in numbers:
        return told
    return f"{told} CIFAR-10 stands where the paper shows CIFAR-100."


def told_detection(numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of what is found when as many are looked at as are wrong, and the best scores."""
    rows, sentences = [], []
    for title, one in numbers.items():
        at = int(np.argmin(np.abs(EXAMINED - one["rate"])))
        for by, found in one["found"].items():
            rows.append([f"{title}, {SCORES[by][0]}", float(found[at]), float(one["auroc"][by])])
        real = [by for by in one["found"] if by not in ("oracle", "random")]
        best = max(real, key=lambda by: float(one["auroc"][by]))
        sentences.append(
            f"For {title} the highest AUROC is that of {SCORES[best][0]} "
            f"({one['auroc'][best]:.3f})."
        )
    rates = sorted({one["rate"] for one in numbers.values()})
    head = ["", f"found in the first {listed([percent(rate) for rate in rates])}", "AUROC"]
    return f"{table(head, rows)}\n\n{' '.join(sentences)}"
