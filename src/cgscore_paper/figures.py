"""The style of figures: one colour for each score, print quality."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cgscore.execution.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Label in figures, and colour (Okabe and Ito's palette for colour-blind readers).
SCORES: dict[str, tuple[str, str]] = {
    "cg": ("CG-score", "#0072b2"),
    "partial": ("partial CG-score", "#56b4e9"),
    "cg_prime": ("CG'-score", "#999999"),
    "c_score": ("1 - C-score", "#009e73"),
    "el2n": ("EL2N", "#e69f00"),
    "forgetting": ("forgetting", "#cc79a7"),
    "tracin": ("TracIn", "#d55e00"),
    "self_influence": ("TracIn (self-influence)", "#d55e00"),
    "craig": ("CRAIG", "#6a3d9a"),
    "feature_cg": ("feature-space CG", "#117733"),
    "pixel_cg": ("CG of pixels, same estimator", "#0072b2"),
    "random": ("random", "#000000"),
    "full": ("all examples", "#888888"),
    "oracle": ("oracle", "#999999"),
    "exact_cg": ("exact CG", "#332288"),
    "iterative_cg": ("iterative CG", "#88ccee"),
    "exact_partial": ("exact partial", "#4477aa"),
    "ridge_cg": ("CG with ridge", "#aa4499"),
    "ridge_margin": ("margin with ridge", "#117733"),
    "posterior": ("label score (posterior)", "#882255"),
}

#: Right and wrong labels.
RIGHT, WRONG = "#0072b2", "#e69f00"

_STYLE: Any = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "svg.hashsalt": "cgscore",
    "svg.fonttype": "none",
    "figure.dpi": 150.0,
}


#: Means of fewer trainings have neither a band nor bars.
MIN_REPEATS = 3
#: Up to as many x-values are drawn as points with bars, more as lines with bands.
MAX_POINTS = 3
_DODGE = 0.025  # between the points of two scores, as a share of the range of x


def panels(
    rows: int,
    columns: int,
    *,
    width: float = 3.2,
    height: float = 2.6,
    share_y: bool | Literal["row", "col"] = False,
) -> tuple[Figure, np.ndarray[Any, Any]]:
    """A figure and its (rows, columns) array of panels; width and height of each are in inches.

    Several panels have letters. Those with `share_y`, all or of a row or column, have one scale.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    grid = np.asarray(figure.subplots(rows, columns, squeeze=False, sharey=share_y))
    if grid.size > 1:
        for letter, axes in zip(ascii_lowercase, grid.ravel(), strict=False):
            axes.set_title(letter, loc="left", fontweight="bold")
    return figure, grid


def heat_colour(level: int, count: int) -> tuple[float, ...]:
    """The colour of a level from 0 (blue, easy) to ``count - 1`` (red, hard)."""
    from matplotlib import colormaps

    return tuple(colormaps["coolwarm"](level / max(1, count - 1)))


def curve(
    axes: Axes, x: Sequence[float], samples: Sequence[Sequence[float]], by: str, *, place: int = 0
) -> None:
    """Draw the mean of the values at each x that has any.

    With bars of the sample standard deviation, or a band of it where there are more than
    `MAX_POINTS`, if there are `MIN_REPEATS` values or more. `place` moves points of several scores
    apart.
    """
    label, colour = SCORES[by]
    points = [(at, sample) for at, sample in zip(x, samples, strict=True) if len(sample)]
    if not points:
        return
    at = np.array([point for point, _ in points], float)
    means = np.array([np.mean(sample) for _, sample in points])
    spread = np.array([deviation(sample) or np.nan for _, sample in points])
    line = "--" if by == "random" else "-"
    if len(points) > MAX_POINTS:
        axes.plot(at, means, f"o{line}", color=colour, label=label, markersize=3)
        low, high = means - spread, means + spread
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
        return
    at = at + place * _DODGE * (max(x) - min(x))
    kind = {"random": "D"}.get(by, "o")
    axes.errorbar(
        at, means, spread, fmt=kind, color=colour, label=label, markersize=4, capsize=2, lw=1
    )


def deviation(sample: Sequence[float]) -> float | None:
    """The sample standard deviation, or None for fewer than `MIN_REPEATS` values."""
    return float(np.std(sample, ddof=1)) if len(sample) >= MIN_REPEATS else None


def legend_below(figure: Figure, panels: Iterable[Axes], columns: int = 7) -> None:
    """Add one legend under all panels, with every line once."""
    lines: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        lines |= dict(zip(labels, handles, strict=True))
    figure.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=min(columns, len(lines))
    )


def style() -> AbstractContextManager[Any]:
    """A context in which figures have the style of this package."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def save(figure: Figure, path: Path) -> list[Path]:
    """Write PATH.png and PATH.svg, the same bytes for the same figure."""
    written = []
    with style():
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata, dpi=150)
            target = path.with_name(f"{path.name}.{kind}")
            replace_file(target, lambda file, buffer=buffer: file.write(buffer.getvalue()))  # type: ignore[misc]
            written.append(target)
    return written
