"""Data of the page's charts: distribution of CG, partial score against CG, pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.report.values import named, packed
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores

HISTOGRAM_BINS = 40
MAX_POINTS = 100_000  # of the scatter plot
MAX_POINT_ID_BYTES = 400_000  # of all ids; beyond that points are named by their position
PERCENT_REMOVED = tuple(range(0, 100, 5))


def histogram(scores: Scores, codes: Index) -> dict[str, Any]:
    """Counts of log10 CG in bins that all classes share, one row per class."""
    cg = scores.table["cg"].to_numpy()
    usable = np.isfinite(cg) & (cg > 0)
    logs = np.log10(cg[usable]) if usable.any() else np.zeros(1)
    edges = np.linspace(logs.min(), max(logs.max(), logs.min() + 0.1), HISTOGRAM_BINS + 1)
    bins = np.clip(np.searchsorted(edges, np.log10(cg[usable]), "right") - 1, 0, HISTOGRAM_BINS - 1)
    counts = np.zeros((int(codes.max()) + 1, HISTOGRAM_BINS), np.int64)
    np.add.at(counts, (codes[usable], bins), 1)
    return {
        "edges": [round(float(edge), 4) for edge in edges],
        "counts": counts.tolist(),
        "left_out": int(len(cg) - usable.sum()),
    }


def scatter(scores: Scores, codes: Index, issues: pd.DataFrame | None) -> dict[str, Any]:
    """CG and partial score of every example, or of `MAX_POINTS` drawn at random.

    For a regression, given and predicted values instead.
    """
    if len(scores.classes):
        x, y = scores.table["cg"].to_numpy(), scores.table["partial"].to_numpy()
    else:
        x, y = scores.table["given_label"].to_numpy(np.float64), scores.judging_loo[:, 0]
    flagged = np.zeros(len(x), bool) if issues is None else issues["is_label_issue"].to_numpy()
    usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    drawn = usable
    if len(usable) > MAX_POINTS:
        rng = np.random.default_rng(0)
        drawn = np.sort(rng.choice(usable, MAX_POINTS, replace=False))
    return {
        "x": packed(x[drawn], "<f4"),
        "y": packed(y[drawn], "<f4"),
        "class": packed(codes[drawn], "<u2"),
        "marked": packed(flagged[drawn], "u1"),
        "of": len(usable),
        "ids": named(scores.table["id"].iloc[drawn], drawn, MAX_POINT_ID_BYTES),
        "at": None if len(drawn) == len(x) else packed(drawn, "<u4"),
    }


def pruning(scores: Scores, codes: Index) -> dict[str, Any]:
    """Share of each class that is removed with a share of all examples, in the order of CG."""
    cg = scores.table["cg"].to_numpy()
    scored = ~np.isnan(cg)
    order, missing = np.argsort(cg, kind="stable")[: scored.sum()], np.flatnonzero(~scored)
    k, n = int(codes.max()) + 1, len(cg)
    sizes = np.bincount(codes, minlength=k)
    shares: dict[str, Any] = {"fractions": list(PERCENT_REMOVED)}
    for name, start in (("low-first", order), ("high-first", order[::-1])):
        ordered = np.concatenate(
            [start, missing]
        )  # examples without a score go last in both orders
        removed = np.stack(
            [
                np.bincount(codes[ordered[: round(n * percent / 100)]], minlength=k)
                / np.maximum(sizes, 1)
                for percent in PERCENT_REMOVED
            ]
        )
        shares[name] = np.round(removed, 4).T.tolist()
    return shares
