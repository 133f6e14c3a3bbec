"""How many wrong labels are found when examples are looked at from the highest score down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from cgscore.kernel import Array
from cgscore.paper.cells import Work
from cgscore.paper.figures import SCORES
from cgscore.paper.noise import wrong_labels
from cgscore.paper.plans import Plan
from cgscore.paper.results import table
from cgscore.paper.trained import examples_cell, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    return float((rankdata(score)[bad].sum() - m * (m + 1) / 2) / (m * (n - m)))


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


def draw_detection(panel: Axes, numbers: Mapping[str, Any]) -> None:
    """The curves of `detection`."""
    for by, found in numbers["found"].items():
        label, colour = SCORES[by]
        style = "--" if by in ("oracle", "random") else "-"
        examined = [100 * share for share in numbers["examined"]]
        panel.plot(examined, [100 * share for share in found], style, color=colour, label=label)
    panel.set_xlabel("examined (%)")
    panel.set_ylabel("wrong labels found (%)")


def told_detection(numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of what is found when as many are looked at as are wrong, and a sentence on each.

    `numbers` are those of `detection` under titles of datasets.
    """
    rows, sentences = [], []
    for title, one in numbers.items():
        at = int(np.argmin(np.abs(EXAMINED - one["rate"])))
        for by, found in one["found"].items():
            rows.append([f"{title}, {SCORES[by][0]}", float(found[at]), float(one["auroc"][by])])
        real = [by for by in one["found"] if by not in ("oracle", "random")]
        best = max(real, key=lambda by: float(one["auroc"][by]))
        sentences.append(
            f"Wrong labels of {title} stand out most by the score {SCORES[best][0]} (AUROC "
            f"{one['auroc'][best]:.3f})."
        )
    rates = {one["rate"] for one in numbers.values()}
    examined = " or ".join(f"{100 * rate:.0f} %" for rate in sorted(rates))
    head = ["", f"found among {examined} examined", "AUROC"]
    return f"{table(head, rows)}\n\n{' '.join(sentences)}"
