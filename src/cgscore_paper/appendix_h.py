"""Appendix H: CG-scores of features of a network that has been trained a little."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore_paper import detection, figures
from cgscore_paper.cells import Work
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    available,
    draw,
    experiment,
    listed,
    run,
    score_stages,
    training_caption,
)
from cgscore_paper.results import Result, table
from cgscore_paper.trainings import epochs_cell, values

TITLE = "Appendix H: CG-scores of features"

SCORES = ("cg", "feature_cg", "el2n", "forgetting", "random")
BY_NOISE = ("feature_cg", "partial", "cg", "forgetting", "el2n")
COMPARED = ("cg", "c_score", "el2n", "forgetting")
RATE = 0.2
#: Where the feature-space score is followed over epochs.
FOLLOWED = "cifar-10"


def make(work: Work, plan: Plan) -> Result:
    """Pruning, wrong labels, and correlations with other scores over epochs."""
    names, not_run = available(work)
    score_stages(work, plan, [(name, rate) for name in names for rate in (0.0, RATE)])
    followed = [FOLLOWED] if FOLLOWED in names else []
    pruned = {
        SOURCES[curves.experiment.dataset].title: curves
        for curves in run(
            work,
            plan,
            [experiment(work, plan, name, SCORES, repeats=plan.appendix_repeats) for name in names],
            [epochs_cell(plan, name) for name in followed],
        )
    }
    noise = [detection.noisy_subset(work, plan, name, RATE, BY_NOISE) for name in names]
    figure, detection_caption = detection.draw_all(noise)
    numbers: dict[str, Any] = {
        name: {"pruning": pruned[SOURCES[name].title].numbers(), "detection": curves.curves}
        for name, curves in zip(names, noise, strict=True)
    }
    text = [curves.text(title) for title, curves in pruned.items()] + [detection.rows(noise)]
    features = _features(plan, names)
    figures_made = {
        "": (
            draw(pruned),
            "Pruning by the feature-space CG-score and others, with the lowest scores removed "
            "first (above) and the highest (below). "
            f"{training_caption(plan, list(pruned.values()))} "
            f"{features} {plan.description}",
        ),
        "-2": (figure, f"{detection_caption} {features} {plan.description}"),
    }
    for name in followed:
        followed_correlations = correlations(work, plan, name)
        numbers[name]["correlation"] = followed_correlations
        text.append(_text(followed_correlations))
        last = plan.scoring(name).settings.epochs
        figures_made["-3"] = (
            _figure(followed_correlations),
            "Spearman's rank correlation of the feature-space CG-score after some epochs with "
            f"other scores of {pruned[SOURCES[name].title].examples:,} examples of "
            f"{SOURCES[name].title}. One training of {last} epochs gives the features; EL2N "
            f"and forgetting are means of {plan.scoring(name).runs} others. {plan.description}",
        )
    return Result(numbers, "\n\n".join(text), figures_made, not_run=not_run)


def correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """Spearman's correlation of the score of features at some epochs with other scores."""
    training = work(epochs_cell(plan, dataset))
    others = experiment(work, plan, dataset, COMPARED).scores
    epochs = list(training["epochs"])
    return {
        "epochs": epochs,
        "spearman": {
            by: [spearman(training[f"features-{epoch}"], score) for epoch in epochs]
            for by, score in ((by, values(work, plan, dataset, by)) for by in others)
        },
    }


def _features(plan: Plan, names: list[str]) -> str:
    """Which features are scored."""
    epoch = sorted({plan.scoring(name).feature_epoch for name in names})
    last = sorted({plan.scoring(name).settings.epochs for name in names})
    return (
        f"Features are those of the last layer but one after epoch {listed(epoch)} of a training "
        f"planned for {listed(last)} epochs."
    )


def _figure(correlations_of: dict[str, Any]) -> Any:
    figure, axes = figures.panels(1, 1, width=4.6, height=3.0)
    panel, places = axes[0, 0], np.arange(len(correlations_of["epochs"]))
    for by, rho in correlations_of["spearman"].items():
        label, colour = figures.SCORES[by]
        panel.plot(places, rho, "o-", color=colour, label=label, markersize=3)
    panel.set_xticks(places, [str(epoch) for epoch in correlations_of["epochs"]])
    panel.set_xlabel("epoch of the features (not to scale)")
    panel.set_ylabel("rank correlation with\nthe feature-space CG-score")
    figures.legend_below(figure, [panel])
    return figure


def _text(correlations_of: dict[str, Any]) -> str:
    head = [
        "rank correlation with feature-space CG",
        *(f"epoch {epoch}" for epoch in correlations_of["epochs"]),
    ]
    rows = [[figures.SCORES[by][0], *rho] for by, rho in correlations_of["spearman"].items()]
    peaks = [
        f"{figures.SCORES[by][0]} after epoch {correlations_of['epochs'][int(np.argmax(rho))]}"
        for by, rho in correlations_of["spearman"].items()
    ]
    return f"{table(head, rows)}\n\nThe correlation is highest with {listed(peaks)}."
