"""Printing of suspected label errors: sentences, then a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cgscore.cli.console import shortened

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.result.scores import Scores

SUSPECTS_SHOWN = 10

#: Columns of `Scores.label_issues` that are shown, and their titles.
TITLES = {
    "given_label": "given",
    "predicted_label": "suggested",
    "true_label": "true",
    "confidence": "confidence",
    "runner_up": "runner-up",
    "cg": "CG",
}
#: Kinds that have sentences of their own.
_COUNTED = ("", "wrong label", "conflicting duplicates", "undecidable")
MAX_CONFIDENCE = 0.995  # what would be rounded to 100 % is not shown as such
NUMBER_FORMATS = {"confidence": "{:.0%}", "cg": "{:.2f}"}


def print_issues(
    console: Console,
    scores: Scores,
    issues: pd.DataFrame,
    suspects: pd.DataFrame,
    neighbours: pd.DataFrame | None = None,
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
    neighbours : DataFrame or None
        The most similar examples of each suspect, if they are to be shown.
    """
    summary = issues.attrs
    low, high = summary["interval"]
    flagged = int(issues["is_label_issue"].sum())
    judged = int(issues["label_score"].notna().sum())
    console.print(
        f"About {summary['estimated_wrong']:,.0f} of {judged:,} labels look wrong (95 %: "
        f"{low:,.0f} to {high:,.0f}); {flagged:,} {'is' if flagged == 1 else 'are'} flagged (by "
        f"{summary['by']}, ridge {scores.judging_ridge:.3g})."
    )
    hard = summary.get("hard_to_tell", 0)
    if hard and (summary["contested"] or summary["overlap"]):
        console.print(
            f"{hard:,} more {'are' if hard > 1 else 'is'} hard to tell: "
            + (
                "odd labels go to the classes that examples resemble."
                if summary["contested"]
                else "classes overlap in these inputs."
            ),
            soft_wrap=True,
        )
    counts = issues["kind"].value_counts()
    others = [f"{n:,} {kind}" for kind, n in counts.items() if kind not in _COUNTED]
    if others:
        console.print(f"Also: {', '.join(others)}.")
    if summary["conflicts"]:
        ties = issues.loc[issues["kind"] == "undecidable", "conflict_group"].nunique()
        count = summary["conflicts"]
        console.print(
            f"{count:,} group{'s' if count > 1 else ''} of identical inputs "
            f"{'have' if count > 1 else 'has'} different labels: labels that fewer copies have are "
            f"flagged, {ties:,} tie{'s are' if ties != 1 else ' is'} undecidable.",
            soft_wrap=True,
        )
    if summary["hint"]:
        console.print(summary["hint"], soft_wrap=True)
    if len(suspects):
        console.print("The worst:")
        print_suspects(console, scores, suspects, neighbours)


def print_suspects(
    console: Console,
    scores: Scores,
    suspects: pd.DataFrame,
    neighbours: pd.DataFrame | None = None,
) -> None:
    """Print a table of suspects, with texts and neighbours if there are any."""
    from rich.table import Table

    labels = scores.classes.tolist()
    class_names = dict(zip(labels, scores.meta["class_names"] or labels, strict=True))
    columns = [name for name in TITLES if name in suspects.columns]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", no_wrap=True)
    for name in columns:
        justify = "right" if name in NUMBER_FORMATS else "left"
        table.add_column(TITLES[name], justify=justify, no_wrap=True)  # type: ignore[arg-type]
    if scores.texts is not None:
        table.add_column("text", no_wrap=True)
    if neighbours is not None:
        table.add_column("like the given / like the suggested (share)", no_wrap=True)
    for identifier, suspect in suspects.iterrows():
        cells = [shortened(identifier), *(_cell(suspect, name, class_names) for name in columns)]
        if scores.texts is not None:
            cells.append(shortened(scores.texts[suspect["position"]]))
        if neighbours is not None:
            cells.append(_neighbours_cell(neighbours, suspect["position"]))
        table.add_row(*cells)
    console.print(table)


def _cell(suspect: pd.Series[Any], name: str, class_names: dict[Any, Any]) -> str:
    value = suspect[name]
    if name == "confidence" and value >= MAX_CONFIDENCE:
        return ">99%"  # no verdict is certain
    if name in NUMBER_FORMATS:
        return NUMBER_FORMATS[name].format(value)
    return shortened(class_names.get(value, value))


def _neighbours_cell(neighbours: pd.DataFrame, position: int) -> str:
    """The neighbours of the given class and of the suggested one, with their shares."""
    rows = neighbours[neighbours["position"] == position]
    return " / ".join(
        ", ".join(
            f"{shortened(neighbour)} ({share:.1%})"
            for neighbour, share in zip(group["neighbour"], group["share"], strict=True)
        )
        for group in (rows[rows["side"] == side] for side in ("given", "suggested"))
    )
