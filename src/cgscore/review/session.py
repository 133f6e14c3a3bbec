"""What is being reviewed: suspects in order, decisions, what they teach, corrected labels."""

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
from cgscore.kernel import Array
from cgscore.problem import Prepared
from cgscore.report.informative_columns import informative_columns
from cgscore.report.values import MAX_TEXT_LENGTH, short
from cgscore.review.decisions import Decision, Decisions

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

TAUGHT = 5  # decisions from which the precision of suggestions is told
COLUMNS = 40  # of a table shown for an example
CELLS = 6  # of them in the grid
WHOLE = 10_000  # characters of a text that is to be judged


class Review:
    """Suspects and decisions about them.

    Parameters
    ----------
    scores : Scores
        The result.
    dataset : Dataset or None
        The scored data; without them there are no pictures, neighbours or new scores.
    decisions : Decisions
        What was decided so far.
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
        self._columns = self._telling()
        self._noise: NoiseModel | None = None
        self._prepared: Prepared | None = None
        self._factor: Factor | None = None
        self._preparing, self._scoring = threading.Lock(), threading.Lock()
        self.rescoring: dict[str, Any] = {"state": "never"}

    def overview(self) -> dict[str, Any]:
        """Everything but the examples themselves."""
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
        """All that was ever suspected or decided, worst first."""
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
                "cells": self._cells(int(at))[:CELLS],
                "decision": _told(current.get(int(at))),
            }
            for at in wanted[np.argsort(self._right[wanted], kind="stable")]
        ]

    def example(self, at: int) -> dict[str, Any]:
        """One example with what speaks for either label."""
        row = self.scores.table.iloc[at]
        to = int(self._suggested[at])
        found: dict[str, Any] = {
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
            return found
        for side, c in (("given", int(self.codes[at])), ("suggested", to)):
            found[side] = [
                {
                    "at": near,
                    "id": short(self.dataset.ids[near]),
                    "similarity": alike,
                    "cells": self._cells(near),
                }
                for near, alike in nearest(self._inputs(), self.codes, at, c)
            ]
        return found

    def decide(self, at: int, action: str, label: int | None, known: int | None) -> Decision:
        """Write a decision down; `label` is the class that was seen as the suggested or chosen."""
        if not 0 <= at < len(self.scores):
            raise OptionError(f"There is no example {at}.")
        given = int(self.codes[at])
        leads = given if action in ("keep", "skip") else label
        if leads is None or not 0 <= leads < len(self.names):
            raise OptionError(f"{action!r} with label {label!r} makes no sense.")
        if action == "change" and leads == self._suggested[at]:
            action = "accept"
        if action in ("accept", "change") and leads == given:
            action = "keep"
        return self.decisions.add(at, action, leads, known)

    def progress(self) -> dict[str, Any]:
        """How far the review is, and how good suggestions were so far."""
        current = self.decisions.current()
        counts = dict.fromkeys(("accept", "keep", "change", "skip"), 0)
        for decision in current.values():
            counts[decision.action] += 1
        open_ones = int(self._flagged.sum() - self._flagged[list(current)].sum())
        judged = counts["accept"] + counts["keep"] + counts["change"]
        taught = None
        if judged >= TAUGHT:
            taught = {
                "judged": judged,
                "wrong": _share(counts["accept"] + counts["change"], judged),
                "right_label": _share(counts["accept"], judged),
            }
        return {"counts": counts, "open": open_ones, "taught": taught}

    def rescore(self) -> None:
        """Score again with the corrections, and rank what is left; runs until done.

        How labels go wrong is what it was before any was corrected: of the open ones as many are
        wrong as before. Who was suspected stays so until decided.
        """
        with self._scoring:
            self.rescoring = {"state": "running"}
            try:
                changed = self._score_again()
            except Exception as error:  # whatever it is, the page has to be told
                self.rescoring = {"state": "failed", "why": f"{type(error).__name__}: {error}"}
            else:
                self.rescoring = {"state": "done", "changed": changed}

    def _score_again(self) -> int:
        """Renew verdicts; how many more are suspected."""
        if self.dataset is None:
            raise OptionError("Scoring again needs the data: --source")
        if self._noise is None:
            known = ~np.isnan(self.scores.loo).any(axis=1)
            self._noise = estimate_noise(self.scores.loo[known], self.codes[known])
        if self._factor is None:
            self._factor = factor(self.dataset, ridge=self.scores.meta["ridge"])
        labels = self.corrected()
        again = self._factor.score(self.scores.classes[labels])
        loo = np.full((len(again), len(self.names)), -1.0)  # classes that are gone predict nothing
        loo[:, np.searchsorted(self.scores.classes, again.classes)] = again.loo
        verdicts = judge(loo, labels, self._noise)
        more = (verdicts.right < 0.5) & ~self._flagged
        self._right = verdicts.right
        self._suggested, self._sure = self._others(
            verdicts.best, verdicts.second, verdicts.best_probability
        )
        turned = verdicts.best == self.codes
        self._sure[turned] = verdicts.second_probability[turned]
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
        """What was changed: id, old and new label, when."""
        import pandas as pd

        decisions = sorted(self.decisions.current().values(), key=lambda one: one.number)
        made = [one for one in decisions if one.label != self.codes[one.position]]
        at = np.array([one.position for one in made], np.intp)
        table: pd.DataFrame = pd.DataFrame(
            {
                "id": self.scores.table["id"].to_numpy()[at],
                "old_label": self.scores.classes[self.codes[at]],
                "new_label": self.scores.classes[np.array([one.label for one in made], np.intp)],
                "when": [one.made for one in made],
            }
        )
        return table

    def _others(
        self, best: NDArray[np.intp], second: NDArray[np.intp], sure: Array
    ) -> tuple[NDArray[np.intp], Array]:
        """The most probable class but the given one, and how sure it is if it is the best."""
        suggested = np.where(best == self.codes, second, best).astype(np.intp)
        return suggested, np.where(best == self.codes, np.nan, sure)

    def _telling(self) -> list[Any]:
        """The columns of a table, those that tell most about the suspects first."""
        frame = None if self.dataset is None or self.dataset.drawable else self.dataset.frame
        if frame is None or self.dataset is None:
            return []
        if self.dataset.texts is not None:  # they come first
            return frame.columns.tolist()[:COLUMNS]
        suspects = np.flatnonzero(self._flagged)
        first: list[Any] = []
        if len(suspects):
            told = informative_columns(frame, self.codes, suspects, self._suggested[suspects])
            first = told.columns.tolist()
        return [*first, *(name for name in frame.columns if name not in first)][:COLUMNS]

    def _cells(self, at: int) -> list[str]:
        """What a row of a table holds."""
        if self.dataset is None or self.dataset.frame is None or not self._columns:
            return []
        longest = MAX_TEXT_LENGTH if self.dataset.texts is None else WHOLE
        return [short(self.dataset.frame[name].iloc[at], longest) for name in self._columns]

    def _inputs(self) -> Prepared:
        with self._preparing:
            if self._prepared is None:
                if self.dataset is None:
                    raise OptionError("There are no data.")
                ridge = self.scores.meta["ridge"]
                self._prepared = Prepared(self.dataset, ridge=ridge, duplicates="merge", limit=None)
            return self._prepared


def _share(hits: int, of: int) -> dict[str, float]:
    """A share with its 95 % interval."""
    low, high = wilson(hits / of, of, 1.96)
    return {"share": hits / of, "low": low, "high": high}


def _told(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {"number": decision.number, "action": decision.action, "label": decision.label}
