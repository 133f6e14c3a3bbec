r"""A map of the examples: two coordinates for each, from the kernel itself.

With features ``Phi`` of some landmarks, ``Phi Phi^T`` stands for the kernel matrix of the examples
that are drawn (`cgscore.solvers.lowrank`). The coordinates are the two leading principal components
of the centred features: kernel principal component analysis. For n points and m landmarks that
takes ``2 n m (p + 2 m)`` flops and ``8 n m`` bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.execution.random_streams import stream
from cgscore.kernel import unit_rows
from cgscore.report.values import finite, named, packed
from cgscore.solvers.lowrank.pivoted_cholesky import kernel_columns, landmark_features
from cgscore.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

MAX_POINTS = 10_000
MAX_LANDMARKS = 256
MAX_ID_BYTES = 200_000  # of all ids; beyond that points are named by their position
STEPS = 65_535  # of a coordinate, in two bytes


def example_map(
    scores: Scores, dataset: Dataset, issues: pd.DataFrame | None, shown: Index
) -> dict[str, Any] | None:
    """The map, or None if the examples do not differ.

    Parameters
    ----------
    scores : Scores
        The result.
    dataset : Dataset
        The scored data.
    issues : DataFrame or None
        The table of issues.
    shown : (m,) array
        Positions that must be on the map: the suspects that the page shows.
    """
    n = len(scores)
    flagged = np.zeros(n, bool) if issues is None else issues["is_label_issue"].to_numpy()
    at = drawn_positions(n, shown, np.flatnonzero(flagged))
    coordinates, explained = kernel_components(dataset, at, scores)
    if not explained:
        return None
    score = np.ones(n) if issues is None else issues["label_score"].to_numpy(np.float64)
    point_map: dict[str, Any] = {
        "x": packed(_in_steps(coordinates[:, 0]), "<u2"),
        "y": packed(_in_steps(coordinates[:, 1]), "<u2"),
        "at": packed(at, "<u4"),
        "of": n,
        "explained": finite(explained),
        "marked": packed(flagged[at], "u1"),
        "score": packed(np.round(255 * np.nan_to_num(score[at], nan=1.0)), "u1"),
        "cg": packed(scores.table["cg"].to_numpy()[at], "<f4"),
        "ids": named(scores.table["id"].iloc[at], at, MAX_ID_BYTES),
    }
    if len(scores.classes):
        codes = scores.codes()
        point_map["class"] = packed(codes[at], "<u2")
        suggested = codes if issues is None else _suggested(scores, issues, codes)
        point_map["to"] = packed(suggested[at], "<u2")
    else:
        given = scores.table["given_label"].to_numpy(np.float64)
        point_map["value"] = packed(given[at], "<f4")
    return point_map


def drawn_positions(n: int, shown: Index, flagged: Index, limit: int = MAX_POINTS) -> Index:
    """Positions on the map: those that are shown, then flagged ones, then others at random."""
    if n <= limit:
        return np.arange(n)
    first = list(dict.fromkeys([*shown.tolist(), *flagged.tolist()]))[:limit]
    rest = np.setdiff1d(np.arange(n), first)
    others = stream(0, "map").choice(rest, limit - len(first), replace=False)
    return np.sort(np.concatenate([np.array(first, np.intp), others]))


def kernel_components(dataset: Dataset, at: Index, scores: Scores) -> tuple[Array, float]:
    """Two leading components of some examples, (len(at), 2), and their share of the variance."""
    rows = unit_rows(dataset.X[at], kernel=scores.kernel)
    diagonal = np.full(len(rows), rows.kernel.diagonal)
    features = landmark_features(kernel_columns(rows), diagonal, MAX_LANDMARKS, seed=0)
    Phi = features.Phi - features.Phi.mean(axis=0)
    variances, directions = np.linalg.eigh(Phi.T @ Phi)
    total = float(variances.sum() + features.rest.sum())
    leading = directions[:, ::-1][:, :2]
    if leading.shape[1] < 2 or not variances[-1] > 1e-12 * len(rows):
        return np.zeros((len(rows), 2)), 0.0
    components: Array = Phi @ leading
    # the sign of an eigenvector is arbitrary: the largest coordinate is made positive
    largest = np.abs(components).argmax(axis=0)
    components *= np.where(components[largest, [0, 1]] < 0, -1.0, 1.0)
    return components, float(variances[-2:].sum() / total)


def _in_steps(values: Array) -> Array:
    """Values from 0 to `STEPS`, from the lowest to the highest."""
    low, high = float(values.min()), float(values.max())
    steps: Array = np.round((values - low) / max(high - low, 1e-300) * STEPS)
    return steps


def _suggested(scores: Scores, issues: pd.DataFrame, codes: Index) -> Index:
    """The most probable class of every example; the given one where there is no verdict."""
    known = issues["predicted_label"].notna().to_numpy()
    suggested: Index = codes.copy()
    labels = issues["predicted_label"].to_numpy()[known]
    suggested[known] = np.searchsorted(scores.classes, labels.astype(scores.classes.dtype))
    return suggested
