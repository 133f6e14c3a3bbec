"""The labels under review, where they are classes: verdicts, decisions, and scoring again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError
from cgscore.issues.noise_model import NoiseModel, estimate_noise
from cgscore.issues.verdicts import judge
from cgscore.report.informative_columns import informative_columns
from cgscore.report.values import short
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.factorisation import Factor
    from cgscore.result.scores import Scores

KEYS = 10  # the digits


class ClassLabels:
    """Classes, by their codes.

    Attributes
    ----------
    given : (n,) array
        The given class of every example.
    count : int
        Number of classes.
    flagged : (n,) array
        Whether each label was ever suspected.
    right : (n,) array
        Probability that each label is right; the lowest are reviewed first.
    conflicts : (m,) array
        Positions of examples whose input others share under another label.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._keeps_predictions = scores.meta.get("verdicts") is None
        self.given = scores.codes()
        self.count = len(scores.classes)
        self.names = [short(name) for name in scores.class_names().values()]
        issues = scores.label_issues()
        self.flagged: NDArray[np.bool_] = issues["is_label_issue"].to_numpy()
        self.right: Array = issues["label_score"].to_numpy()
        best, second = (
            np.searchsorted(scores.classes, issues[name].fillna(scores.classes[0]))
            for name in ("predicted_label", "runner_up")
        )
        self._suggest(best, second, issues["confidence"].to_numpy())
        groups = issues["conflict_group"].to_numpy(np.float64, na_value=np.nan)
        self.conflicts: NDArray[np.intp] = np.flatnonzero(~np.isnan(groups))
        self._group = {int(at): int(groups[at]) for at in self.conflicts}
        self._noise: NoiseModel | None = None

    def verdict(self, at: int) -> dict[str, Any]:
        """The given and the suggested class of an example, and how sure that is."""
        sure = self._sure[at]
        return {
            "from": int(self.given[at]),
            "to": int(self._suggested[at]),
            "sure": None if np.isnan(sure) else float(sure),
            "conflict": self._group.get(at),
        }

    def sides(self, at: int) -> list[tuple[str, int | None]]:
        """The classes whose most similar examples are shown, each with the name of its side."""
        return [("given", int(self.given[at])), ("suggested", int(self._suggested[at]))]

    def candidates(self, at: int) -> list[int]:
        """The classes that have a key: all if they are few, else those predicted best.

        Where predictions were not kept: the suggested class, the runner-up and the given one.
        """
        if self.count <= KEYS:
            return list(range(self.count))
        if not self._keeps_predictions:
            classes = (self._suggested[at], self._best[at], self._second[at], self.given[at])
            return list(dict.fromkeys(map(int, classes)))
        predictions = np.nan_to_num(self._scores.judging_loo[at], nan=-np.inf)
        best: list[int] = np.argsort(-predictions, kind="stable")[: KEYS - 1].tolist()
        return best

    def caption(self, at: int) -> str:
        """The given label of an example, in words."""
        return self.names[int(self.given[at])]

    def checked(self, at: int, action: str, label: float | None) -> tuple[str, int]:
        """An action and the class that an example has after it, in the words of the log."""
        given = int(self.given[at])
        new = given if action in ("keep", "skip") else label
        if not isinstance(new, int) or not 0 <= new < self.count:
            raise OptionError(
                f"label must be a class from 0 to {self.count - 1} for {action!r}; got {label!r}."
            )
        if action == "change" and new == self._suggested[at]:
            action = "accept"
        if action in ("accept", "change") and new == given:
            action = "keep"
        return action, new

    def as_given(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Classes as the user gave them."""
        classes: NDArray[Any] = self._scores.classes[labels]
        return classes

    def columns_first(self, frame: pd.DataFrame) -> list[Any]:
        """The columns of a table that say most about the suspects."""
        suspects = np.flatnonzero(self.flagged)
        if not len(suspects):
            return []
        columns = informative_columns(frame, self.given, suspects, self._suggested[suspects])
        return columns.columns.tolist()

    def judge_again(self, factor: Factor, labels: NDArray[np.intp]) -> int:
        """Update the verdicts for corrected labels; the number of labels suspected in addition.

        The noise model stays that of the labels before any correction, since the rate of wrong
        labels among the open ones has not changed. Where predictions were not kept, it is estimated
        from those of the factor: a result without predictions has no complete noise model.
        """
        if self._noise is None:
            if self._keeps_predictions:
                loo = self._scores.judging_loo
            else:
                loo = self._predictions(factor, self.given)
            predicted = ~np.isnan(loo).any(axis=1)
            self._noise = estimate_noise(loo[predicted], self.given[predicted])
        verdicts = judge(self._predictions(factor, labels), labels, self._noise)
        more = (verdicts.right < 0.5) & ~self.flagged
        self.right = verdicts.right
        self._suggest(verdicts.best, verdicts.second, verdicts.best_probability)
        agrees = verdicts.best == self.given
        self._sure[agrees] = verdicts.second_probability[agrees]
        self.flagged = self.flagged | more
        return int(more.sum())

    def _predictions(self, factor: Factor, labels: NDArray[np.intp]) -> Array:
        """Leave-one-out predictions for labels, (n, k): one column per class of the result."""
        classes = self._scores.classes
        rescored = factor.score(classes[labels], task="classification")
        loo = np.full((len(rescored), self.count), -1.0)  # for classes left without examples
        loo[:, np.searchsorted(classes, rescored.classes)] = rescored.loo
        return loo

    def _suggest(
        self, best: NDArray[np.intp], second: NDArray[np.intp], probability: Array
    ) -> None:
        """Suggest the most probable class other than the given one; sure only if it is the best."""
        agrees = best == self.given
        self._best, self._second = best, second
        self._suggested = np.where(agrees, second, best).astype(np.intp)
        self._sure: Array = np.where(agrees, np.nan, probability)
