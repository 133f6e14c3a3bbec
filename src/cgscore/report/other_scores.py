"""Comparison of CG with other scores of the same examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.report.values import short

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


def compare_scores(
    scores: Scores, issues: pd.DataFrame | None, beside: pd.DataFrame | None
) -> dict[str, Any] | None:
    """Rank correlations of all scores, and the share of suspects among the highest of each.

    Parameters
    ----------
    scores : Scores
        The result.
    issues : DataFrame or None
        `Scores.label_issues`; None for a regression.
    beside : DataFrame or None
        One row per example, in the same order. Columns of numbers are scores, higher for harder
        examples, as in `cgscore.training.shared_runs`. A column ``id`` must equal that of the
        result.

    Raises
    ------
    OptionError
        The table is of other examples, or has no scores.
    """
    if beside is None:
        return None
    if len(beside) != len(scores):
        raise OptionError(
            f"beside must have {len(scores):,} rows, one per example; got {len(beside):,}."
        )
    if (
        "id" in beside
        and beside["id"].astype(str).tolist() != scores.table["id"].astype(str).tolist()
    ):
        raise OptionError("beside has other ids than the result, or another order.")
    other_scores = beside.drop(columns=["id", "given_label", "cg"], errors="ignore").select_dtypes(
        "number"
    )
    if not other_scores.shape[1]:
        raise OptionError("beside has no columns of numbers besides id, given_label and cg.")
    table = other_scores.reset_index(drop=True)
    table.insert(0, "cg", scores.table["cg"].to_numpy())
    flagged = None if issues is None else issues["is_label_issue"].to_numpy()
    return {
        "names": [short(name) for name in table.columns],
        "correlation": [
            [None if np.isnan(value) else round(float(value), 4) for value in row]
            for row in table.corr("spearman").to_numpy()
        ],
        "suspects": [_share_at_top(table[name].to_numpy(), flagged) for name in table.columns],
    }


def _share_at_top(values: Any, flagged: Any) -> float | None:
    """Share of the suspects that are among as many examples with the highest values."""
    if flagged is None or not flagged.any():
        return None
    count = int(flagged.sum())
    top = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:count]
    return round(float(flagged[top].mean()), 4)
