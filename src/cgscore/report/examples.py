"""The examples that the page shows: suspects with neighbours, extremes of classes.

Examples are named by their position (``at``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.report.values import MAX_NAME_LENGTH, finite
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores

SIDES = ("given", "suggested", "similar")  # of neighbours (`cgscore.issues.neighbours`)
EXTREMES_PER_CLASS = 8  # easiest examples, and as many hardest
MAX_EXTREME_CLASSES = 100
MAX_ID_BYTES = 1_000_000  # of all ids that can be copied; beyond that each is cut
MAX_PAIRS = 200  # pairs of classes listed


def suspect_rows(
    scores: Scores, suspects: pd.DataFrame, neighbours: pd.DataFrame | None
) -> list[dict[str, Any]]:
    """The suspects with their neighbours, the worst first."""
    if not len(suspects):
        return []
    judged = _judged_values if not len(scores.classes) else _judged_classes(scores)
    by_suspect = _by_suspect(neighbours)
    ids = [str(identity) for identity in suspects.index]
    whole = sum(len(text.encode("utf-8", "replace")) for text in ids) <= MAX_ID_BYTES
    rows = []
    for identity, row in zip(ids, suspects.to_dict("records"), strict=True):
        at = int(row["position"])
        rows.append(
            {
                "at": at,
                "id": identity if whole else identity[:MAX_NAME_LENGTH],
                "cg": finite(scores.table["cg"].iloc[at]),
                **judged(row),
                **{side: [] for side in SIDES},
                **by_suspect.get(at, {}),
            }
        )
    return rows


def _judged_classes(scores: Scores) -> Callable[[Mapping[Any, Any]], dict[str, Any]]:
    """A function that gives the verdict on a class, from a row of the table of issues."""
    codes = {label: c for c, label in enumerate(scores.classes.tolist())}
    return lambda row: {
        "from": codes[row["given_label"]],
        "to": codes[row["predicted_label"]],
        "sure": finite(row["confidence"]),
        "kind": str(row["kind"]),
    }


def _judged_values(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The verdict on a number, from a row of the table of issues."""
    return {
        "value": finite(row["given_label"]),
        "predicted": finite(row["predicted_label"]),
        "low": finite(row["low"]),
        "high": finite(row["high"]),
        "sure": finite(1 - row["label_score"]),
        "kind": "wrong value",
    }


def _by_suspect(
    neighbours: pd.DataFrame | None,
) -> dict[int, dict[str, list[dict[str, Any]]]]:
    """The neighbours of each suspect, by their side."""
    by_suspect: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for row in [] if neighbours is None else neighbours.to_dict("records"):
        sides = by_suspect.setdefault(int(row["position"]), {})
        sides.setdefault(str(row["side"]), []).append(
            {
                "at": int(row["neighbour_position"]),
                "similarity": finite(row["similarity"]),
                "share": finite(row["share"]),
            }
        )
    return by_suspect


def class_pairs(scores: Scores, issues: pd.DataFrame | None, codes: Index) -> list[list[int]]:
    """Given class, suggested class, number of flagged labels: the most frequent pairs first."""
    if issues is None:
        return []
    flagged = issues["is_label_issue"].to_numpy()
    if not flagged.any():
        return []
    to = np.searchsorted(scores.classes, issues["predicted_label"].to_numpy()[flagged])
    pairs, counts = np.unique(np.stack([codes[flagged], to]), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_PAIRS]
    return [[int(pairs[0, i]), int(pairs[1, i]), int(counts[i])] for i in order]


def class_extremes(scores: Scores, codes: Index) -> list[dict[str, Any]]:
    """The lowest and highest scores of each class; of the largest classes if there are many."""
    cg = scores.table["cg"].to_numpy()
    sizes = np.bincount(codes)
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MAX_EXTREME_CLASSES])
    rows = []
    for c in shown.tolist():
        members = np.flatnonzero((codes == c) & ~np.isnan(cg))
        ordered = members[np.argsort(cg[members], kind="stable")]
        count = min(EXTREMES_PER_CLASS, len(ordered) // 2)
        rows.append(
            {
                "class": c,
                "easiest": ordered[:count].tolist(),
                "hardest": ordered[::-1][:count].tolist(),
                "low": [finite(value) for value in cg[ordered[:count]]],
                "high": [finite(value) for value in cg[ordered[::-1][:count]]],
            }
        )
    return rows
