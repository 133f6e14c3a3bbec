"""Printing of suspected label errors: sentences, then a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cgscore.cli.console import one_line, shortened

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.result.scores import Scores

SUSPECTS_SHOWN = 10
CONFLICTS_SHOWN = 5  # groups of identical inputs
MIN_ACCURACY = 0.7  # leave-one-out accuracy below which many labels are hard to tell
MAX_ERROR_RATIO = 0.7  # error of predicted numbers over that of their median, likewise
MIN_WIDTH = 8  # characters to which a column may be shortened
GAP = 2  # characters between columns

#: Columns of `Scores.label_issues` that are shown, and their titles.
TITLES = {
    "given_label": "given",
    "predicted_label": "suggested",
    "true_label": "true",
    "confidence": "confidence",
    "runner_up": "runner-up",
    "cg": "CG",
}
#: The same for numbers, with the probability that a value is wrong.
NUMBER_TITLES = {
    "given_label": "given",
    "predicted_label": "predicted",
    "interval": "95 % interval",
    "wrong": "P(wrong)",
}
#: Kinds that have sentences of their own.
_COUNTED = ("", "wrong label", "conflicting duplicates", "undecidable")
_RIGHT = frozenset(("confidence", "cg", "interval", "wrong"))


def print_issues(
    console: Console, scores: Scores, issues: pd.DataFrame, suspects: pd.DataFrame
) -> None:
    """Print how many labels look wrong, then the worst of them.

    Parameters
    ----------
    console : Console
        Where to print.
    scores : Scores
        The scores of all examples.
    issues : DataFrame
        ``scores.label_issues()``.
    suspects : DataFrame
        The rows of `issues` to show.
    """
    print_findings(console, scores, issues)
    if len(suspects):
        console.print("The worst:")
        print_suspects(console, scores, suspects)
    print_conflicts(console, scores, issues)


def print_conflicts(console: Console, scores: Scores, issues: pd.DataFrame) -> None:
    """Print the first groups of identical inputs that have different labels."""
    if "conflict_group" not in issues or not issues["conflict_group"].notna().any():
        return
    names = scores.class_names()
    console.print("Identical inputs with different labels:")
    groups = issues[issues["conflict_group"].notna()].groupby("conflict_group")
    for _, group in list(groups)[:CONFLICTS_SHOWN]:
        members = ", ".join(
            f"{shortened(identifier)}: {shortened(names.get(label, label))}"
            for identifier, label in zip(group.index[:3], group["given_label"], strict=False)
        )
        more = f", and {len(group) - 3:,} more" if len(group) > 3 else ""
        tie = " (undecidable)" if (group["kind"] == "undecidable").any() else ""
        console.print(f"  {shortened(members, console.width - 30)}{more}{tie}", soft_wrap=True)
    if len(groups) > CONFLICTS_SHOWN:
        console.print(f"  and {len(groups) - CONFLICTS_SHOWN:,} more groups")


def print_findings(console: Console, scores: Scores, issues: pd.DataFrame) -> None:
    """Print how many labels look wrong, of which kinds, and how far that can be relied on."""
    summary = issues.attrs
    low, high = summary["interval"]
    flagged = int(issues["is_label_issue"].sum())
    judged = int(issues["label_score"].notna().sum())
    noun = "label" if len(scores.classes) else "value"
    number, interval = (
        f"{summary['estimated_wrong']:,.0f} of {judged:,}",
        f"{low:,.0f} to {high:,.0f}",
    )
    basis = f"by {summary['by']}, ridge {scores.judging_ridge:.3g}"
    if flagged:
        text = (
            f"About {number} {noun}s look wrong (95 %: {interval}); {flagged:,} "
            f"{'is' if flagged == 1 else 'are'} flagged ({basis})."
        )
    else:
        text = f"No {noun} is flagged ({basis}). About {number} may be wrong (95 %: {interval})."
    console.print(text, soft_wrap=True)
    console.print(_reliability(scores), soft_wrap=True)
    if hard := summary.get("hard_to_tell", 0):
        console.print(_hard_to_tell(hard, summary), soft_wrap=True)
    elif summary.get("overlap"):
        console.print(
            "Classes overlap in these inputs: a label that looks wrong may still be right.",
            soft_wrap=True,
        )
    if "kind" in issues:
        _print_kinds(console, issues, summary["conflicts"])
    if summary["hint"]:
        console.print(summary["hint"], soft_wrap=True)


def _hard_to_tell(count: int, summary: Mapping[Hashable, Any]) -> str:
    """How many labels are neither right nor wrong for sure, and why."""
    text = f"{count:,} more label{'s are' if count > 1 else ' is'} hard to judge"
    if summary["contested"]:
        return f"{text}: labels that look wrong mostly name a similar class; classes may overlap."
    return f"{text}: classes overlap in these inputs." if summary["overlap"] else f"{text}."


def _reliability(scores: Scores) -> str:
    """How well the other examples predict the labels, in words."""
    if not len(scores.classes):
        error, without = scores.typical_errors()
        text = (
            f"Half of the values are predicted to within {show_number(error)} (by their median "
            f"alone: {show_number(without)})"
        )
        low = error > MAX_ERROR_RATIO * without
    else:
        accuracy = scores.judged_accuracy()
        text = (
            f"Predictions from the other examples agree with {percent(accuracy, 1)} of the labels"
        )
        low = accuracy < MIN_ACCURACY
    if not low:
        return f"{text}."
    return f"{text}: it is often hard to tell from these inputs whether the rest are wrong."


def _print_kinds(console: Console, issues: pd.DataFrame, conflicts: int) -> None:
    counts = issues["kind"].value_counts()
    others = [f"{n:,} {kind}" for kind, n in counts.items() if kind not in _COUNTED]
    if others:
        console.print(f"Also: {', '.join(others)}.")
    if conflicts:
        ties = issues.loc[issues["kind"] == "undecidable", "conflict_group"].nunique()
        console.print(
            f"{conflicts:,} group{'s' if conflicts > 1 else ''} of identical inputs "
            f"{'have' if conflicts > 1 else 'has'} different labels: the less frequent labels "
            f"are flagged; {ties:,} tie{'s are' if ties != 1 else ' is'} undecidable.",
            soft_wrap=True,
        )


def print_suspects(console: Console, scores: Scores, suspects: pd.DataFrame) -> None:
    """Print a table of suspects, with texts if there are any, in the width of the console."""
    from rich.table import Table

    titles, rows = suspect_cells(scores, suspects)
    widths = fitted_widths([titles, *rows], console.width)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    right = {title for name, title in (TITLES | NUMBER_TITLES).items() if name in _RIGHT}
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left", no_wrap=True)
    for cells in rows:
        pairs = zip(cells, widths, strict=True)
        table.add_row(*(shortened(cell, width) for cell, width in pairs))
    console.print(table)


def suspect_cells(scores: Scores, suspects: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The titles of the table of suspects, and its cells."""
    shown = _readers(scores)
    names = [name for name in shown if name in suspects.columns or name in ("interval", "wrong")]
    titles = ["id", *((TITLES if len(scores.classes) else NUMBER_TITLES)[name] for name in names)]
    rows = [
        [one_line(str(identifier)), *(shown[name](suspect) for name in names)]
        for identifier, suspect in suspects.iterrows()
    ]
    if scores.texts is not None:
        titles.append("text")
        for cells, position in zip(rows, suspects["position"], strict=True):
            cells.append(one_line(scores.texts[position]))
    return titles, rows


def fitted_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths of the columns that fit into a line; the widest are shortened first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while sum(widths) + GAP * len(widths) > width and max(widths) > MIN_WIDTH:
        widths[max(range(len(widths)), key=widths.__getitem__)] -= 1
    return widths


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent."""
    return f"{100 * share:.{digits}f} %"


def show_number(value: float) -> str:
    """A number of a target, with five digits."""
    return f"{value:,.5g}"


def _readers(scores: Scores) -> dict[str, Callable[[pd.Series[Any]], str]]:
    """What is shown in each column of the table, from a row of the table of issues."""
    from cgscore.report.values import sure

    if not len(scores.classes):
        return {
            "given_label": lambda row: show_number(row["given_label"]),
            "predicted_label": lambda row: show_number(row["predicted_label"]),
            "interval": lambda row: f"{show_number(row['low'])} to {show_number(row['high'])}",
            "wrong": lambda row: sure(1 - row["label_score"]),
        }
    names = scores.class_names()

    def label(column: str) -> Callable[[pd.Series[Any]], str]:
        return lambda row: one_line(str(names.get(row[column], row[column])))

    return {
        "given_label": label("given_label"),
        "predicted_label": label("predicted_label"),
        "true_label": label("true_label"),
        "confidence": lambda row: sure(row["confidence"]),
        "runner_up": label("runner_up"),
        "cg": lambda row: f"{row['cg']:.2f}",
    }
