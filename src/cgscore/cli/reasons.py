"""Printing of why labels are suspected: each suspect, then the examples that speak about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cgscore.cli.console import one_line, shortened
from cgscore.cli.suspects import percent, show_number, suspect_cells

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

INDENT = 4
COLUMNS_SHOWN = 4  # of a table
MIN_TEXT = 20  # characters of a neighbour that are shown however narrow the terminal is


def print_reasons(
    console: Console,
    scores: Scores,
    dataset: Dataset,
    suspects: pd.DataFrame,
    neighbours: pd.DataFrame,
) -> None:
    """Print each suspect with its most similar examples and their shares in the prediction.

    Parameters
    ----------
    console : Console
        Where to print.
    scores : Scores
        The scores of all examples.
    dataset : Dataset
        The scored data.
    suspects : DataFrame
        Flagged rows of `Scores.label_issues`, with their ``position``.
    neighbours : DataFrame
        Their neighbours (`cgscore.issues.neighbours`).
    """
    console.print("The worst, with the most similar examples and their share in the prediction:")
    describe = _describer(scores, dataset, suspects)
    titles, rows = suspect_cells(scores, suspects)
    names = scores.class_names()
    for cells, position, (_, suspect) in zip(
        rows, suspects["position"], suspects.iterrows(), strict=True
    ):
        facts = ", ".join(
            f"{title} {cell}"
            for title, cell in zip(titles[1:], cells[1:], strict=True)
            if title != "text"
        )
        console.print(f"{shortened(cells[0], console.width)}", style="bold")
        _print_line(console, facts)
        if own := describe(int(position)):
            _print_line(console, f"this: {own}")
        near = neighbours[neighbours["position"] == position]
        for side, group in near.groupby("side", sort=False):
            title = f"like {one_line(str(_side_name(str(side), suspect, names)))}:"
            _print_line(console, title)
            for row in group.to_dict("records"):
                _print_neighbour(console, row, describe(row["neighbour_position"]))


def _print_line(console: Console, text: str) -> None:
    console.print(" " * INDENT + shortened(text, console.width - INDENT), soft_wrap=True)


def _print_neighbour(console: Console, row: dict[str, Any], words: str) -> None:
    share = f"{percent(row['share'], 1):>7}"
    room = max(MIN_TEXT, console.width - 2 * INDENT - len(share) - 2)
    name = shortened(str(row["neighbour"]), room if not words else room // 2)
    text = f"{name}  {shortened(words, max(MIN_TEXT, room - len(name) - 2))}" if words else name
    console.print(f"{' ' * 2 * INDENT}{share}  {text}", soft_wrap=True)


def _side_name(side: str, suspect: pd.Series[Any], names: dict[Any, Any]) -> Any:
    if side == "similar":
        return "it"
    label = suspect["given_label" if side == "given" else "predicted_label"]
    return names.get(label, label)


def _describer(scores: Scores, dataset: Dataset, suspects: pd.DataFrame) -> Callable[[int], str]:
    """A function that says in words what an example is, beyond its id; empty for pictures."""
    import numpy as np

    from cgscore.report.informative_columns import informative_columns

    texts, frame = dataset.texts, dataset.frame
    if texts is not None:
        return lambda position: f'"{one_line(texts[position])}"'
    if frame is None or dataset.drawable:
        return lambda position: ""
    if len(scores.classes):
        suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
        columns: Any = informative_columns(
            frame, scores.codes(), suspects["position"].to_numpy(), suggested
        ).columns
    else:
        columns = frame.columns
    given = scores.table["given_label"].to_numpy()

    def values(position: int) -> str:
        row = frame.iloc[position]
        cells = [f"{one_line(str(name))} {_value(row[name])}" for name in columns[:COLUMNS_SHOWN]]
        target = [] if len(scores.classes) else [f"given {show_number(given[position])}"]
        return ", ".join([*target, *cells])

    return values


def _value(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else shortened(value, MIN_TEXT)
