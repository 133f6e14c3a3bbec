"""Printing of where labels come from: sources, annotators, and what groups are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cgscore.cli.console import one_line, shortened
from cgscore.cli.suspects import percent

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.result.scores import Scores

ROWS_SHOWN = 5
MAX_NAME_WIDTH = 32


def print_origins(console: Console, scores: Scores) -> None:
    """Print the sources that differ, and the annotators, where the scores have them."""
    if "source" in scores.table and scores.judged:
        print_sources(console, scores.sources())
    if "annotators" in scores.meta:
        print_annotators(console, scores.annotators())


def print_sources(console: Console, sources: pd.DataFrame) -> None:
    """Print the sources with more wrong labels than the others, the worst first."""
    worse = sources[sources["differs"] == "more"]
    better = int((sources["differs"] == "fewer").sum())
    count = f"{len(sources):,} source{'' if len(sources) == 1 else 's'}"
    if not len(worse):
        rest = f"; {better:,} have fewer" if better else ""
        console.print(
            f"None of {count} has more wrong labels than the others by more than chance{rest}.",
            soft_wrap=True,
        )
        return
    console.print(
        f"Of {count}, {len(worse):,} {'has' if len(worse) == 1 else 'have'} more wrong labels than "
        f"the others by more than chance, and {better:,} fewer. The worst sources:",
        soft_wrap=True,
    )
    rows = [
        (_name(row.source), f"{row.examples:,}", percent(row.rate), _interval(row.low, row.high))
        for row in worse.head(ROWS_SHOWN).itertuples()
    ]
    _print_table(console, ("source", "labels", "wrong", "95 % interval"), rows)


def print_annotators(console: Console, annotators: pd.DataFrame) -> None:
    """Print the least reliable annotators."""
    console.print(
        f"Labels are the consensus of {len(annotators):,} annotators and the inputs. The least "
        "reliable:",
        soft_wrap=True,
    )
    rows = [
        (
            _name(row.annotator),
            f"{row.examples:,}",
            percent(row.reliability),
            _interval(row.low, row.high),
        )
        for row in annotators.head(ROWS_SHOWN).itertuples()
    ]
    _print_table(console, ("annotator", "labels", "right", "95 % interval"), rows)


def print_groups(console: Console, groups: pd.DataFrame) -> None:
    """Print the groups whose examples are worth most and least."""
    each = groups.assign(each=groups["gap"] / groups["examples"])
    ordered = each.sort_values("each", ascending=False, kind="stable")
    ends = ordered.head(ROWS_SHOWN), ordered.iloc[ROWS_SHOWN:].tail(ROWS_SHOWN)
    console.print(f"{len(groups):,} groups, by how much the complexity falls when each is removed:")
    rows = [
        (_name(row.group), f"{row.examples:,}", f"{row.gap:,.4g}", f"{row.each:,.4g}")
        for part in ends
        for row in part.itertuples()
    ]
    if len(groups) > 2 * ROWS_SHOWN:
        rows.insert(ROWS_SHOWN, ("...", "", "", ""))
    _print_table(console, ("group", "examples", "gap", "per example"), rows)


def origin_records(scores: Scores) -> dict[str, Any]:
    """Sources and annotators for ``--json``; null where the scores have none."""
    sources = "source" in scores.table and scores.judged
    annotators = "annotators" in scores.meta
    return {
        "sources": scores.sources().to_dict("records") if sources else None,
        "annotators": scores.annotators().to_dict("records") if annotators else None,
    }


def _print_table(console: Console, titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left", no_wrap=True)
    for cells in rows:
        table.add_row(*cells)
    console.print(table)


def _name(value: Any) -> str:
    import pandas as pd

    return "(missing)" if pd.isna(value) else shortened(one_line(str(value)), MAX_NAME_WIDTH)


def _interval(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"
