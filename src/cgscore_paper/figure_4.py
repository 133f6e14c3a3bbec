"""Figure 4: how examples are learned, by their CG-score."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.training import dynamics
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES
from cgscore_paper.figures import heat_colour, legend_below, panels
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import available, untested
from cgscore_paper.results import Result, table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import dynamics_cell, epochs_cell, examples_cell, values

TITLE = "Figure 4: training dynamics by CG-score"

DATASET = "cifar-10"
#: Rank correlations below this are called weak.
WEAK_CORRELATION = 0.2
MEASURES = {"loss": "mean loss", "accuracy": "accuracy", "velocity": "kernel velocity"}


def make(work: Work, plan: Plan) -> Result:
    """Loss, accuracy and kernel velocity of every tenth of the scores, epoch by epoch."""
    names, not_run = available(work, [DATASET])
    if not names:
        return Result({}, "", not_run=not_run)
    found = if_finished(lambda: _dynamics(work, plan))
    if found is None:
        return Result({}, "", not_run=[untested(SOURCES[DATASET].title)])
    examples, by_tenth = found
    epochs, count = by_tenth["loss"].shape
    tenth = np.arange(1, count + 1)
    compared = {
        "loss, last epoch": by_tenth["loss"][-1],
        "loss, mean over epochs": by_tenth["loss"].mean(axis=0),
        "accuracy, last epoch": by_tenth["accuracy"][-1],
        "accuracy, mean over epochs": by_tenth["accuracy"].mean(axis=0),
        "kernel velocity, mean over epochs": by_tenth["velocity"].mean(axis=0),
    }
    rho = {name: spearman(tenth, values_of) for name, values_of in compared.items()}
    numbers = {
        "examples": examples,
        "epochs": list(range(1, epochs + 1)),
        "tenths": tenth.tolist(),
        **{name: values_of.tolist() for name, values_of in by_tenth.items()},
        "spearman": rho,
    }
    head = ["", "lowest tenth", "fifth", "highest tenth", "rank correlation with the tenth"]
    rows = [
        [name, *(float(values_of[i]) for i in (0, count // 2 - 1, count - 1)), rho[name]]
        for name, values_of in compared.items()
    ]
    caption = (
        f"One training of {epochs} epochs on {examples:,} examples of {SOURCES[DATASET].title}, in "
        "tenths by the CG-score: blue has the lowest scores, red the highest. Loss and accuracy "
        "are those of the training examples after each epoch; the kernel velocity is that of "
        f"{plan.group} examples of each tenth, from the end of the epoch before, on a logarithmic "
        "axis."
    )
    return Result(numbers, f"{table(head, rows)}\n\n{_text(rho)}", {"": (_draw(by_tenth), caption)})


def _dynamics(work: Work, plan: Plan) -> tuple[int, dict[str, Any]]:
    """How many examples, and measures by epoch and tenth."""
    if plan.examples is None:
        found = work(dynamics_cell(plan, DATASET, "exact_cg"))
        return found["examples"], {name: np.asarray(found[name]) for name in MEASURES}
    work.all([examples_cell(plan, DATASET), subset_cell(plan, DATASET)], "scores without training")
    training = work(epochs_cell(plan, DATASET))
    cg = values(work, plan, DATASET, "cg")
    frame = dynamics(cg, training["loss"], training["correct"])
    return len(cg), {
        name: frame.pivot_table(index="epoch", columns="level", values=name).to_numpy()
        for name in ("loss", "accuracy")
    } | {"velocity": training["velocity"]}


def _draw(by_tenth: dict[str, Any]) -> Any:
    figure, axes = panels(1, len(MEASURES), width=2.9, height=2.6)
    for panel, (name, label) in zip(axes[0], MEASURES.items(), strict=True):
        epochs, count = by_tenth[name].shape
        for level in range(count):
            label_of = {0: "lowest tenth", count - 1: "highest tenth"}.get(level, f"{level + 1}")
            panel.plot(
                np.arange(1, epochs + 1),
                by_tenth[name][:, level],
                color=heat_colour(level, count),
                label=label_of,
                linewidth=1.2,
            )
        panel.set_xlabel("epoch")
        panel.set_ylabel(label)
        if name == "velocity":  # the first epoch is far above the others
            panel.set_yscale("log")
        panel.xaxis.get_major_locator().set_params(integer=True)
    legend_below(figure, [axes[0, 0]], columns=10)
    return figure


def _text(rho: dict[str, float]) -> str:
    """Sentences that say which measures rise or fall with the score."""
    by_direction: dict[str, list[str]] = {"rise": [], "fall": [], "hardly change": []}
    for name, correlation in rho.items():
        direction = (
            "hardly change"
            if abs(correlation) < WEAK_CORRELATION
            else "rise"
            if correlation > 0
            else "fall"
        )
        by_direction[direction].append(f"{name} ({correlation:+.2f})")
    sentences = [
        f"{direction}: {'; '.join(names)}" for direction, names in by_direction.items() if names
    ]
    return f"From the lowest tenth to the highest these {', and these '.join(sentences)}."
