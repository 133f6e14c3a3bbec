"""Jobs that train networks: scores that need training, and accuracy on pruned data."""

from __future__ import annotations

from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.execution.accelerator import usable
from cgscore.selection.orders import select
from cgscore.training import (
    SIGNS,
    Inputs,
    Trained,
    el2n,
    forgetting,
    random_score,
    scores_by_training,
    train,
)
from cgscore.training.loop.evaluation import evaluate
from cgscore.typing import Array, Index
from cgscore_paper import feature_scores
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES, c_scores, load
from cgscore_paper.jobs import Cell, job
from cgscore_paper.networks import network, scoring
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.scores import (
    estimate_cell,
    estimated,
    exact_cell,
    shared_runs,
    subset_cell,
    subset_rows,
)

BY_TRAINING = ("el2n", "forgetting", "tracin", "self_influence", "feature_cg")
BY_GRADIENT = ("tracin", "self_influence")
WITHOUT_TRAINING = (
    "cg",
    "partial",
    "exact_cg",
    "iterative_cg",
    "ridge_cg",
    "ridge_margin",
    "posterior",
)
#: Epochs whose EL2N is stored for whole datasets.
EL2N_EPOCHS = 4
#: Share of wrong labels in the paper's main figures; appendix G has more.
RATE = 0.2
#: A window of the order of all examples, whatever their class.
OVERALL_WINDOW = "window-overall"
#: Scores that are low for hard examples.
_LOW_FOR_HARD = ("ridge_margin", "posterior")


@job("trained.examples", version=1, sample={"plan": "sample", "dataset": "cifar-10", "seed": 0})
def examples(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """The training subset and the test images as networks see them.

    ``X`` and ``own`` are images and classes of the subset, ``rows`` its positions in the dataset;
    ``X_test`` and ``own_test`` are those of the test images.
    """
    sizes = Plan.named(plan, seed)
    whole, test = (load(work.data, dataset, split) for split in ("train", "test"))
    rows = subset_rows(sizes, whole.codes)
    train, test = (part.halved() if sizes.halved else part for part in (whole[rows], test))
    arrays = {
        "X": train.X,
        "own": train.codes,
        "rows": rows,
        "X_test": test.X,
        "own_test": test.codes,
    }
    published = c_scores(work.data, dataset, whole.codes)
    return arrays if published is None else {**arrays, "c_score": published[rows]}


def examples_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `examples`."""
    return examples.cell(plan=plan.name, dataset=dataset, seed=plan.seed)


def examples_of(work: Work, plan: Plan, dataset: str) -> Mapping[str, Any]:
    """What `examples` returns; it is stored only for a subset, not for a whole dataset."""
    cell = examples_cell(plan, dataset)
    return examples(work, **cell.options) if plan.examples is None else work(cell).value


def subset_codes(work: Work, plan: Plan, dataset: str) -> Index:
    """The right classes of the examples that are trained on."""
    codes = load(work.data, dataset).codes
    return codes[subset_rows(plan, codes)]


@job(
    "trained.scores",
    version=1,
    sample={"plan": "sample", "dataset": "fashion-mnist", "rate": 0.2, "seed": 0, "run": 0},
    tolerance=None,  # trainings amplify rounding
)
def scoring_run(
    work: Work, plan: str, dataset: str, rate: float, seed: int, run: int
) -> dict[str, Any]:
    """The scores of `BY_TRAINING` from one training, high for hard examples.

    Of a whole dataset those that need no gradients: EL2N at every epoch up to the fourth, and
    forgetting.
    """
    sizes = Plan.named(plan, seed)
    if sizes.examples is None:
        return _scores_from_records(work, sizes, dataset, rate, run)
    data = examples_of(work, sizes, dataset)
    table = scores_by_training(
        data["X"],
        wrong_labels(data["own"], rate, seed),
        preset=scoring(work, sizes, dataset),
        names=BY_TRAINING,
        X_test=data["X_test"],
        y_test=data["own_test"],
        runs=1,
        seed=1000 * seed + run,
        progress=False,
        device=work.device,
    )
    return {name: table[name].to_numpy() for name in BY_TRAINING}


def _scores_from_records(
    work: Work, plan: Plan, dataset: str, rate: float, run: int
) -> dict[str, Any]:
    """EL2N and forgetting from the records of one training, and its test accuracy."""
    data = examples_of(work, plan, dataset)
    given = wrong_labels(data["own"], rate, plan.seed)
    seed = 1000 * plan.seed + run
    options = {"plan": plan.name, "dataset": dataset, "rate": rate, "seed": plan.seed, "run": run}
    preset = scoring(work, plan, dataset)
    model, _ = network(work, plan, dataset, plan.net, seed)
    with work.unfinished(scoring_run.cell(**options)) as folder:
        trained = train(
            model,
            data["X"],
            given,
            settings=preset.settings,
            seed=seed,
            checkpoint=folder,
            records="all",
            progress=False,
            device=work.device,
        )
        records = trained.records
        assert records is not None  # noqa: S101 (records="all")
        codes = np.unique(given, return_inverse=True)[1]
        columns: dict[str, Any] = {
            f"el2n-{epoch}": el2n(records.probability[[epoch - 1]], codes).astype(np.float32)
            for epoch in range(1, 1 + min(EL2N_EPOCHS, preset.settings.epochs))
        }
        columns["el2n"] = columns[f"el2n-{preset.early}"]
        columns["forgetting"] = forgetting(records.correct).astype(np.float32)
    return {**columns, "accuracy": _test_accuracy(work, trained, data, mirrored=True)}


def _test_accuracy(work: Work, trained: Trained, data: Mapping[str, Any], **how: Any) -> float:
    test = Inputs(data["X_test"], scale=trained.scale)
    evaluation = evaluate(trained.model, test, data["own_test"], usable(work.device), **how)
    return float(evaluation.correct.mean())


def scoring_cells(plan: Plan, dataset: str, rate: float = 0.0) -> list[Cell]:
    """The cells of `scoring_run`, one for each training that scores are means of."""
    runs = plan.scoring(dataset).runs if rate <= RATE else plan.appendix_repeats
    return [
        scoring_run.cell(plan=plan.name, dataset=dataset, rate=rate, seed=plan.seed, run=run)
        for run in range(runs)
    ]


def values(work: Work, plan: Plan, dataset: str, by: str, rate: float = 0.0) -> Array:
    """A score of the training subset, high for hard examples."""
    if plan.examples is None and by in ("cg", "partial"):
        if rate:
            return estimated(work, shared_runs(plan, dataset), rate)[by]
        return np.asarray(work(estimate_cell(plan, dataset))[f"{by}-{SOURCES[dataset].ratio}"])
    if plan.examples is None and by == "exact_cg":
        return np.asarray(work(exact_cell(dataset))["cg"])
    if plan.examples is None and by in BY_GRADIENT:
        return np.asarray(work(tracin_cell(plan, dataset, rate))[by])
    if plan.examples is None and by in ("feature_cg", "pixel_cg"):
        return feature_scores.column(work, plan, dataset, by, rate)
    if by in WITHOUT_TRAINING:
        column = work(subset_cell(plan, dataset, rate))[by]
        return -column if by in _LOW_FOR_HARD else np.asarray(column)
    if by in BY_TRAINING:
        runs = work.all(scoring_cells(plan, dataset, rate), "trainings for scores")
        return np.asarray(np.mean([run[by] for run in runs], axis=0))
    if by == "c_score":
        known = c_scores(work.data, dataset, load(work.data, dataset).codes)
        if known is not None:
            return SIGNS[by] * known[subset_rows(plan, load(work.data, dataset).codes)]
    scores = ", ".join((*WITHOUT_TRAINING, *BY_TRAINING, "c_score"))
    raise OptionError(f"by must be one of {scores}; got {by!r}.")


def positions(score: Array, given: Index, count: int, order: str, offset: float = 0.0) -> Index:
    """Examples that stay, the same share of every class.

    `order` is one of `cgscore.selection`, or `OVERALL_WINDOW`, which takes classes together.
    """
    if order == OVERALL_WINDOW:
        return select(score, np.zeros_like(given), count, order="window", offset=offset)
    return select(score, given, count, order=order, offset=offset)


@job(
    "trained.accuracy",
    version=1,
    sample={
        "plan": "sample",
        "dataset": "fashion-mnist",
        "rate": 0.2,
        "by": "cg",
        "order": "low-first",
        "fraction": 0.5,
        "offset": 0.0,
        "net": "resnet",
        "seed": 0,
        "repeat": 0,
    },
    tolerance=None,  # trainings amplify rounding
)
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
    """Test accuracy after training on pruned data, the same share of every class.

    ``by`` is a score, ``random``, ``full`` or ``craig``, ``order`` one of `positions`. The number
    of steps does not depend on how much is pruned.
    """
    sizes, training_seed = Plan.named(plan, seed), 1000 * seed + repeat
    data = examples_of(work, sizes, dataset)
    given = wrong_labels(data["own"], rate, seed)
    model, preset = network(work, sizes, dataset, net, training_seed)
    pruning: dict[str, Any] = {}
    if by == "craig":
        pruning["select"] = preset.craig(fraction)
    elif by != "full":
        score = (
            random_score(len(given), training_seed)
            if by == "random"
            else values(work, sizes, dataset, by, rate)
        )
        count = max(1, round(fraction * len(given)))
        pruning["rows"] = positions(score, given, count, order, offset)
    cell = accuracy.cell(
        plan=plan,
        dataset=dataset,
        rate=rate,
        by=by,
        order=order,
        fraction=fraction,
        offset=offset,
        net=net,
        seed=seed,
        repeat=repeat,
    )
    with work.unfinished(cell) as folder:
        trained = train(
            model,
            data["X"],
            given,
            settings=preset.settings,
            seed=training_seed,
            checkpoint=folder,
            records=False,
            progress=False,
            device=work.device,
            **pruning,
        )
    return {"accuracy": _test_accuracy(work, trained, data, mirrored=net == "fast-cnn")}


def accuracy_cells(
    plan: Plan,
    dataset: str,
    by: str,
    *,
    rate: float = 0.0,
    order: str = "low-first",
    fraction: float = 1.0,
    offset: float = 0.0,
    net: str | None = None,
    repeats: int | None = None,
) -> list[Cell]:
    """The cells of `accuracy` for one point of a figure, one for each training."""
    return [
        accuracy.cell(
            plan=plan.name,
            dataset=dataset,
            rate=rate,
            by=by,
            order=order,
            fraction=fraction,
            offset=offset,
            net=net or plan.net,
            seed=plan.seed,
            repeat=repeat,
        )
        for repeat in range(plan.repeats if repeats is None else repeats)
    ]


@job(
    "trained.epochs",
    version=1,
    sample={"plan": "sample", "dataset": "fashion-mnist", "seed": 0},
    tolerance=None,  # trainings amplify rounding
)
def training_epochs(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """One training, epoch by epoch: losses, correctness, feature-space scores, kernel velocity.

    The velocity is that of groups by the CG-score of `scores.subset_scores`.
    """
    from cgscore.training import feature_space_scores, kernel_velocity, velocity_groups
    from cgscore.training.scores.feature_space import EPOCHS

    sizes = Plan.named(plan, seed)
    data = examples_of(work, sizes, dataset)
    preset = scoring(work, sizes, dataset)
    model, _ = network(work, sizes, dataset, sizes.net, seed)
    last = preset.settings.epochs
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
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
            velocity_groups(values(work, sizes, dataset, "cg"), size=sizes.group),
            device=work.device,
        )
    assert trained.records is not None  # noqa: S101 (records="given")
    return {
        "loss": np.asarray(trained.records.loss),
        "correct": np.asarray(trained.records.correct),
        "epochs": epochs,
        **{f"features-{epoch}": cg for epoch, cg in features.items()},
        "velocity": velocities,
    }


def epochs_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `training_epochs`."""
    return training_epochs.cell(plan=plan.name, dataset=dataset, seed=plan.seed)


@job(
    "trained.dynamics",
    version=1,
    sample={"plan": "sample", "dataset": "fashion-mnist", "by": "cg", "seed": 0},
    tolerance=None,  # trainings amplify rounding
)
def training_dynamics(work: Work, plan: str, dataset: str, by: str, seed: int) -> dict[str, Any]:
    """Loss, accuracy and kernel velocity of tenths by a score, epoch by epoch, of one training."""
    from cgscore.training import dynamics, kernel_velocity, velocity_groups

    sizes = Plan.named(plan, seed)
    data, preset = examples_of(work, sizes, dataset), scoring(work, sizes, dataset)
    score = values(work, sizes, dataset, by)
    model, _ = network(work, sizes, dataset, sizes.net, seed)
    last = preset.settings.epochs
    cell = training_dynamics.cell(plan=plan, dataset=dataset, by=by, seed=seed)
    with work.unfinished(cell) as folder:
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
        velocities = kernel_velocity(
            (trained.at(epoch) for epoch in range(last + 1)),
            Inputs(data["X"], scale=trained.scale),
            velocity_groups(score, size=sizes.group),
            device=work.device,
        )
    assert trained.records is not None  # noqa: S101 (records="given")
    frame = dynamics(score, trained.records.loss, trained.records.correct)
    by_tenth = {
        name: frame.pivot_table(index="epoch", columns="level", values=name).to_numpy()
        for name in ("loss", "accuracy")
    }
    return {"examples": len(score), **by_tenth, "velocity": velocities}


def dynamics_cell(plan: Plan, dataset: str, by: str) -> Cell:
    """The cell of `training_dynamics`."""
    return training_dynamics.cell(plan=plan.name, dataset=dataset, by=by, seed=plan.seed)


@job(
    "trained.tracin",
    version=1,
    sample={"plan": "sample", "dataset": "fashion-mnist", "rate": 0.2, "seed": 0, "run": 0},
    tolerance=None,  # trainings amplify rounding
)
def tracin_run(
    work: Work, plan: str, dataset: str, rate: float, seed: int, run: int
) -> dict[str, Any]:
    """TracIn and self-influence of one training, which need gradients of the last layer."""
    sizes = Plan.named(plan, seed)
    data = examples_of(work, sizes, dataset)
    table = scores_by_training(
        data["X"],
        wrong_labels(data["own"], rate, seed),
        preset=scoring(work, sizes, dataset),
        names=BY_GRADIENT,
        X_test=data["X_test"],
        y_test=data["own_test"],
        runs=1,
        seed=1000 * seed + run,
        progress=False,
        device=work.device,
    )
    return {name: table[name].to_numpy(np.float32) for name in BY_GRADIENT}


def tracin_cell(plan: Plan, dataset: str, rate: float = 0.0) -> Cell:
    """The cell of `tracin_run`, one training."""
    return tracin_run.cell(plan=plan.name, dataset=dataset, rate=rate, seed=plan.seed, run=0)
