"""The content of the page, as one document of plain numbers and texts.

Examples are named by their position; ``names`` has the id of every example that the page shows.
Texts are data, never markup.
"""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.report.charts import histogram, pruning, scatter
from cgscore.report.examples import (
    SIDES,
    class_extremes,
    class_pairs,
    suspect_rows,
)
from cgscore.report.groups import example_groups
from cgscore.report.next_steps import next_steps
from cgscore.report.values import finite, short
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.issues.summary import IssueSummary
    from cgscore.issues.table import LabelIssues
    from cgscore.result.scores import Scores


MAX_SOURCES = 50  # that the page lists


def content(
    scores: Scores,
    issues: LabelIssues | None,
    suspects: pd.DataFrame,
    neighbours: pd.DataFrame | None,
) -> dict[str, Any]:
    """The document, without pictures.

    Parameters
    ----------
    scores : Scores
        The result.
    issues : LabelIssues or None
        Its label issues; None if no label can be judged.
    suspects : DataFrame
        The worst of them, with their ``position``.
    neighbours : DataFrame or None
        Neighbours of the suspects.
    """
    codes = scores.codes() if len(scores.classes) else np.zeros(len(scores), np.intp)
    table = None if issues is None else issues.table
    summary = None if issues is None else issues.summary
    rows = suspect_rows(scores, suspects, neighbours)
    extremes, repeats = class_extremes(scores, codes), example_groups(scores, neighbours)
    pairs = class_pairs(scores, table, codes) if len(scores.classes) else []
    return {
        "title": source_name(scores.meta["source"]),
        "task": scores.meta["task"],
        "verdict": _verdict(scores, summary, len(rows)),
        "figures": _figures(scores),
        "next": next_steps(scores, issues, pairs, repeats["conflicts"]),
        "facts": _facts(scores),
        "notes": _notes(scores, summary),
        "classes": _classes(scores, codes, summary),
        "suspects": rows,
        "pairs": pairs,
        "extremes": extremes,
        "histogram": histogram(scores, codes),
        "scatter": scatter(scores, codes, table),
        "pruning": pruning(scores, codes),
        "repeats": repeats,
        "sources": _sources(scores, issues),
        "names": _names(scores, rows, extremes, repeats["rows"]),
    }


def _sources(scores: Scores, issues: LabelIssues | None) -> list[dict[str, Any]]:
    """The sources with the highest rates of wrong labels, if the scores know the sources."""
    if issues is None or "source" not in scores.table:
        return []
    return [
        {
            "name": "(missing)" if row.source is None else short(row.source),
            "examples": int(row.examples),
            "flagged": int(row.flagged),
            "rate": finite(row.rate),
            "low": finite(row.low),
            "high": finite(row.high),
            "differs": row.differs,
        }
        for row in scores.sources().head(MAX_SOURCES).itertuples()
    ]


def _names(
    scores: Scores,
    suspects: list[dict[str, Any]],
    extremes: list[dict[str, Any]],
    repeats: list[dict[str, Any]],
) -> dict[str, str]:
    """The id of every example that the page shows, by position."""
    shown = {row["at"] for row in suspects}
    shown |= {neighbour["at"] for row in suspects for side in SIDES for neighbour in row[side]}
    shown |= {at for row in extremes for at in (*row["easiest"], *row["hardest"])}
    shown |= {at for row in repeats for at in row["members"]}
    return {str(at): short(scores.table["id"].iloc[at]) for at in sorted(shown)}


def _verdict(scores: Scores, summary: IssueSummary | None, shown: int) -> str:
    """The finding in one sentence."""
    noun = "label" if len(scores.classes) else "value"
    if summary is None:
        return f"{len(scores):,} examples, none of whose {noun}s can be judged."
    n, (low, high) = summary.examples, summary.interval
    if not summary.flagged:
        if summary.uninformative:
            return str(summary.hint)
        return f"None of the {n:,} {noun}s looks wrong."
    which = {0: "none", summary.flagged: "all"}.get(shown, f"the worst {shown:,}")
    return (
        f"About {summary.estimated_wrong:,.0f} of {n:,} {noun}s look wrong "
        f"(95 %: {low:,.0f} to {high:,.0f}); {summary.flagged:,} "
        f"{'is' if summary.flagged == 1 else 'are'} flagged, "
        f"{which} on this page."
    )


def source_name(source: str) -> str:
    """The name of a source without the folders it is in: pages are sent around."""
    absolute = PurePosixPath(source).is_absolute() or PureWindowsPath(source).is_absolute()
    return short(PureWindowsPath(source).name or source) if absolute else short(source)


def _figures(scores: Scores) -> str:
    """Examples, classes and how well labels are predicted, in one line."""
    figures = [f"{len(scores):,} examples"]
    if len(scores.classes):
        figures += [
            f"{len(scores.classes):,} classes",
            "predictions from the other examples agree with "
            f"{100 * scores.judged_accuracy():.1f} % of the labels",
        ]
    return " · ".join(figures)


def _notes(scores: Scores, summary: IssueSummary | None) -> list[str]:
    """Warnings and advice."""
    notes = [str(text) for text in scores.meta.get("warnings", [])]
    if summary is None:
        return notes
    if summary.hint:
        notes.append(summary.hint)
    missing = len(scores) - summary.examples
    if missing:
        notes.append(f"{missing:,} examples have no prediction and are not judged.")
    return notes


def _facts(scores: Scores) -> list[list[str]]:
    """Names and values of the facts about a result."""
    meta = scores.meta
    facts = [
        [
            "data",
            f"{source_name(meta['source'])}: {len(scores):,} examples with {meta['p']:,} features",
        ],
        ["method", f"{meta['method']}, ridge {meta['ridge']:.3g}"],
    ]
    if len(scores.classes):
        facts[0][1] += f" in {len(scores.classes):,} classes"
        accuracy = 100 * scores.judged_accuracy()
        facts.append(["labels predicted by the other examples", f"{accuracy:.1f} %"])
    else:
        error, without = scores.typical_errors()
        text = f"half are within {error:.5g} (by the median alone: {without:.5g})"
        facts.append(["values predicted by the other examples", text])
    if meta.get("preprocessing", "none") != "none":
        facts.append(["preprocessing", str(meta["preprocessing"])])
    audit = meta.get("audit")
    if audit:
        low, high = audit["rank_correlation_interval"]
        facts.append(
            [
                "audit",
                f"rank correlation with the exact score {audit['rank_correlation']:.4f} "
                f"(95 %: {low:.4f} to {high:.4f}), from {audit['examples']} examples",
            ]
        )
        if "top_percent" in audit:
            low, high = audit["top_percent_interval"]
            facts.append(
                [
                    "audit of the top 1 %",
                    f"{audit['top_percent']:.1%} of the true top 1 % by cg are in the estimated "
                    f"top 1 % (95 %: {low:.1%} to {high:.1%})",
                ]
            )
    elif meta["method"] == "exact":
        facts.append(["audit", "none needed: the scores are exact"])
    facts += [
        ["fingerprint of the data", str(meta["fingerprint"])],
        ["version", f"cgscore {meta['version']}"],
    ]
    return facts


def _classes(scores: Scores, codes: Index, summary: IssueSummary | None) -> list[dict[str, Any]]:
    """CG, complexity and estimated wrong labels of every class."""
    names = scores.meta.get("class_names") or scores.classes.tolist() or ["all"]
    cg = scores.table["cg"].to_numpy()
    complexity = list(scores.complexity.values())
    wrong = [] if summary is None else list(summary.wrong_by_class.values())
    rows = []
    for c, name in enumerate(names):
        members = cg[codes == c]
        members = members[np.isfinite(members)]
        rows.append(
            {
                "name": short(name),
                "examples": int((codes == c).sum()),
                "mean": finite(members.mean()) if len(members) else None,
                "deviation": finite(members.std()) if len(members) else None,
                "median": finite(np.median(members)) if len(members) else None,
                "complexity": finite(complexity[c]),
                "wrong": wrong[c] if wrong else None,
            }
        )
    return rows
