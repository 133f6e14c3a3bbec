"""Appendix C: the highest and the lowest examples, and the classes of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.typing import Array, Index
from cgscore_paper import densities
from cgscore_paper.cells import Work
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, Images, load, missing
from cgscore_paper.figures import SCORES, panels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, table
from cgscore_paper.scores import estimated, shared_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Appendix C: examples sorted by the CG-score"

# Its files hold numbers only.
_FASHION = (
    "T-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "boot",
)
_CIFAR = (3, 5, 6, 9)  # cat, dog, frog and truck
_GAP_PIXELS = (
    2  # white pixels between images; between the highest and the lowest four times as many
)
_MAX_NAMED_CLASSES = 20  # classes whose names fit under an axis
_BLUE = SCORES["cg"][1]


def make(work: Work, plan: Plan) -> Result:
    """Pictures of whole datasets with right labels, and what their classes have."""
    missing_reasons = {
        name: missing(work.data, name) for name in ("mnist", "cifar-100", "imagenet")
    }
    grey_datasets = [name for name in ("mnist", "fashion-mnist") if not missing_reasons.get(name)]
    class_datasets = [name for name in ("cifar-100", "imagenet") if not missing_reasons[name]] or [
        "cifar-10"
    ]
    datasets = dict.fromkeys([*grey_datasets, "cifar-10", *class_datasets])
    work.all([cell for name in datasets for cell in shared_runs(plan, name)], "estimator")

    first, shown = _every_class(work, plan, grey_datasets)
    second, shown["cifar-10"] = _cifar(work, plan)
    figures = {"": first, "-2": second}
    parts = [
        "Whole datasets with right labels. The JSON file has the positions and scores of all "
        "images that are shown."
    ]
    numbers: dict[str, Any] = {"shown": shown, "classes": {}, "four_classes": {}}
    for name in class_datasets:
        images, cg = load(work.data, name), _cg(work, plan, name)
        means, spread = (
            np.array([statistic(cg[images.codes == c]) for c in range(len(images.names))])
            for statistic in (np.mean, np.std)
        )
        order = np.argsort(means, kind="stable")
        four = [*order[:2].tolist(), *order[-2:].tolist()]
        correlation = spearman(means, spread)
        numbers["classes"][name] = {
            "names": [images.names[c] for c in order],
            "means": means[order],
            "deviations": spread[order],
            "rank_correlation_of_means_and_deviations": correlation,
        }
        figures[f"-{len(figures) + 1}"] = _classes(plan, name, numbers["classes"][name])
        drawn, numbers["four_classes"][name] = _four_classes(name, images, cg, four)
        figures[f"-{len(figures) + 1}"] = drawn
        parts += [
            f"{SOURCES[name].title}: classes with the lowest and the highest means. Over all "
            f"{len(means)} classes, means and deviations have a rank correlation of "
            f"{correlation:.3f}.",
            table(
                ["class", "mean", "deviation"],
                [[images.names[c], float(means[c]), float(spread[c])] for c in four],
            ),
        ]
    not_run = [f"{SOURCES[name].title}: {why}" for name, why in missing_reasons.items() if why]
    return Result(numbers, "\n\n".join(parts), figures, not_run=not_run)


def _every_class(
    work: Work, plan: Plan, datasets: Sequence[str]
) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """Three highest and three lowest of each class, a panel for each dataset."""
    figure, grid = panels(1, len(datasets), width=6.4, height=4.2)
    numbers = {}
    for axes, name in zip(grid[0], datasets, strict=True):
        images, cg = load(work.data, name), _cg(work, plan, name)
        names = _FASHION if name == "fashion-mnist" else images.names
        ranked = [_ranked(cg, images.codes, c) for c in range(len(names))]
        picked = np.array([[*positions[:3], *positions[-3:]] for positions in ranked]).T
        numbers[name] = {
            class_name: _picked_numbers(column, cg)
            for class_name, column in zip(names, picked.T, strict=True)
        }
        _draw_mosaic(axes, images, picked, names)
        axes.set_title(SOURCES[name].title, fontsize=9.5)
    caption = (
        "The three highest (top) and the three lowest CG-scores (bottom) of every class, from high "
        f"to low ({plan.runs} runs of the estimator). The paper marks by eye what may be "
        "mislabelled; here nothing is marked."
    )
    return (figure, caption), numbers


def _cifar(work: Work, plan: Plan) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """The paper's four classes of CIFAR-10."""
    images, cg = load(work.data, "cifar-10"), _cg(work, plan, "cifar-10")
    figure, grid = panels(1, len(_CIFAR), width=2.6, height=2.5)
    numbers = _draw_extremes(grid[0], images, cg, _CIFAR)
    caption = (
        "CIFAR-10: of four classes the ten highest CG-scores (top two rows) and the ten lowest "
        f"(bottom two rows), from high to low ({plan.runs} runs of the estimator)."
    )
    return (figure, caption), numbers


def _classes(plan: Plan, name: str, classes: dict[str, Any]) -> tuple[Figure, str]:
    """Means of classes with deviations as bars; their names where they fit."""
    figure, grid = panels(1, 1, width=6.4, height=3.0)
    axes, places = grid[0, 0], range(len(classes["names"]))
    axes.errorbar(
        places,
        classes["means"],
        classes["deviations"],
        fmt="o",
        color=_BLUE,
        markersize=4,
        capsize=2,
        linewidth=1,
    )
    if len(places) <= _MAX_NAMED_CLASSES:
        axes.set_xticks(places, classes["names"], rotation=30, ha="right")
    else:
        axes.set_xlabel("classes, by their mean")
    axes.set_ylabel("CG-score")
    caption = (
        f"{SOURCES[name].title}: mean of the CG-score of every class, with its standard deviation "
        f"as bars ({plan.runs} runs of the estimator).{_stand_in_note(name)}"
    )
    return figure, caption


def _four_classes(
    name: str, images: Images, cg: Array, classes: Sequence[int]
) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """Pictures of four classes, and below them the densities of their scores."""
    figure, grid = panels(2, len(classes), width=2.6, height=2.4)
    numbers = _draw_extremes(grid[0], images, cg, classes)
    bins = densities.edges(cg[np.isin(images.codes, classes)], bins=40)
    for axes, c in zip(grid[1], classes, strict=True):
        density = densities.density(cg[images.codes == c], bins)
        densities.steps(axes, density, bins, _BLUE, "")
        axes.sharey(grid[1, 0])
        axes.set_xlabel("CG-score")
        numbers[images.names[c]]["density"] = density
    grid[1, 0].set_ylabel("density")
    grid[1, 0].set_ylim(bottom=0)
    caption = (
        f"{SOURCES[name].title}: the two classes with the lowest mean and the two with the highest."
        " Top: their ten highest CG-scores (two rows) and their ten lowest (two rows). Bottom: "
        f"densities of their CG-scores. {densities.CLIPPING_NOTE}{_stand_in_note(name)}"
    )
    return (figure, caption), {"from": bins[0], "to": bins[-1], "classes": numbers}


def _stand_in_note(name: str) -> str:
    return " It stands in for the paper's CIFAR-100 and ImageNet." if name == "cifar-10" else ""


def _cg(work: Work, plan: Plan, name: str) -> Array:
    return estimated(work, shared_runs(plan, name))["cg"]


def _ranked(cg: Array, codes: Index, c: int) -> Index:
    """Examples of a class, the highest score first."""
    members = np.flatnonzero(codes == c)
    return members[np.argsort(-cg[members], kind="stable")]


def _picked_numbers(picked: Index, cg: Array) -> dict[str, Any]:
    """Positions and scores of images of which the first half are the highest."""
    half = len(picked) // 2
    return {
        end: {"rows": rows, "scores": cg[rows]}
        for end, rows in (("highest", picked[:half]), ("lowest", picked[half:]))
    }


def _draw_extremes(
    line: Sequence[Axes], images: Images, cg: Array, classes: Sequence[int]
) -> dict[str, Any]:
    """Draw the ten highest and the ten lowest of classes, a panel each; what is shown."""
    numbers = {}
    for axes, c in zip(line, classes, strict=True):
        positions = _ranked(cg, images.codes, c)
        picked = np.concatenate([positions[:10], positions[-10:]])
        _draw_mosaic(axes, images, picked.reshape(4, 5))
        axes.set_title(images.names[c], fontsize=9.5)
        numbers[images.names[c]] = _picked_numbers(picked, cg)
    return numbers


def _draw_mosaic(axes: Axes, images: Images, picked: Index, names: Sequence[str] = ()) -> None:
    """Draw a grid of images as one; the upper half of its rows are the highest."""
    drawn, across, down = _mosaic(images.X, picked)
    axes.imshow(drawn, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    half = len(down) // 2
    axes.set_yticks(
        [np.mean(down[:half]), np.mean(down[half:])],
        ["highest", "lowest"],
        rotation=90,
        va="center",
    )
    axes.set_xticks(across if names else [], names, rotation=30, ha="right")
    axes.tick_params(length=0)


def _mosaic(X: NDArray[np.uint8], picked: Index) -> tuple[NDArray[np.uint8], Array, Array]:
    """One image of many on white, and the middles of its columns and rows."""
    rows, columns = picked.shape
    h, w = X.shape[1:3]
    left = np.arange(columns) * (w + _GAP_PIXELS)
    top = np.arange(rows) * (h + _GAP_PIXELS) + (np.arange(rows) >= rows // 2) * 3 * _GAP_PIXELS
    mosaic = np.full((top[-1] + h, left[-1] + w, *X.shape[3:]), 255, np.uint8)
    for i in range(rows):
        for j in range(columns):
            mosaic[top[i] : top[i] + h, left[j] : left[j] + w] = X[picked[i, j]]
    return mosaic, left + (w - 1) / 2, top + (h - 1) / 2
