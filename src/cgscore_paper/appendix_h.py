"""Appendix H: CG-scores of features of a network that has been trained a little."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore_paper import detection, figures
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES
from cgscore_paper.feature_scores import PRUNING_EPOCH, WIDTH, feature_cell
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    available,
    draw,
    experiment,
    listed,
    run,
    score_stages,
    training_caption,
    untested,
)
from cgscore_paper.results import Result, table
from cgscore_paper.trainings import epochs_cell, values

TITLE = "Appendix H: CG-scores of features"

SCORES = ("feature_cg", "el2n", "forgetting", "random")
BY_NOISE = ("feature_cg", "partial", "cg", "forgetting", "el2n")
COMPARED = ("c_score", "el2n", "forgetting")
RATE = 0.2
#: Where the feature-space score is followed over epochs.
FOLLOWED = "cifar-10"


def make(work: Work, plan: Plan) -> Result:
    """Pruning, wrong labels, and correlations with other scores over epochs."""
    names, not_run = available(work)
    score_stages(work, plan, [(name, rate) for name in names for rate in (0.0, RATE)])
    followed = FOLLOWED if FOLLOWED in names else None
    if followed and not work.stored_only:
        work.all([_epochs_cell(plan, followed)], "features")
    experiments = [
        experiment(work, plan, name, (pixels(plan), *SCORES), repeats=plan.appendix_repeats)
        for name in names
    ]
    pruned = {
        SOURCES[curves.experiment.dataset].title: curves
        for curves in run(work, plan, experiments)
        if "feature_cg" in {*curves.scores("low-first"), *curves.scores("high-first")}
    }
    by_noise = (*BY_NOISE, pixels(plan)) if pixels(plan) not in BY_NOISE else BY_NOISE
    noise = {
        name: noisy
        for name in names
        if (noisy := detection.noisy_subset(work, plan, name, RATE, by_noise))
        and "feature_cg" in noisy.numbers["scores"]
    }
    not_run += [untested(SOURCES[n].title) for n in names if SOURCES[n].title not in pruned]
    not_run += [detection.untested(name, RATE, True) for name in names if name not in noise]
    numbers: dict[str, Any] = {name: {} for name in names}
    for curves in pruned.values():
        numbers[curves.experiment.dataset]["pruning"] = curves.numbers()
    for name, noisy in noise.items():
        numbers[name]["detection"] = noisy.curves
    text = [curves.text(title) for title, curves in pruned.items()]
    figures_made: dict[str, tuple[Any, str]] = {}
    if pruned:
        caption = (
            "Pruning by the feature-space CG-score and others, with the lowest scores removed "
            f"first (above) and the highest (below). "
            f"{training_caption(plan, list(pruned.values()))} {_features(plan, names)}"
        )
        figures_made[""] = (draw(pruned), caption)
    if noise:
        figure, caption = detection.draw_all(list(noise.values()))
        figures_made["-2"] = (figure, f"{caption} {_features(plan, names)}")
        text.append(detection.rows(noise.values()))
    along = if_finished(lambda: correlations(work, plan, followed)) if followed else None
    if followed and along is None:
        not_run.append(f"{SOURCES[followed].title}, correlations over epochs")
    elif followed and along:
        numbers[followed]["correlation"] = along
        text.append(_text(along))
        figures_made["-3"] = (
            _figure(along),
            "Spearman's rank correlation of the feature-space CG-score after some epochs with "
            f"other scores of {SOURCES[followed].title}. CG-scores of features and of pixels are "
            "of the same estimator.",
        )
    return Result(numbers, "\n\n".join(text), figures_made, not_run=not_run)


def pixels(plan: Plan) -> str:
    """The CG-score of pixels by the estimator that features are scored with."""
    return "pixel_cg" if plan.examples is None else "exact_cg"


def _epochs_cell(plan: Plan, dataset: str) -> Cell:
    return feature_cell(plan, dataset) if plan.examples is None else epochs_cell(plan, dataset)


def correlations(work: Work, plan: Plan, dataset: str) -> dict[str, Any]:
    """Spearman's correlation of the score of features at some epochs with other scores."""
    training = work(_epochs_cell(plan, dataset))
    prefix = "cg" if plan.examples is None else "features"
    others = experiment(work, plan, dataset, (pixels(plan), *COMPARED)).scores
    known = {
        by: score
        for by in others
        if (score := if_finished(lambda by=by: values(work, plan, dataset, by))) is not None  # type: ignore[misc]
    }
    epochs = list(training["epochs"])
    return {
        "epochs": epochs,
        "spearman": {
            by: [spearman(training[f"{prefix}-{epoch}"], score) for epoch in epochs]
            for by, score in known.items()
        },
    }


def _features(plan: Plan, names: list[str]) -> str:
    """Which features are scored."""
    last = listed(sorted({plan.scoring(name).settings.epochs for name in names}))
    if plan.examples is None:
        epoch, size = str(PRUNING_EPOCH), f"{4 * WIDTH} features"
    else:
        epoch, size = listed(sorted({plan.scoring(n).feature_epoch for n in names})), "Features"
    return (
        f"{size} of the last layer but one after epoch {epoch} of a training planned for {last} "
        "epochs."
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
