"""Results of the items, and their files: JSON, figures, Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgscore import __version__
from cgscore.execution.files import replace_file
from cgscore_paper import sources
from cgscore_paper.figures import save
from cgscore_paper.plans import Plan
from cgscore_paper.provenance import provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Larger differences from the paper are explained by a run, or called unexplained.
MAX_UNEXPLAINED_DIFFERENCE = 0.03
#: In tables, of what no finished cell shows.
NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Compared:
    """A number of the paper and ours: correlations, shares and accuracies, from -1 to 1.

    Attributes
    ----------
    what : str
        What the number is.
    paper : float
        As printed.
    ours : float or None
        None while it is not tested.
    cause : str
        Why they are apart, in a sentence that names the run that shows it; empty if unexplained.
    size : str
        How many examples and repeats ours is of.
    """

    what: str
    paper: float
    ours: float | None
    cause: str = ""
    size: str = ""

    @property
    def apart(self) -> bool:
        """Whether the difference needs a cause."""
        return self.ours is not None and abs(self.ours - self.paper) > MAX_UNEXPLAINED_DIFFERENCE


@dataclass(frozen=True)
class Result:
    """The result of an item.

    Attributes
    ----------
    numbers : mapping
        Everything that figures and tables show, as JSON can write it.
    text : str
        Markdown: captions and tables, without a heading and without the figures.
    figures : mapping
        Suffix of the file name -> (figure, caption); the suffix of the first is empty.
    compared : sequence of Compared
        The paper's numbers and ours.
    not_run : sequence of str
        What was left out, and why.
    trials : str
        Markdown: runs that test an explanation, for an appendix of the page.
    """

    numbers: Mapping[str, Any]
    text: str
    figures: Mapping[str, tuple[Figure, str]] = field(default_factory=dict)
    compared: Sequence[Compared] = ()
    not_run: Sequence[str] = ()
    trials: str = ""


@dataclass(frozen=True)
class Written:
    """An item that was made: its name, title and result, the seconds and files of its cells."""

    name: str
    title: str
    result: Result
    seconds: float
    cells: Sequence[str] = ()

    def fragment(self, folder: str = "", level: int = 2) -> str:
        """Markdown with links to figures in `folder`."""
        parts = [f"{'#' * level} {self.title}", self.result.text.strip()]
        for suffix, (_, caption) in self.result.figures.items():
            parts.append(f"![{self.title}]({folder}{self.name}{suffix}.png)\n\n*{caption}*")
        if self.result.compared:
            parts.append(_comparison(self.result.compared))
        if self.result.not_run:
            parts.append(f"Not tested: {'; '.join(self.result.not_run)}.")
        parts.append(f"Seconds of work: {self.seconds:,.0f}. `cgscore paper {self.name}`")
        return "\n\n".join(part for part in parts if part) + "\n"

    def write(self, folder: Path, plan: Plan) -> list[Path]:
        """Write NAME.json, NAME.md and the figures, and return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for suffix, (figure, _) in self.result.figures.items():
            written += save(figure, folder / f"{self.name}{suffix}")
        for name, text in (
            (f"{self.name}.json", json.dumps(self._document(plan), indent=1) + "\n"),
            (f"{self.name}.md", self._page(plan)),
        ):
            replace_file(folder / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
            written.append(folder / name)
        return written

    def _page(self, plan: Plan) -> str:
        """The fragment with what a page of all items says once: settings, and trials."""
        parts = [self.fragment(), f"{plan.description}\n"]
        return "\n".join([*parts, *([f"{self.result.trials}\n"] if self.result.trials else [])])

    def _document(self, plan: Plan) -> dict[str, Any]:
        module = f"cgscore_paper.{self.name.replace('-', '_')}"
        return {
            "name": self.name,
            "title": self.title,
            "preset": plan.name,
            "seed": plan.seed,
            "version": __version__,
            **provenance(),
            "sources": sources.digest(module),
            "seconds": round(self.seconds, 1),
            "cells": sorted(self.cells),
            "settings": settings(plan),
            "numbers": rounded(self.result.numbers),
            "compared": [
                {
                    "what": comparison.what,
                    "paper": comparison.paper,
                    "ours": rounded(comparison.ours),
                }
                | ({"cause": comparison.cause} if comparison.cause else {})
                | ({"size": comparison.size} if comparison.size else {})
                for comparison in self.result.compared
            ],
            "not_run": list(self.result.not_run),
        }


def settings(plan: Plan) -> dict[str, Any]:
    """A plan and its trainings, as JSON can write them."""
    return {**asdict(plan), **plan.trainings("fashion-mnist", "cifar-10")}


def rounded(value: Any) -> Any:
    """The value with floats rounded to six digits and NumPy types converted to Python's."""
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if hasattr(value, "tolist"):
        return rounded(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; floats have three decimals, integers commas."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(_formatted(cell) for cell in line) + " |" for line in lines)


def _formatted(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}"


def _comparison(compared: Sequence[Compared]) -> str:
    rows = [
        [
            comparison.what,
            comparison.paper,
            NOT_TESTED if comparison.ours is None else float(comparison.ours),
            "" if comparison.ours is None else f"{comparison.ours - comparison.paper:+.3f}",
        ]
        for comparison in compared
    ]
    apart = [comparison for comparison in compared if comparison.apart]
    causes = list(dict.fromkeys(comparison.cause or "Unexplained." for comparison in apart))
    listing = "\n".join(
        f"- {cause} ("
        + "; ".join(one.what for one in apart if (one.cause or "Unexplained.") == cause)
        + ")"
        for cause in causes
    )
    return table(["", "paper", "ours", "difference"], rows) + (
        f"\n\nDifferences beyond {MAX_UNEXPLAINED_DIFFERENCE}:\n\n{listing}" if listing else ""
    )
