"""The distribution of a score: a picture in a notebook, bars of text at a prompt."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cgscore.execution.files import replace_file
from cgscore.typing import Array

MIN_SPREAD = 1e-9  # of values that are not all the same, relative to their size
BARS, TEXT_BARS, TEXT_WIDTH = 40, 12, 50
_COLOUR, _FLAGGED_COLOUR = "#4477aa", "#cc6677"


@dataclass(frozen=True)
class Histogram:
    """How often each value of a score occurs.

    It shows itself: as a picture in a notebook, as bars of text at a prompt.

    Attributes
    ----------
    name : str
        Of the score.
    values : (n,) array
        One for each example.
    flagged : (n,) array of bool or None
        Examples whose part of each bar has another colour: those that are label issues.
    logarithmic : bool
        Whether bars are equally wide in the logarithm of the values. Values that are not positive
        are then left out; infinite values always are.
    """

    name: str
    values: Array
    flagged: NDArray[np.bool_] | None = None
    logarithmic: bool = False

    def __repr__(self) -> str:
        lines = [self.caption]
        counted = self._counts(TEXT_BARS)
        if counted is not None:
            edges, counts, marked = counted
            scale = TEXT_WIDTH / counts.max()
            places = [f"{edge:.3g}" for edge in edges]
            wide = max(map(len, places))
            for number, count in enumerate(counts):
                bar = "#" * round(scale * marked[number])
                bar += "=" * (round(scale * count) - len(bar))
                span = f"{places[number]:>{wide}} to {places[number + 1]:>{wide}}"
                lines.append(f"  {span}  {bar:<{TEXT_WIDTH}} {count:,}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.svg()

    @property
    def caption(self) -> str:
        """Range, scale, what colours mean, and how many values are left out."""
        shown = self._shown()
        values = self.values[shown]
        if not len(values):
            return f"{self.name}: no values to show"
        text = f"{self.name} from {values.min():.2g} to {values.max():.2g}"
        text += ", logarithmic" if self.logarithmic else ""
        if self.flagged is not None:
            text += f"; {int(self.flagged[shown].sum()):,} label issues in another colour (#)"
        if left_out := int((~shown).sum()):
            text += f"; {left_out:,} values not shown"
        return text

    def svg(self, width: int = 640, height: int = 160) -> str:
        """The picture as SVG, so large without the caption; empty without values to show."""
        counted = self._counts(BARS)
        if counted is None:
            return ""
        _, counts, marked = counted
        step, scale = width / BARS, height / counts.max()
        parts = []
        for series, colour in ((counts, _COLOUR), (marked, _FLAGGED_COLOUR)):
            bars = "".join(
                f'<rect x="{i * step:.1f}" y="{height - scale * count:.1f}" '
                f'width="{step - 1:.1f}" height="{scale * count:.1f}"/>'
                for i, count in enumerate(series)
                if count or series is counts
            )
            parts.append(f'<g fill="{colour}">{bars}</g>')
        caption = html.escape(self.caption.replace(" (#)", ""))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{caption}" '
            f'width="{width}" height="{height + 16}">{"".join(parts)}'
            f'<text y="{height + 13}" font-size="11" fill="currentColor">{caption}</text></svg>'
        )

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        replace_file(Path(path), lambda file: file.write(self.svg().encode()))

    def _shown(self) -> NDArray[np.bool_]:
        finite = np.isfinite(self.values)
        return finite & (self.values > 0) if self.logarithmic else finite

    def _counts(self, bars: int) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]] | None:
        """Edges of bars, how many examples are in each, and how many of these are flagged."""
        shown = self._shown()
        if not shown.any():
            return None
        places = np.log10(self.values[shown]) if self.logarithmic else self.values[shown]
        low, high = float(places.min()), float(places.max())
        if high - low <= MIN_SPREAD * max(1.0, abs(high)):  # equal up to rounding
            low, high = low - 0.4875, low + 0.5125  # inside a bar, not between two
        counts, edges = np.histogram(places, bins=bars, range=(low, high))
        marked = np.zeros_like(counts)
        if self.flagged is not None:
            marked = np.histogram(places[self.flagged[shown]], bins=edges)[0]
        return 10**edges if self.logarithmic else edges, counts, marked
