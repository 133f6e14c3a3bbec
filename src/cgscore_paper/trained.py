"""Cells that train networks: scores that need training, and accuracy after training on subsets."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError
from cgscore.execution.accelerator import usable
from cgscore.kernel import Array
from cgscore.selection.orders import select
from cgscore.training import SIGNS, Inputs, random_score, scores_by_training, train
from cgscore.training.loop.evaluation import evaluate
from cgscore_paper.cells import Cell, Work
from cgscore_paper.datasets import c_scores, load
from cgscore_paper.networks import network
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scored import chosen, subset_cell

Index = NDArray[np.intp]

BY_TRAINING = ("el2n", "forgetting", "tracin", "self_influence", "feature_cg")
WITHOUT = ("cg", "partial", "exact_cg", "iterative_cg", "ridge_cg", "ridge_margin", "posterior")
#: Wrong labels in the paper's main figures; its appendix G has more.
RATE = 0.2
#: Scores of which the lower is the harder.
_LOWER = ("ridge_margin", "posterior")


def examples(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """What networks see: training and test images at their size, with classes and positions."""
    made = Plan.named(plan, seed)
    whole, test = (load(work.data, dataset, split) for split in ("train", "test"))
    rows = chosen(made, whole.codes)
    seen, unseen = (part.halved() if made.halved else part for part in (whole[rows], test))
    found = {
        "X": seen.X,
        "own": seen.codes,
        "rows": rows,
        "X_test": unseen.X,
        "own_test": unseen.codes,
    }
    known = c_scores(work.data, dataset, whole.codes)
    return found if known is None else {**found, "c_score": known[rows]}


def examples_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `examples`."""
    return Cell("trained.examples", {"plan": plan.name, "dataset": dataset, "seed": plan.seed})


def scoring_run(
    work: Work, plan: str, dataset: str, rate: float, seed: int, run: int
) -> dict[str, Any]:
    """The scores of `BY_TRAINING` from one training, harder being higher."""
    made = Plan.named(plan, seed)
    data = work(examples_cell(made, dataset))
    table = scores_by_training(
        data["X"],
        wrong_labels(data["own"], rate, seed),
        preset=made.scoring(dataset),
        names=BY_TRAINING,
        X_test=data["X_test"],
        y_test=data["own_test"],
        runs=1,
        seed=1000 * seed + run,
        progress=False,
        device=work.device,
    )
    return {name: table[name].to_numpy() for name in BY_TRAINING}


def scoring_cells(plan: Plan, dataset: str, rate: float = 0.0) -> list[Cell]:
    """The cells of `scoring_run`, one for each training that scores are means of."""
    told = {"plan": plan.name, "dataset": dataset, "rate": rate, "seed": plan.seed}
    runs = plan.scoring(dataset).runs if rate <= RATE else plan.appendix_repeats
    return [Cell("trained.scoring_run", {**told, "run": run}) for run in range(runs)]


def values(work: Work, plan: Plan, dataset: str, by: str, rate: float = 0.0) -> Array:
    """A score of the examples that are trained on, harder being higher."""
    if by in WITHOUT:
        found = work(subset_cell(plan, dataset, rate))[by]
        return -found if by in _LOWER else np.asarray(found)
    if by in BY_TRAINING:
        runs = work.all(scoring_cells(plan, dataset, rate), "trainings for scores")
        return np.asarray(np.mean([run[by] for run in runs], axis=0))
    if by == "c_score":
        return SIGNS[by] * np.asarray(work(examples_cell(plan, dataset))["c_score"])
    raise OptionError(f"by={by!r} is no score of these experiments.")


def accuracy(
    work: Work,
    plan: str,
    dataset: str,
    rate: float,
    by: str,
    order: str,
    fraction: float,
    offset: float,
    net: str,
    seed: int,
    repeat: int,
) -> dict[str, Any]:
    """Test accuracy after training on a part of the examples, the same share of every class.

    ``by`` is a score, ``random``, ``full`` or ``craig``. There are as many steps as for all.
    """
    made, number = Plan.named(plan, seed), 1000 * seed + repeat
    data = work(examples_cell(made, dataset))
    given = wrong_labels(data["own"], rate, seed)
    model, preset = network(work, made, dataset, net, number)
    how: dict[str, Any] = {}
    if by == "craig":
        how["select"] = preset.craig(fraction)
    elif by != "full":
        score = (
            random_score(len(given), number)
            if by == "random"
            else values(work, made, dataset, by, rate)
        )
        count = max(1, round(fraction * len(given)))
        how["rows"] = select(score, given, count, order=order, offset=offset)
    trained = train(
        model,
        data["X"],
        given,
        settings=preset.settings,
        seed=number,
        records=False,
        progress=False,
        device=work.device,
        **how,
    )
    test = Inputs(data["X_test"], scale=trained.scale)
    found = evaluate(trained.model, test, data["own_test"], usable(work.device))
    return {"accuracy": float(found.correct.mean())}


def accuracy_cells(
    plan: Plan,
    dataset: str,
    by: str,
    *,
    rate: float = 0.0,
    order: str = "low-first",
    fraction: float = 1.0,
    offset: float = 0.0,
    net: str = "resnet",
    repeats: int | None = None,
) -> list[Cell]:
    """The cells of `accuracy` for one point of a figure, one for each training."""
    told = {
        "plan": plan.name,
        "dataset": dataset,
        "rate": rate,
        "by": by,
        "order": order,
        "fraction": fraction,
        "offset": offset,
        "net": net,
        "seed": plan.seed,
    }
    count = plan.repeats if repeats is None else repeats
    return [Cell("trained.accuracy", {**told, "repeat": repeat}) for repeat in range(count)]


def along(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """One training, epoch by epoch: losses, correctness, feature-space scores, kernel velocity.

    The velocity is that of groups by the CG-score of `subset_scores`.
    """
    from cgscore.training import feature_space_scores, kernel_velocity, velocity_groups
    from cgscore.training.scores.feature_space import EPOCHS

    made = Plan.named(plan, seed)
    data = work(examples_cell(made, dataset))
    preset = made.scoring(dataset)
    model, _ = network(work, made, dataset, "resnet", seed)
    last = preset.settings.epochs
    with TemporaryDirectory() as folder:
        trained = train(
            model,
            data["X"],
            data["own"],
            settings=preset.settings,
            seed=seed,
            checkpoint=folder,
            keep=range(last + 1),
            records="given",
            progress=False,
            device=work.device,
        )
        inputs = Inputs(data["X"], scale=trained.scale)
        epochs = sorted({epoch for epoch in EPOCHS if epoch < last} | {last})
        features = {
            epoch: feature_space_scores(
                inputs,
                data["own"],
                {epoch: trained.at(epoch)},
                device=work.device,
                progress=False,
            )[epoch]
            .table["cg"]
            .to_numpy()
            for epoch in epochs
        }
        velocities = kernel_velocity(
            (trained.at(epoch) for epoch in range(last + 1)),
            inputs,
            velocity_groups(values(work, made, dataset, "cg"), size=made.group),
            device=work.device,
        )
    assert trained.records is not None  # noqa: S101
    return {
        "loss": np.asarray(trained.records.loss),
        "correct": np.asarray(trained.records.correct),
        "epochs": epochs,
        **{f"features-{epoch}": found for epoch, found in features.items()},
        "velocity": velocities,
    }


def along_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `along`."""
    return Cell("trained.along", {"plan": plan.name, "dataset": dataset, "seed": plan.seed})
