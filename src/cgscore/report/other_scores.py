"""Other scores of the same examples, beside CG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.report.content import short

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


def compared(
    scores: Scores, found: pd.DataFrame | None, beside: pd.DataFrame | None
) -> dict[str, Any] | None:
    """How scores agree: rank correlations, and how many of the suspects each has at its top.

    Parameters
    ----------
    scores : Scores
        The result.
    found : DataFrame or None
        `Scores.label_issues`; None for a regression.
    beside : DataFrame or None
        A row for each example in the same order; columns of numbers are scores, harder being
        higher, as in `cgscore.training.shared_runs`. An ``id`` must be that of the result.

    Raises
    ------
    OptionError
        The table is of other examples, or has no scores.
    """
    if beside is None:
        return None
    if len(beside) != len(scores):
        raise OptionError(f"beside has {len(beside):,} rows for {len(scores):,} examples.")
    if (
        "id" in beside
        and beside["id"].astype(str).tolist() != scores.table["id"].astype(str).tolist()
    ):
        raise OptionError("beside has other ids than the result, or another order.")
    others = beside.drop(columns=["id", "given_label", "cg"], errors="ignore").select_dtypes(
        "number"
    )
    if not others.shape[1]:
        raise OptionError("beside has no columns of numbers besides id, given_label and cg.")
    table = others.reset_index(drop=True)
    table.insert(0, "cg", scores.table["cg"].to_numpy())
    marked = None if found is None else found["is_label_issue"].to_numpy()
    return {
        "names": [short(name) for name in table.columns],
        "correlation": [
            [None if np.isnan(value) else round(float(value), 4) for value in row]
            for row in table.corr("spearman").to_numpy()
        ],
        "suspects": [_at_the_top(table[name].to_numpy(), marked) for name in table.columns],
    }


def _at_the_top(values: Any, marked: Any) -> float | None:
    """Share of the suspects among as many examples of the highest values."""
    if marked is None or not marked.any():
        return None
    count = int(marked.sum())
    top = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:count]
    return round(float(marked[top].mean()), 4)
