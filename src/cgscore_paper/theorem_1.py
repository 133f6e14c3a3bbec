"""Theorem 1 on real images, and the kernel velocity of the two-layer network of the theory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore import gram, score
from cgscore.typing import Array
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, load
from cgscore_paper.figures import heat_colour, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Theorem 1 and appendix I: networks of two layers"

DATASET = "fashion-mnist"
PER_CLASS, TEST_PER_CLASS = 100, 250
WIDTH, STEPS = 10_000, 300
#: Of the network whose velocity is taken. It is narrow, as the kernel of a wide one hardly turns.
NARROW, STARTS, MOMENTS = 1_000, 5, 30
GROUPS, GROUP = 10, 10
KAPPA = 0.2

#: Two classes, whether labels are drawn at random, and what the problem is called.
PROBLEMS = (
    (0, 1, False, "T-shirts or trousers"),
    (2, 4, False, "pullovers or coats"),
    (0, 1, True, "T-shirts or trousers, random labels"),
)
_COLOURS = ("#0072b2", "#e69f00", "#b22222")
_POINTS = 60  # of a curve


def _images(
    work: Work, split: str, classes: tuple[int, int], count: int, seed: int
) -> tuple[NDArray[Any], Array]:
    """Rows of pixels, at half the width and height, and targets 1 and -1 of some of two classes."""
    images = load(work.data, DATASET, split)
    rng = np.random.default_rng([seed, 4])
    by_class = [np.flatnonzero(images.codes == c) for c in classes]
    chosen = [rng.choice(members, min(count, len(members)), replace=False) for members in by_class]
    images_chosen = images[np.concatenate(chosen)].halved()
    return images_chosen.rows(standardised=False), np.where(
        images_chosen.codes == classes[0], 1.0, -1.0
    )


@job(
    "theorem_1.check",
    version=1,
    sample={
        "first": 0,
        "second": 1,
        "random": False,
        "per_class": 10,
        "width": 200,
        "steps": 20,
        "seed": 0,
    },
)
def check(
    work: Work,
    first: int,
    second: int,
    random: bool,
    per_class: int,
    width: int,
    steps: int,
    seed: int,
) -> dict[str, Any]:
    """What the theorem says of one problem, and what a network does (`TheoremCheck`)."""
    from cgscore.training import check_theorem

    X, y = _images(work, "train", (first, second), per_class, seed)
    X_test, y_test = _images(work, "test", (first, second), TEST_PER_CLASS, seed)
    if random:
        rng = np.random.default_rng([seed, 5])
        y, y_test = rng.permutation(y), rng.permutation(y_test)
    outcome = check_theorem(
        X, y, X_test=X_test, y_test=y_test, width=width, steps=steps, kappa=KAPPA, seed=seed
    )
    return {**vars(outcome), "examples": len(y), "tested": len(y_test)}


@job(
    "theorem_1.velocities",
    version=1,
    sample={
        "first": 2,
        "second": 4,
        "per_class": 15,
        "width": 100,
        "steps": 10,
        "moments": 2,
        "starts": 2,
        "seed": 0,
    },
)
def velocities(
    work: Work,
    first: int,
    second: int,
    per_class: int,
    width: int,
    steps: int,
    moments: int,
    starts: int,
    seed: int,
) -> dict[str, Any]:
    """Kernel velocity of groups by the exact CG-score, a mean over random starts.

    ``velocity`` is (moments, groups), between moments that are ``steps / moments`` steps apart.
    """
    import torch

    from cgscore.training import two_layer_velocity, velocity_groups
    from cgscore.training.theory.theorem_1 import descend
    from cgscore.training.theory.two_layer import two_layer, unit_inputs

    X, y = _images(work, "train", (first, second), per_class, seed)
    cg = score(X, y, method="exact", judge=False, progress=False).table["cg"].to_numpy()
    groups = velocity_groups(cg, count=GROUPS, size=min(GROUP, len(y) // GROUPS))
    inputs, target = torch.as_tensor(unit_inputs(X)), torch.as_tensor(y)
    rate = 1 / float(np.linalg.eigvalsh(gram(X))[-1])
    losses = []

    def weights(start: int) -> Iterator[Array]:
        net = two_layer(X.shape[1], width, kappa=KAPPA, seed=1000 * seed + start).double()
        yield net.hidden.weight.detach().numpy().copy()
        for _ in range(moments):
            for _ in range(steps // moments):
                loss = descend(net, inputs, target, rate)
            yield net.hidden.weight.detach().numpy().copy()
        losses.append(loss)

    by_start = [two_layer_velocity(weights(start), X, groups) for start in range(starts)]
    return {
        "velocity": np.mean(by_start, axis=0),
        "by_start": np.mean(by_start, axis=1),
        "cg": np.array([cg[group].mean() for group in groups]),
        "group": len(groups[0]),
        "loss": float(np.mean(losses)),
        "examples": len(y),
    }


def cells(plan: Plan) -> list[Cell]:
    """The cells of `check`, wide networks first, and at last that of `velocities`."""
    sizes: dict[str, Any] = {"per_class": PER_CLASS, "steps": STEPS, "seed": plan.seed}
    check_cells = [
        check.cell(first=first, second=second, random=random, width=width, **sizes)
        for width in (WIDTH, NARROW)
        for first, second, random, _ in PROBLEMS
    ]
    return [
        *check_cells,
        velocities.cell(first=2, second=4, width=NARROW, moments=MOMENTS, starts=STARTS, **sizes),
    ]


def make(work: Work, plan: Plan) -> Result:
    """Loss and movement against the theorem, and velocities."""
    finished = if_finished(lambda: work.all(cells(plan), "networks of two layers"))
    if finished is None:
        return Result({}, "", not_run=["networks of two layers"])
    *checks, moved = finished
    at = np.unique(np.geomspace(1, STEPS, _POINTS).round().astype(int))
    names = [name for *_, name in PROBLEMS]
    wide, narrow = checks[: len(names)], checks[len(names) :]
    problems = {
        name: _problem(numbers_of, at)
        | {f"narrow_{what}": value for what, value in _errors(narrow_check).items()}
        for name, numbers_of, narrow_check in zip(names, wide, narrow, strict=True)
    }
    level = moved["velocity"].mean(axis=0)
    every = STEPS // MOMENTS
    numbers = {
        "width": WIDTH,
        "steps": at.tolist(),
        "problems": problems,
        "velocity": {
            "width": NARROW,
            "starts": STARTS,
            "examples_of_a_group": moved["group"],
            "steps": [every * (moment + 1) for moment in range(MOMENTS)],
            "groups": moved["velocity"].T.tolist(),
            "cg": moved["cg"].tolist(),
            "mean": level.tolist(),
            "deviation_over_groups": float(level.std()),
            "deviation_over_starts": moved["by_start"].std(axis=0).tolist(),
            "spearman_with_group": spearman(level, np.arange(GROUPS, dtype=float)),
            "loss": moved["loss"],
        },
    }
    n = checks[0]["examples"]
    figure, axes = panels(1, 3, width=3.6, height=3.2)
    for (name, numbers_of), colour in zip(problems.items(), _COLOURS, strict=True):
        _pair(axes[0, 0], at, numbers_of["loss"], numbers_of["predicted_loss"], colour, name)
        _pair(
            axes[0, 1], at, numbers_of["movement"], numbers_of["predicted_movement"], colour, name
        )
        axes[0, 1].axhline(numbers_of["movement_bound"], color=colour, lw=0.9, ls=":")
    axes[0, 0].set(xlabel="step", ylabel="distance of outputs from labels", xscale="log")
    axes[0, 1].set(xlabel="step", ylabel="movement of weights", xscale="log", yscale="log")
    for group, values in enumerate(numbers["velocity"]["groups"]):
        ends = {0: "lowest CG-scores", GROUPS - 1: "highest CG-scores"}
        axes[0, 2].plot(
            numbers["velocity"]["steps"],
            values,
            color=heat_colour(group, GROUPS),
            lw=1.2,
            label=ends.get(group),
        )
    axes[0, 2].set(xlabel="step", ylabel="kernel velocity", yscale="log")
    axes[0, 2].legend(loc="upper right")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=len(labels))
    caption = (
        "Beyond the paper's figures. Left and middle: a network of two layers and width "
        f"{WIDTH:,} in {STEPS:,} steps of gradient descent on {n:,} {SOURCES[DATASET].title} "
        "images of half the width and height. Solid: measured; dashed: predicted from the kernel "
        "matrix; dotted: the theorem's bound. Right: kernel velocity between moments "
        f"{every} steps apart of {GROUPS} groups by CG-score, {moved['group']} examples each, of "
        f"pullovers or coats; width {NARROW:,}, mean of {STARTS} random starts."
    )
    return Result(numbers, _text(numbers, n), {"": (figure, caption)})


def _problem(result: CellResult, at: NDArray[np.intp]) -> dict[str, Any]:
    """Thinned curves of one problem, and how far apart they are at any step."""
    movement, bound = result["movement"], result["movement_bound"]
    return {
        "loss": result["loss"][at].tolist(),
        "predicted_loss": result["predicted"][at].tolist(),
        "movement": movement[at].tolist(),
        "predicted_movement": result["predicted_movement"][at].tolist(),
        "movement_bound": bound,
        "complexity": bound**2,
        **_errors(result),
        "movement_share": float(movement[-1] / bound),
        "test_loss": result["test_loss"],
        "test_bound": result["test_bound"],
        "test_examples": result["tested"],
        "rate": result["rate"],
    }


def _errors(result: CellResult) -> dict[str, float]:
    """Largest of all steps: of the loss as a share of its start, of the movement of its bound."""
    loss, movement = (
        float(np.abs(result[name] - result[predicted]).max())
        for name, predicted in (("loss", "predicted"), ("movement", "predicted_movement"))
    )
    return {
        "loss_error": loss / float(result["predicted"][0]),
        "movement_error": movement / float(result["movement_bound"]),
    }


def _pair(
    axes: Axes,
    at: NDArray[np.intp],
    measured: list[float],
    predicted: list[float],
    c: str,
    who: str,
) -> None:
    axes.plot(at, measured, color=c, label=who)
    axes.plot(at, predicted, color=c, ls="--", lw=1.1)


def _text(numbers: dict[str, Any], n: int) -> str:
    problems = list(numbers["problems"].values())
    wide, narrow = f"{numbers['width']:,}", f"{numbers['velocity']['width']:,}"
    labels = {
        "complexity": "complexity",
        "distance from the labels at the end": "loss",
        "predicted distance": "predicted_loss",
        f"largest error of the distance, as a share of the start, width {wide}": "loss_error",
        f"the same error, width {narrow}": "narrow_loss_error",
        "movement of weights at the end": "movement",
        "predicted movement": "predicted_movement",
        "bound of the movement": "movement_bound",
        f"largest error of the movement, as a share of its bound, width {wide}": "movement_error",
        f"its error, width {narrow}": "narrow_movement_error",
        "test loss": "test_loss",
        "bound of the test loss": "test_bound",
    }
    rows = [
        [
            label,
            *(
                problem[name][-1] if isinstance(problem[name], list) else problem[name]
                for problem in problems
            ),
        ]
        for label, name in labels.items()
    ]
    moved = numbers["velocity"]
    groups = table(
        ["group by CG-score", *(str(group + 1) for group in range(GROUPS))],
        [
            ["mean CG-score", *moved["cg"]],
            ["mean velocity, in 1e-4", *(1e4 * problem for problem in moved["mean"])],
            [
                "its deviation over starts, in 1e-4",
                *(1e4 * problem for problem in moved["deviation_over_starts"]),
            ],
        ],
    )
    return f"""The paper states the theorem and shows no network of this kind: this goes beyond its
figures. The network has {numbers["width"]:,} neurons and is trained on {n:,} images. Its distance
from the labels is predicted from the eigenvectors of the kernel matrix, step by step. Its weights
move by no more than the square root of the complexity. Both hold up to constants that the theorem
lets vanish as width grows; errors are shown for one random start at each of two widths. A bound of
the test loss above 1 says nothing by itself.

{table(["", *numbers["problems"]], rows)}

Kernel velocity of a network with {moved["width"]:,} neurons (appendix I), for groups from the
lowest to the highest CG-scores. Spearman's correlation of the number of a group with its mean
velocity is {moved["spearman_with_group"]:.2f}; groups have {moved["examples_of_a_group"]} examples.
Means of groups have a deviation of {moved["deviation_over_groups"]:.1e}; the mean of a group varies
with the random start by {np.mean(moved["deviation_over_starts"]):.1e}.

{groups}"""
