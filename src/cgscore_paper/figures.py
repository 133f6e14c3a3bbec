"""The style of figures: one colour for each score, print quality."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

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
    "forgetting": ("forgetting", "#d55e00"),
    "tracin": ("TracIn", "#cc79a7"),
    "self_influence": ("TracIn (self-influence)", "#cc79a7"),
    "craig": ("CRAIG", "#6a3d9a"),
    "feature_cg": ("feature-space CG", "#117733"),
    "random": ("random", "#b22222"),
    "full": ("all examples", "#777777"),
    "oracle": ("oracle", "#000000"),
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


def panels(
    rows: int, columns: int, *, width: float = 3.2, height: float = 2.6
) -> tuple[Figure, np.ndarray[Any, Any]]:
    """A figure and its (rows, columns) array of panels; width and height of each are in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    return figure, np.asarray(figure.subplots(rows, columns, squeeze=False))


def heat_colour(level: int, count: int) -> tuple[float, ...]:
    """The colour of a level from 0 (blue, easy) to ``count - 1`` (red, hard)."""
    from matplotlib import colormaps

    return tuple(colormaps["coolwarm"](level / max(1, count - 1)))


def curve(
    axes: Axes, x: ArrayLike, samples: Sequence[ArrayLike], by: str, *, style: str = "o-"
) -> None:
    """Draw the mean of the values at each x, with a band of their standard deviation."""
    label, colour = SCORES[by]
    means = np.array([np.mean(np.asarray(sample)) for sample in samples])
    deviations = np.array([np.std(np.asarray(sample)) for sample in samples])
    axes.plot(x, means, style, color=colour, label=label, markersize=3)
    axes.fill_between(
        x, means - deviations, means + deviations, color=colour, alpha=0.15, linewidth=0
    )


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
