"""Figure 4: how examples are learned, by their CG-score."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.training.scores.dynamics import dynamics
from cgscore_paper.cells import Work
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES
from cgscore_paper.figures import heat_colour, legend_below, panels
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import here
from cgscore_paper.results import Result, table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import epochs_cell, examples_cell, values

TITLE = "Figure 4: training dynamics by CG-score"

DATASET = "cifar-10"
#: A rank correlation that says little.
WEAK = 0.2
MEASURES = {"loss": "mean loss", "accuracy": "accuracy", "velocity": "kernel velocity"}


def make(work: Work, plan: Plan) -> Result:
    """Loss, accuracy and kernel velocity of every tenth of the scores, epoch by epoch."""
    names, not_run = here(work, [DATASET])
    if not names:
        return Result({}, "", not_run=not_run)
    work.all([examples_cell(plan, DATASET), subset_cell(plan, DATASET)], "scores without training")
    along = work(epochs_cell(plan, DATASET))
    cg = values(work, plan, DATASET, "cg")
    frame = dynamics(cg, along["loss"], along["correct"])
    found: dict[str, Any] = {
        name: frame.pivot_table(index="epoch", columns="level", values=name).to_numpy()
        for name in ("loss", "accuracy")
    } | {"velocity": along["velocity"]}
    epochs, count = found["loss"].shape
    tenth = np.arange(1, count + 1)
    ranked = {
        "loss, last epoch": found["loss"][-1],
        "loss, mean over epochs": found["loss"].mean(axis=0),
        "accuracy, last epoch": found["accuracy"][-1],
        "accuracy, mean over epochs": found["accuracy"].mean(axis=0),
        "kernel velocity, mean over epochs": found["velocity"].mean(axis=0),
    }
    rho = {name: spearman(tenth, some) for name, some in ranked.items()}
    numbers = {
        "examples": len(cg),
        "epochs": list(range(1, epochs + 1)),
        "tenths": tenth.tolist(),
        **{name: some.tolist() for name, some in found.items()},
        "spearman": rho,
    }
    figure = _draw(found)
    head = ["", "lowest tenth", "fifth", "highest tenth", "rank correlation with the tenth"]
    rows = [
        [name, *(float(some[i]) for i in (0, count // 2 - 1, count - 1)), rho[name]]
        for name, some in ranked.items()
    ]
    title = SOURCES[DATASET].title
    caption = (
        f"One training of {epochs} epochs on {len(cg):,} examples of {title}, in tenths by the "
        "CG-score: blue has the lowest scores, red the highest. Loss and accuracy are those "
        f"of the training examples after each epoch; the kernel velocity is that of {plan.group} "
        f"examples of each tenth, from the end of the epoch before. {plan.description}"
    )
    text = f"{table(head, rows)}\n\n{_told(rho)}"
    return Result(numbers, text, {"": (figure, caption)}, not_run=not_run)


def _draw(found: dict[str, Any]) -> Any:
    figure, axes = panels(1, len(MEASURES), width=2.9, height=2.6)
    for panel, (name, label) in zip(axes[0], MEASURES.items(), strict=True):
        epochs, count = found[name].shape
        for level in range(count):
            told = {0: "lowest tenth", count - 1: "highest tenth"}.get(level, f"{level + 1}")
            panel.plot(
                np.arange(1, epochs + 1),
                found[name][:, level],
                color=heat_colour(level, count),
                label=told,
                linewidth=1.2,
            )
        panel.set_xlabel("epoch")
        panel.set_ylabel(label)
        panel.xaxis.get_major_locator().set_params(integer=True)
    legend_below(figure, [axes[0, 0]], columns=10)
    return figure


def _told(rho: dict[str, float]) -> str:
    """Whether measures go with the score."""
    ways: dict[str, list[str]] = {"rise": [], "fall": [], "hardly change": []}
    for name, one in rho.items():
        way = "hardly change" if abs(one) < WEAK else "rise" if one > 0 else "fall"
        ways[way].append(f"{name} ({one:+.2f})")
    told = [f"{way}: {'; '.join(names)}" for way, names in ways.items() if names]
    return f"From the lowest tenth to the highest these {', and these '.join(told)}."
