"""A review: suspects in order, decisions about them, scoring again, corrected labels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import factor
from cgscore.errors import OptionError
from cgscore.factorisation import Factor
from cgscore.issues.intervals import wilson
from cgscore.issues.neighbours import nearest
from cgscore.issues.noise_model import NoiseModel, estimate_noise
from cgscore.issues.verdicts import judge
from cgscore.problem import Inputs
from cgscore.report.informative_columns import informative_columns
from cgscore.report.values import MAX_TEXT_LENGTH, short
from cgscore.review.database import Decision
from cgscore.review.decisions import Decisions
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

MIN_JUDGED = 5  # decisions before the precision of suggestions is estimated
MAX_COLUMNS = 40  # columns of a table shown for an example
MAX_GRID_COLUMNS = 6  # columns shown in the grid
MAX_JUDGED_TEXT = 10_000  # characters of an example that is text


class Review:
    """Suspects and decisions about them.

    Parameters
    ----------
    scores : Scores
        The result.
    dataset : Dataset or None
        The scored data. Without them there are no pictures or neighbours, and no scoring again.
    decisions : Decisions
        The decisions made so far.
    """

    def __init__(self, scores: Scores, dataset: Dataset | None, decisions: Decisions) -> None:
        if not len(scores.classes):
            raise OptionError("There are no labels to review: these scores are of a regression.")
        self.scores, self.dataset, self.decisions = scores, dataset, decisions
        self.codes = scores.codes()
        decisions.expect(self.codes, len(scores.classes))
        self.names = [
            short(name) for name in scores.meta.get("class_names") or scores.classes.tolist()
        ]
        issues = scores.label_issues()
        self._flagged = issues["is_label_issue"].to_numpy()
        self._right = issues["label_score"].to_numpy()
        best, second = (
            np.searchsorted(scores.classes, issues[name].fillna(scores.classes[0]))
            for name in ("predicted_label", "runner_up")
        )
        self._suggested, self._sure = self._others(best, second, issues["confidence"].to_numpy())
        self._columns = self._informative_columns()
        self._noise: NoiseModel | None = None
        self._prepared: Inputs | None = None
        self._factor: Factor | None = None
        self._preparing, self._scoring = threading.Lock(), threading.Lock()
        self.rescoring: dict[str, Any] = {"state": "never"}

    def overview(self) -> dict[str, Any]:
        """Everything that the page shows except the examples themselves."""
        return {
            "title": short(self.scores.meta["source"]),
            "fingerprint": self.scores.meta["fingerprint"],
            "classes": self.names,
            "queue": self.queue(),
            "progress": self.progress(),
            "pictures": self.dataset is not None and self.dataset.drawable,
            "rescoring": self.rescoring,
            "can_rescore": self.dataset is not None,
        }

    def queue(self) -> list[dict[str, Any]]:
        """All examples that were ever suspected or decided, the worst first."""
        current = self.decisions.current()
        wanted = np.union1d(np.flatnonzero(self._flagged), np.array(list(current), np.intp))
        ids = self.scores.table["id"].to_numpy()
        return [
            {
                "at": int(at),
                "id": short(ids[at]),
                "from": int(self.codes[at]),
                "to": int(self._suggested[at]),
                "sure": None if np.isnan(self._sure[at]) else float(self._sure[at]),
                "cells": self._cells(int(at))[:MAX_GRID_COLUMNS],
                "decision": _as_json(current.get(int(at))),
            }
            for at in wanted[np.argsort(self._right[wanted], kind="stable")]
        ]

    def example(self, at: int) -> dict[str, Any]:
        """One example, with its neighbours of the given and of the suggested class."""
        row = self.scores.table.iloc[at]
        to = int(self._suggested[at])
        example: dict[str, Any] = {
            "at": at,
            "id": short(row["id"]),
            "from": int(self.codes[at]),
            "to": to,
            "sure": None if np.isnan(self._sure[at]) else float(self._sure[at]),
            "cg": float(row["cg"]) if np.isfinite(row["cg"]) else None,
            "given": [],
            "suggested": [],
            "columns": [short(name) for name in self._columns],
            "cells": self._cells(at),
        }
        if self.dataset is None:
            return example
        for side, c in (("given", int(self.codes[at])), ("suggested", to)):
            example[side] = [
                {
                    "at": near,
                    "id": short(self.dataset.ids[near]),
                    "similarity": similarity,
                    "cells": self._cells(near),
                }
                for near, similarity in nearest(self._inputs(), self.codes, at, c)
            ]
        return example

    def decide(self, at: int, action: str, label: int | None, seen: int | None) -> Decision:
        """Save a decision; `label` is the suggested class that was shown, or the chosen one."""
        if not 0 <= at < len(self.scores):
            raise OptionError(f"There is no example {at}.")
        given = int(self.codes[at])
        new = given if action in ("keep", "skip") else label
        if new is None or not 0 <= new < len(self.names):
            raise OptionError(
                f"label must be a class from 0 to {len(self.names) - 1} for {action!r}; got "
                f"{label!r}."
            )
        if action == "change" and new == self._suggested[at]:
            action = "accept"
        if action in ("accept", "change") and new == given:
            action = "keep"
        return self.decisions.add(at, action, new, seen)

    def progress(self) -> dict[str, Any]:
        """The number of decisions, and how good the suggestions were so far."""
        current = self.decisions.current()
        counts = dict.fromkeys(("accept", "keep", "change", "skip"), 0)
        for decision in current.values():
            counts[decision.action] += 1
        undecided = int(self._flagged.sum() - self._flagged[list(current)].sum())
        judged = counts["accept"] + counts["keep"] + counts["change"]
        taught = None
        if judged >= MIN_JUDGED:
            taught = {
                "judged": judged,
                "wrong": _share(counts["accept"] + counts["change"], judged),
                "right_label": _share(counts["accept"], judged),
            }
        return {"counts": counts, "open": undecided, "taught": taught}

    def rescore(self) -> None:
        """Score again with the corrections, and rank the undecided examples; runs until done.

        The noise model stays that of the labels before any correction, since the rate of wrong
        labels among the open ones has not changed. Suspects stay suspects until they are decided.
        """
        with self._scoring:
            self.rescoring = {"state": "running"}
            try:
                changed = self._score_again()
            except Exception as error:  # the page shows it, whatever it is
                self.rescoring = {"state": "failed", "why": f"{type(error).__name__}: {error}"}
            else:
                self.rescoring = {"state": "done", "changed": changed}

    def _score_again(self) -> int:
        """Update the verdicts, and return how many more labels are suspected."""
        if self.dataset is None:
            raise OptionError("Scoring again needs the data: --source")
        if self._noise is None:
            loo = self.scores.judging_loo
            predicted = ~np.isnan(loo).any(axis=1)
            self._noise = estimate_noise(loo[predicted], self.codes[predicted])
        if self._factor is None:
            self._factor = factor(
                self.dataset, ridge=self.scores.judging_ridge, kernel=self.scores.kernel.name
            )
        labels = self.corrected()
        rescored = self._factor.score(self.scores.classes[labels])
        loo = np.full((len(rescored), len(self.names)), -1.0)  # for classes left without examples
        loo[:, np.searchsorted(self.scores.classes, rescored.classes)] = rescored.loo
        verdicts = judge(loo, labels, self._noise)
        more = (verdicts.right < 0.5) & ~self._flagged
        self._right = verdicts.right
        self._suggested, self._sure = self._others(
            verdicts.best, verdicts.second, verdicts.best_probability
        )
        agrees = verdicts.best == self.codes
        self._sure[agrees] = verdicts.second_probability[agrees]
        self._flagged = self._flagged | more
        return int(more.sum())

    def corrected(self) -> NDArray[np.intp]:
        """Classes with all decisions applied."""
        labels: NDArray[np.intp] = self.codes.copy()
        for decision in self.decisions.current().values():
            labels[decision.position] = decision.label
        return labels

    def labels(self) -> pd.DataFrame:
        """All labels as they are now, aligned to the input: id, label, changed."""
        import pandas as pd

        now = self.corrected()
        table: pd.DataFrame = pd.DataFrame(
            {
                "id": self.scores.table["id"].to_numpy(),
                "label": self.scores.classes[now],
                "changed": now != self.codes,
            }
        )
        return table

    def changes(self) -> pd.DataFrame:
        """The changed labels: id, old and new label, time."""
        import pandas as pd

        decisions = sorted(self.decisions.current().values(), key=lambda decision: decision.number)
        changes = [
            decision for decision in decisions if decision.label != self.codes[decision.position]
        ]
        at = np.array([decision.position for decision in changes], np.intp)
        new = np.array([decision.label for decision in changes], np.intp)
        table: pd.DataFrame = pd.DataFrame(
            {
                "id": self.scores.table["id"].to_numpy()[at],
                "old_label": self.scores.classes[self.codes[at]],
                "new_label": self.scores.classes[new],
                "when": [decision.time for decision in changes],
            }
        )
        return table

    def _others(
        self, best: NDArray[np.intp], second: NDArray[np.intp], sure: Array
    ) -> tuple[NDArray[np.intp], Array]:
        """The most probable class other than the given one; its probability if it is the best."""
        suggested = np.where(best == self.codes, second, best).astype(np.intp)
        return suggested, np.where(best == self.codes, np.nan, sure)

    def _informative_columns(self) -> list[Any]:
        """The columns of a table, the most informative about the suspects first."""
        frame = None if self.dataset is None or self.dataset.drawable else self.dataset.frame
        if frame is None or self.dataset is None:
            return []
        if self.dataset.texts is not None:  # they come first
            return frame.columns.tolist()[:MAX_COLUMNS]
        suspects = np.flatnonzero(self._flagged)
        first: list[Any] = []
        if len(suspects):
            columns = informative_columns(frame, self.codes, suspects, self._suggested[suspects])
            first = columns.columns.tolist()
        return [*first, *(name for name in frame.columns if name not in first)][:MAX_COLUMNS]

    def _cells(self, at: int) -> list[str]:
        """The values of an example in the columns that are shown."""
        if self.dataset is None or self.dataset.frame is None or not self._columns:
            return []
        longest = MAX_TEXT_LENGTH if self.dataset.texts is None else MAX_JUDGED_TEXT
        return [short(self.dataset.frame[name].iloc[at], longest) for name in self._columns]

    def _inputs(self) -> Inputs:
        with self._preparing:
            if self._prepared is None:
                if self.dataset is None:
                    raise OptionError("Neighbours need the data: --source")
                ridge = self.scores.judging_ridge
                self._prepared = Inputs(self.dataset, ridge=ridge, kernel=self.scores.kernel)
            return self._prepared


def _share(hits: int, of: int) -> dict[str, float]:
    """A share with its 95 % interval."""
    low, high = wilson(hits / of, of, 1.96)
    return {"share": hits / of, "low": low, "high": high}


def _as_json(decision: Decision | None) -> dict[str, Any] | None:
    """A decision as the page receives it."""
    if decision is None:
        return None
    return {"number": decision.number, "action": decision.action, "label": decision.label}
