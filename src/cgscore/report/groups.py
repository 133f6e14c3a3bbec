"""Groups of identical and of nearly identical examples.

Identical inputs are known from scoring. Nearly identical ones are looked for among the suspects and
their most similar examples, whose similarities are known as well: no further row of the kernel
matrix is formed, and what resembles no suspect is not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.duplicates import first_copies
from cgscore.report.values import finite, short

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores

MAX_GROUPS = 100  # listed
MAX_MEMBERS = 24  # of a group that are listed
MIN_SIMILARITY = 0.98  # cosine of nearly identical examples, at least,
MAX_RELATIVE_DISTANCE = 0.2  # and their distance, relative to that of typical nearest neighbours


def example_groups(scores: Scores, neighbours: pd.DataFrame | None) -> dict[str, Any]:
    """Groups of identical examples, then of nearly identical ones; those in conflict come first.

    Parameters
    ----------
    scores : Scores
        The result.
    neighbours : DataFrame or None
        The most similar examples of the suspects.
    """
    first, given = first_copies(scores.table), scores.table["given_label"].tolist()
    copies = [(at, of) for at, of in enumerate(first.tolist()) if at != of]
    identical = _members(copies)
    groups = [_group(members, given, None) for members in identical]
    threshold, near = near_pairs(neighbours)
    known = {at: members[0] for members in identical for at in members}
    apart = [pair for pair in near if known.get(pair[0], -1) != known.get(pair[1], -2)]
    groups += [_group(members, given, threshold) for members in _members(apart)]
    groups.sort(key=lambda group: (not group["conflict"], group["similarity"] is not None))
    return {
        "count": len(copies),
        "conflicts": sum(given[at] != given[of] for at, of in copies),
        "rows": groups[:MAX_GROUPS],
    }


def near_pairs(neighbours: pd.DataFrame | None) -> tuple[float, list[tuple[int, int]]]:
    """The similarity from which on examples count as nearly identical, and the pairs above it.

    Distances are compared with the median distance of a suspect to its nearest example: how near
    two different examples come depends on the data.

    Parameters
    ----------
    neighbours : DataFrame or None
        ``position``, ``neighbour_position`` and ``similarity`` of suspects and similar examples.
    """
    if neighbours is None or not len(neighbours):
        return 1.0, []
    nearest = neighbours.groupby("position")["similarity"].max().to_numpy()
    typical = float(np.median(1 - nearest))  # half of a squared distance
    threshold = max(MIN_SIMILARITY, 1 - MAX_RELATIVE_DISTANCE**2 * typical)
    close = neighbours[neighbours["similarity"] >= threshold]
    return threshold, list(
        zip(close["position"].tolist(), close["neighbour_position"].tolist(), strict=True)
    )


def _members(pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Sets of positions that pairs connect, in ascending order."""
    parent: dict[int, int] = {}

    def root(at: int) -> int:
        while parent.setdefault(at, at) != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one, other in pairs:
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    members: dict[int, list[int]] = {}
    for at in sorted(parent):
        members.setdefault(root(at), []).append(at)
    return [members[first] for first in sorted(members)]


def _group(members: list[int], given: list[Any], similarity: float | None) -> dict[str, Any]:
    """A group as the page shows it."""
    labels = [given[at] for at in members]
    return {
        "members": members[:MAX_MEMBERS],
        "labels": [short(label) for label in labels[:MAX_MEMBERS]],
        "size": len(members),
        "conflict": any(label != labels[0] for label in labels),
        "similarity": None if similarity is None else finite(similarity),
    }
