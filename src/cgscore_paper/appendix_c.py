"""Appendix C: the highest and the lowest examples, and the classes of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.typing import Array, Index
from cgscore_paper import densities
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, Images, load, missing
from cgscore_paper.figures import SCORES, panels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, table
from cgscore_paper.whole import summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Appendix C: examples sorted by the CG-score"

#: Names of classes, of which the files hold numbers only.
FASHION = (
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
    found = {
        name: summary
        for name in datasets
        if (summary := if_finished(lambda name=name: summary_of(work, plan, name))) is not None  # type: ignore[misc]
    }
    not_run = [f"{SOURCES[name].title}: {why}" for name, why in missing_reasons.items() if why]
    not_run += [f"{SOURCES[name].title}" for name in datasets if name not in found]
    figures: dict[str, tuple[Figure, str]] = {}
    numbers: dict[str, Any] = {"shown": {}, "classes": {}, "four_classes": {}}
    greys = {name: found[name] for name in grey_datasets if name in found}
    if greys:
        figures[""], shown = _every_class(work, greys)
        numbers["shown"] |= shown
    if "cifar-10" in found:
        figures[_suffix(figures)], shown = _four(work, "cifar-10", found["cifar-10"])
        numbers["shown"]["cifar-10"] = shown
    parts = ["Whole datasets with right labels; positions and scores of images are in the JSON."]
    for name in class_datasets if all(name in found for name in class_datasets) else ["cifar-10"]:
        if name not in found:
            continue
        classes = _class_table(load(work.data, name), found[name])
        numbers["classes"][name] = classes
        figures[_suffix(figures)] = _classes(name, found[name]["runs"], classes)
        figures[_suffix(figures)], numbers["four_classes"][name] = _ends(work, name, found[name])
        parts.append(_text(name, classes))
    return Result(numbers, "\n\n".join(parts), figures, not_run=not_run)


def _suffix(figures: Mapping[str, Any]) -> str:
    return f"-{len(figures) + 1}" if figures else ""


def _class_table(images: Images, found: CellResult) -> dict[str, Any]:
    """Classes by their means."""
    means, spread = (np.array(found["classes"][name]) for name in ("means", "deviations"))
    order = np.argsort(means, kind="stable")
    return {
        "names": [images.names[c] for c in order],
        "means": means[order],
        "deviations": spread[order],
        "rank_correlation_of_means_and_deviations": spearman(means, spread),
    }


def _text(name: str, classes: Mapping[str, Any]) -> str:
    at = [0, 1, -2, -1]
    rows = [
        [classes["names"][i], float(classes["means"][i]), float(classes["deviations"][i])]
        for i in at
    ]
    correlation = classes["rank_correlation_of_means_and_deviations"]
    return (
        f"{SOURCES[name].title}: classes with the lowest and the highest means. Over all "
        f"{len(classes['names'])} classes, means and deviations have a rank correlation of "
        f"{correlation:.3f}.\n\n"
    ) + table(["class", "mean", "deviation"], rows)


def _every_class(
    work: Work, summaries: Mapping[str, CellResult]
) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """Three highest and three lowest of each class, a panel for each dataset."""
    figure, grid = panels(1, len(summaries), width=6.4, height=4.2)
    numbers = {}
    for axes, (name, found) in zip(grid[0], summaries.items(), strict=True):
        images = load(work.data, name)
        names = FASHION if name == "fashion-mnist" else images.names
        extremes = [_shortened(found["shown"][str(c)], 3) for c in range(len(names))]
        numbers[name] = dict(zip(names, extremes, strict=True))
        _draw_mosaic(axes, images, np.array([_positions(ends) for ends in extremes]).T, names)
        axes.set_title(SOURCES[name].title, fontsize=9.5)
    caption = (
        "The three highest (top) and the three lowest CG-scores (bottom) of every class, from high "
        "to low. The paper marks by eye what may be mislabelled; here nothing is marked."
    )
    return (figure, caption), numbers


def _four(work: Work, name: str, found: CellResult) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """The paper's four classes of CIFAR-10."""
    figure, grid = panels(1, len(_CIFAR), width=2.6, height=2.5)
    numbers = _draw_extremes(grid[0], load(work.data, name), found, _CIFAR)
    caption = (
        f"{SOURCES[name].title}: of four classes the ten highest CG-scores (top two rows) and the "
        "ten lowest (bottom two rows), from high to low."
    )
    return (figure, caption), numbers


def _classes(name: str, runs: int, classes: dict[str, Any]) -> tuple[Figure, str]:
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
        f"as bars ({runs} runs of the estimator).{_stand_in_note(name)}"
    )
    return figure, caption


def _ends(work: Work, name: str, found: CellResult) -> tuple[tuple[Figure, str], dict[str, Any]]:
    """Pictures of the classes with the lowest and the highest means, and their densities."""
    images, four = load(work.data, name), found["four_classes"]
    classes = [int(c) for c in four["densities"]]
    figure, grid = panels(2, len(classes), width=2.6, height=2.4)
    numbers = _draw_extremes(grid[0], images, found, classes)
    bins = np.linspace(four["from"], four["to"], len(four["densities"][str(classes[0])]) + 1)
    for axes, c in zip(grid[1], classes, strict=True):
        densities.steps(axes, four["densities"][str(c)], bins, _BLUE, "")
        axes.sharey(grid[1, 0])
        axes.set_xlabel("CG-score")
        numbers[images.names[c]]["density"] = four["densities"][str(c)]
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


def _shortened(ends: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The outermost of both ends of a class."""
    return {
        "highest": {key: ends["highest"][key][:count] for key in ("rows", "scores")},
        "lowest": {key: ends["lowest"][key][-count:] for key in ("rows", "scores")},
    }


def _positions(ends: Mapping[str, Any]) -> list[int]:
    return [*ends["highest"]["rows"], *ends["lowest"]["rows"]]


def _draw_extremes(
    line: Sequence[Axes], images: Images, found: CellResult, classes: Sequence[int]
) -> dict[str, Any]:
    """Draw the ten highest and the ten lowest of classes, a panel each; what is shown."""
    numbers = {}
    for axes, c in zip(line, classes, strict=True):
        ends = found["shown"][str(c)]
        _draw_mosaic(axes, images, np.array(_positions(ends)).reshape(4, -1))
        axes.set_title(images.names[c], fontsize=9.5)
        numbers[images.names[c]] = dict(ends)
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
