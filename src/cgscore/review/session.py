"""A review: suspects in order, decisions about them, scoring again, corrected labels."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import factor
from cgscore.errors import OptionError
from cgscore.execution.random_streams import stream
from cgscore.factorisation import Factor
from cgscore.issues.intervals import wilson
from cgscore.issues.neighbours import nearest
from cgscore.problem import Inputs
from cgscore.report.column_fit import column_fits
from cgscore.report.content import source_name
from cgscore.report.values import MAX_TEXT_LENGTH, short
from cgscore.review.class_labels import ClassLabels
from cgscore.review.cleanliness import CONFIDENCE, GOAL, cleanliness
from cgscore.review.database import Decision
from cgscore.review.decisions import Decisions
from cgscore.review.live_order import LiveOrder
from cgscore.review.numeric_targets import NumericTargets

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores
    from cgscore.typing import Array

MIN_JUDGED = 5  # decisions before the precision of suggestions is estimated
MAX_COLUMNS = 40  # columns of a table shown for an example
MAX_GRID_COLUMNS = 6  # columns shown in the grid
MAX_JUDGED_TEXT = 10_000  # characters of an example that is text
RESTART_WITH_DATA = "Start the review again with --source PATH (in Python: data=...)."


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
    reviewer_error : float
        Share of decisions that are wrong, for the statement about clean labels.

    Attributes
    ----------
    live : LiveOrder or None
        Renews the order by what is decided, once it is started; None without data.
    """

    def __init__(
        self,
        scores: Scores,
        dataset: Dataset | None,
        decisions: Decisions,
        *,
        reviewer_error: float = 0.0,
    ) -> None:
        if not scores.judged:
            raise OptionError(
                "There is nothing to review: no example has a prediction for every class. Score "
                "with more runs, or with another method than subsample."
            )
        self.scores, self.dataset, self.decisions = scores, dataset, decisions
        self.reviewer_error = reviewer_error
        self.subject: ClassLabels | NumericTargets = (
            ClassLabels(scores) if len(scores.classes) else NumericTargets(scores)
        )
        self.given = self.subject.given
        decisions.expect(self.given, self.subject.count)
        self._columns = self._shown_columns()
        self._prepared: Inputs | None = None
        self._factor: Factor | None = None
        self._preparing, self._scoring = threading.Lock(), threading.Lock()
        self._factorising = threading.Lock()
        self.rescoring: dict[str, Any] = {"state": "never"}
        self._doubt: Array = 1 - np.nan_to_num(self.subject.right, nan=0.5)  # before any decision
        self.live: LiveOrder | None = None
        if dataset is not None:
            self.live = LiveOrder(dataset, self.subject.count, self._made_factor, self.renew)

    def overview(self) -> dict[str, Any]:
        """Everything that the page shows except the examples themselves."""
        return {
            "title": source_name(self.scores.meta["source"]),
            "fingerprint": self.scores.meta["fingerprint"],
            "task": self.scores.meta["task"],
            "classes": list(self.subject.names),
            "queue": self.queue(),
            "progress": self.progress(),
            "pictures": self.dataset is not None and self.dataset.drawable,
            "rescoring": self.rescoring,
            "can_rescore": self.dataset is not None,
            "texts": self.dataset is not None and self.dataset.texts is not None,
            "reviewer": self.decisions.reviewer,
            "live": self.live_state(),
        }

    def live_state(self) -> dict[str, Any]:
        """What the live order is doing, and how often it was renewed."""
        if self.live is None:
            return {"state": "off", "words": "", "version": 0}
        return {**self.live.state, "version": self.live.version}

    def queue(self) -> list[dict[str, Any]]:
        """All examples that were ever suspected or decided, or are in conflict; the worst first."""
        current = self.decisions.current()
        labels = self.subject
        wanted = np.union1d(np.flatnonzero(labels.flagged), np.array(list(current), np.intp))
        wanted = np.union1d(wanted, labels.conflicts)
        disagreements = self.decisions.disagreements()
        wanted = np.union1d(wanted, np.array(list(disagreements), np.intp))
        ids = self.scores.table["id"].to_numpy()
        return [
            {
                "at": int(at),
                "id": short(ids[at]),
                **labels.verdict(int(at)),
                "flagged": bool(labels.flagged[at]),
                "votes": [
                    {"reviewer": vote.reviewer or "", "label": vote.label}
                    for vote in disagreements.get(int(at), [])
                    if vote.action != "skip"
                ],
                "cells": self._cells(int(at))[:MAX_GRID_COLUMNS],
                "decision": _as_json(current.get(int(at))),
            }
            for at in wanted[np.argsort(labels.right[wanted], kind="stable")]
        ]

    def example(self, at: int) -> dict[str, Any]:
        """One example, with its neighbours: of the given and of the suggested class, or of all."""
        identity, cg = (self.scores.table[name].iloc[at] for name in ("id", "cg"))
        labels = self.subject
        example: dict[str, Any] = {
            "at": at,
            "id": short(identity),
            **labels.verdict(at),
            "cg": float(cg) if np.isfinite(cg) else None,
            **{side: [] for side, _ in labels.sides(at)},
            "columns": [short(name) for name in self._columns],
            "cells": self._cells(at),
            "candidates": labels.candidates(at),
            **self._fits(at),
        }
        if self.dataset is None:
            return example
        for side, c in labels.sides(at):
            codes = None if c is None else self.given
            example[side] = [
                {
                    "at": near,
                    "id": short(self.dataset.ids[near]),
                    "label": labels.caption(near),
                    "similarity": similarity,
                    "cells": self._cells(near),
                }
                for near, similarity in nearest(self._inputs(), codes, at, c)
            ]
        return example

    def decide(self, at: int, action: str, label: float | None, seen: int | None) -> Decision:
        """Save a decision; `label` is the suggested label that was shown, or the chosen one."""
        return self.decide_many([(at, action, label, seen)])[0]

    def decide_many(
        self, wanted: Sequence[tuple[int, str, float | None, int | None]]
    ) -> list[Decision]:
        """Save several decisions, all or none; each is as of `decide`."""
        rows = []
        for at, action, label, seen in wanted:
            if not 0 <= at < len(self.scores):
                raise OptionError(f"There is no example {at}.")
            rows.append((at, *self.subject.checked(at, action, label), seen))
        if len({at for at, *_ in rows}) < len(rows):
            raise OptionError("Several decisions are about the same example.")
        saved = self.decisions.add_many(rows)
        for decision in saved:
            if self.live is not None and decision.label != self.given[decision.position]:
                self.live.decided(decision.position)
        return saved

    def look_further(self, count: int, *, at_random: bool) -> list[int]:
        """Put more examples into the queue: the most doubtful of the rest, or some at random."""
        current = list(self.decisions.current())
        rest = ~self.subject.flagged
        rest[current] = False
        positions = np.flatnonzero(rest)
        if at_random:
            rng = stream(len(current), "look further")
            chosen = rng.choice(positions, min(count, len(positions)), replace=False)
        else:
            order = np.argsort(self.subject.right[positions], kind="stable")
            chosen = positions[order[:count]]
        self.subject.flagged = self.subject.flagged | np.isin(np.arange(len(rest)), chosen)
        return sorted(chosen.tolist())

    def progress(self) -> dict[str, Any]:
        """The number of decisions, and how good the suggestions were so far."""
        current = self.decisions.current()
        counts = dict.fromkeys(("accept", "keep", "change", "skip"), 0)
        for decision in current.values():
            counts[decision.action] += 1
        flagged = self.subject.flagged
        undecided = int(flagged.sum() - flagged[list(current)].sum())
        judged = counts["accept"] + counts["keep"] + counts["change"]
        taught = None
        if judged >= MIN_JUDGED:
            taught = {
                "judged": judged,
                "wrong": _share(counts["accept"] + counts["change"], judged),
                "right_label": _share(counts["accept"], judged),
            }
        return {
            "counts": counts,
            "open": undecided,
            "taught": taught,
            "clean": self._cleanliness(current),
        }

    def _cleanliness(self, current: Mapping[int, Decision]) -> dict[str, Any]:
        """How clean the labels are by now."""
        judged = [decision for decision in current.values() if decision.action != "skip"]
        at = np.array([decision.position for decision in judged], np.intp)
        labels = np.array([decision.label for decision in judged])
        now = 1 - np.nan_to_num(self.subject.right, nan=0.5)
        found = cleanliness(
            self._doubt, at, labels != self.given[at], now, reviewer_error=self.reviewer_error
        )
        return {
            **vars(found),
            "reached": found.reached,
            "goal": GOAL,
            "confidence": CONFIDENCE,
            "reviewer_error": self.reviewer_error,
        }

    def rescore(self) -> None:
        """Score again with the corrections, and rank the undecided examples; runs until done.

        Suspects stay suspects until they are decided.
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
        return self.subject.judge_again(self._made_factor(), self.corrected())

    def renew(self) -> None:
        """Renew the verdicts by the decisions so far, with the factor that is there."""
        with self._scoring:
            self._score_again()

    def _made_factor(self) -> Factor:
        """The factor of the kernel matrix, made once."""
        with self._factorising:
            if self.dataset is None:
                raise OptionError(f"Scoring again needs the data. {RESTART_WITH_DATA}")
            if self._factor is None:
                self._factor = factor(
                    self.dataset, ridge=self.scores.judging_ridge, kernel=self.scores.kernel.name
                )
            return self._factor

    def corrected(self) -> NDArray[Any]:
        """Codes of classes, or numbers, with all decisions applied."""
        labels: NDArray[Any] = self.given.copy()
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
                "label": self.subject.as_given(now),
                "changed": now != self.given,
            }
        )
        return table

    def changes(self) -> pd.DataFrame:
        """The changed labels: id, old and new label, time."""
        import pandas as pd

        decisions = sorted(self.decisions.current().values(), key=lambda decision: decision.number)
        changes = [
            decision for decision in decisions if decision.label != self.given[decision.position]
        ]
        at = np.array([decision.position for decision in changes], np.intp)
        new = np.array([decision.label for decision in changes], self.given.dtype)
        as_given = self.subject.as_given
        table: pd.DataFrame = pd.DataFrame(
            {
                "id": self.scores.table["id"].to_numpy()[at],
                "old_label": as_given(self.given[at]),
                "new_label": as_given(new),
                "when": [decision.time for decision in changes],
            }
        )
        if any(decision.reviewer for decision in changes):
            table["reviewer"] = [decision.reviewer for decision in changes]
        return table

    def _shown_columns(self) -> list[Any]:
        """The columns of a table, the most informative about the suspects first."""
        frame = None if self.dataset is None or self.dataset.drawable else self.dataset.frame
        if frame is None or self.dataset is None:
            return []
        if self.dataset.texts is not None:  # they come first
            return frame.columns.tolist()[:MAX_COLUMNS]
        first = self.subject.columns_first(frame)
        return [*first, *(name for name in frame.columns if name not in first)][:MAX_COLUMNS]

    def _cells(self, at: int) -> list[str]:
        """The values of an example in the columns that are shown."""
        if self.dataset is None or self.dataset.frame is None or not self._columns:
            return []
        longest = MAX_TEXT_LENGTH if self.dataset.texts is None else MAX_JUDGED_TEXT
        return [short(self.dataset.frame[name].iloc[at], longest) for name in self._columns]

    def _fits(self, at: int) -> dict[str, Any]:
        """Which class the first columns of an example speak for, and what is typical of both."""
        subject = self.subject
        if self.dataset is None or self.dataset.frame is None or self.dataset.texts is not None:
            return {"fits": [], "typical": []}
        if not isinstance(subject, ClassLabels) or not self._columns:
            return {"fits": [], "typical": []}
        verdict = subject.verdict(at)
        frame = self.dataset.frame[self._columns[:MAX_GRID_COLUMNS]]
        fits, typical = column_fits(frame, subject.given, np.array([at]), np.array([verdict["to"]]))
        sides = (verdict["to"], verdict["from"])
        return {
            "fits": fits[0].tolist(),
            "typical": [[texts.get(c, "") for c in sides] for texts in typical],
        }

    def _inputs(self) -> Inputs:
        with self._preparing:
            if self._prepared is None:
                if self.dataset is None:
                    raise OptionError(f"Neighbours need the data. {RESTART_WITH_DATA}")
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
    return {
        "number": decision.number,
        "action": decision.action,
        "label": decision.label,
        "reviewer": decision.reviewer,
    }
