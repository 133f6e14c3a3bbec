"""The CG-score of features and of pixels, by one estimator, for whole datasets (appendix H).

The paper takes features of 512 dimensions. So the network here is four times as wide as that of
other figures, which makes its last layer but one 512 wide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cgscore import score
from cgscore.training import Inputs, outputs, train
from cgscore.typing import Array, Index
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, load
from cgscore_paper.jobs import Cell, job
from cgscore_paper.networks import scoring
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import subset_rows

#: The estimator of both: others for each example of a class, and runs.
RATIO, RUNS = 1, 3
#: Width of the network's first block; features are four times as wide.
WIDTH = 128
#: Epochs whose features are scored, and the one that prunes.
EPOCHS = (1, 2, 3, 5, 8)
PRUNING_EPOCH = 2


def _estimate(rows: Any, given: Index, seed: int) -> Array:
    """The paper's estimator, each class with draws of its own."""
    table = score(
        rows,
        given,
        method="subsample",
        ratio=RATIO,
        runs=RUNS,
        seed=seed,
        judge=False,
        progress=False,
    ).table
    return np.asarray(table["cg"].to_numpy(np.float32))


@job(
    "scores.pixels",
    version=1,
    alone=True,
    sample={"plan": "sample", "dataset": "cifar-10", "rate": 0.2, "seed": 0},
    tolerance=1e-3,
)
def pixel_scores(work: Work, plan: str, dataset: str, rate: float, seed: int) -> dict[str, Any]:
    """CG-scores of pixels by the estimator that features are scored with."""
    images = load(work.data, dataset)
    images = images[subset_rows(Plan.named(plan, seed), images.codes)]
    rows = images.rows(SOURCES[dataset].standardised)
    return {"cg": _estimate(rows, wrong_labels(images.codes, rate, seed), seed)}


@job(
    "trained.feature_scores",
    version=1,
    sample={"plan": "sample", "dataset": "cifar-10", "rate": 0.2, "width": 8, "seed": 0},
    tolerance=None,  # trainings amplify rounding
)
def feature_scores(
    work: Work, plan: str, dataset: str, rate: float, width: int, seed: int
) -> dict[str, Any]:
    """CG-scores of the features of one training after some epochs."""
    sizes = Plan.named(plan, seed)
    images = load(work.data, dataset)
    images = images[subset_rows(sizes, images.codes)]
    given = wrong_labels(images.codes, rate, seed)
    preset = replace(scoring(work, sizes, dataset), model="fast_cnn", width=width)
    channels = images.X.shape[3] if images.X.ndim == 4 else 1
    model = preset.build(len(images.names), channels=channels, seed=seed)
    last = preset.settings.epochs
    epochs = [epoch for epoch in EPOCHS if epoch <= last]
    cell = feature_scores.cell(plan=plan, dataset=dataset, rate=rate, width=width, seed=seed)
    with work.unfinished(cell) as folder:
        trained = train(
            model,
            images.X,
            given,
            settings=preset.settings,
            seed=seed,
            checkpoint=folder,
            keep=epochs,
            records=False,
            progress=False,
            device=work.device,
        )
        inputs = Inputs(images.X, scale=trained.scale)
        columns: dict[str, Any] = {"epochs": epochs, "dimensions": 4 * width}
        for epoch in epochs:
            features = outputs(trained.at(epoch), inputs, device=work.device).features
            columns[f"cg-{epoch}"] = _estimate(features, given, seed)
    return columns


def pixel_cell(plan: Plan, dataset: str, rate: float = 0.0) -> Cell:
    """The cell of `pixel_scores`."""
    return pixel_scores.cell(plan=plan.name, dataset=dataset, rate=rate, seed=plan.seed)


def feature_cell(plan: Plan, dataset: str, rate: float = 0.0) -> Cell:
    """The cell of `feature_scores`."""
    return feature_scores.cell(
        plan=plan.name, dataset=dataset, rate=rate, width=WIDTH, seed=plan.seed
    )


def column(work: Work, plan: Plan, dataset: str, by: str, rate: float) -> Array:
    """``pixel_cg``, or ``feature_cg`` after the epoch that prunes."""
    if by == "pixel_cg":
        return np.asarray(work(pixel_cell(plan, dataset, rate))["cg"])
    return np.asarray(work(feature_cell(plan, dataset, rate))[f"cg-{PRUNING_EPOCH}"])
