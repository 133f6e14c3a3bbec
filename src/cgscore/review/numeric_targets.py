"""The labels under review, where they are numbers: verdicts, decisions, and scoring again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError
from cgscore.issues.regression import find_target_issues
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.factorisation import Factor
    from cgscore.result.scores import Scores


class NumericTargets:
    """Numbers, each with a prediction and an interval; attributes as of `ClassLabels`."""

    count = 0
    names: tuple[str, ...] = ()
    conflicts: NDArray[np.intp] = np.empty(0, np.intp)

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self.given: NDArray[Any] = scores.table["given_label"].to_numpy(np.float64)
        self._issues = scores.label_issues()
        self.flagged: NDArray[np.bool_] = self._issues["is_label_issue"].to_numpy()
        self.right: Array = self._issues["label_score"].to_numpy()

    def verdict(self, at: int) -> dict[str, Any]:
        """The given and the predicted value of an example, its interval, and how sure that is."""
        row = self._issues.iloc[at]
        return {
            "value": float(self.given[at]),
            "predicted": _finite(row["predicted_label"]),
            "low": _finite(row["low"]),
            "high": _finite(row["high"]),
            "sure": _finite(1 - row["label_score"]),
            "conflict": None,
        }

    def sides(self, at: int) -> list[tuple[str, int | None]]:
        """One side: the most similar of all examples."""
        return [("similar", None)]

    def candidates(self, at: int) -> list[int]:
        """No class has a key."""
        return []

    def caption(self, at: int) -> str:
        """The given value of an example."""
        return f"{self.given[at]:.6g}"

    def checked(self, at: int, action: str, label: float | None) -> tuple[str, float]:
        """An action and the value that an example has after it, in the words of the log."""
        given = float(self.given[at])
        new = given if action in ("keep", "skip") else label
        if new is None or not math.isfinite(new):
            raise OptionError(f"label must be a number for {action!r}; got {label!r}.")
        if action in ("accept", "change") and new == given:
            action = "keep"
        return action, float(new)

    def as_given(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The values themselves."""
        return labels

    def columns_first(self, frame: pd.DataFrame) -> list[Any]:
        """The columns of a table that say most about the suspects: in their own order."""
        return []

    def judge_again(self, factor: Factor, labels: NDArray[Any]) -> int:
        """Update the verdicts for corrected values; the number of values suspected in addition."""
        centre = float(np.median(labels))
        rescored = factor.score(labels - centre, task="regression")
        issues = find_target_issues(
            self._scores.table.assign(given_label=labels),
            rescored.loo[:, 0] + centre,
            rescored.d,
            ridge=factor.ridge,
        ).table
        more = issues["is_label_issue"].to_numpy() & ~self.flagged
        self._issues, self.right = issues, issues["label_score"].to_numpy()
        self.flagged = self.flagged | more
        return int(more.sum())


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
