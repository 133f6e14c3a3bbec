"""What is being reviewed: suspects in order, decisions, what they teach, corrected labels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import factor
from cgscore.errors import CGScoreError, OptionError
from cgscore.factored import Factor
from cgscore.prepared import Prepared
from cgscore.report.content import short
from cgscore.review.decisions import Decision, Decisions
from cgscore.why import nearest

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result import Scores

TAUGHT = 5  # decisions from which the precision of suggestions is told
COLUMNS = 12  # of a table shown for an example


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
        self.scores, self.dataset, self.decisions = scores, dataset, decisions
        self.own = scores.own()
        self.names = [
            short(name) for name in scores.meta.get("class_names") or scores.classes.tolist()
        ]
        self._issues = scores.label_issues()
        self._prepared: Prepared | None = None
        self._factor: Factor | None = None
        self._lock = threading.Lock()
        self.rescoring: dict[str, Any] = {"state": "never"}

    def overview(self) -> dict[str, Any]:
        """Everything but the examples themselves."""
        return {
            "title": short(self.scores.meta["source"]),
            "classes": self.names,
            "queue": self.queue(),
            "progress": self.progress(),
            "pictures": self.dataset is not None and self.dataset.drawable,
            "rescoring": self.rescoring,
            "can_rescore": self.dataset is not None,
        }

    def queue(self) -> list[dict[str, Any]]:
        """Suspects and whatever was decided before, worst first."""
        issues, current = self._issues, self.decisions.current()
        marked = issues["is_label_issue"].to_numpy()
        score = issues["label_score"].to_numpy()
        wanted = np.flatnonzero(marked | np.isin(np.arange(len(marked)), list(current)))
        to = self._suggested()
        sure = issues["confidence"].to_numpy()
        return [
            {
                "at": int(at),
                "from": int(self.own[at]),
                "to": int(to[at]),
                "sure": None if np.isnan(sure[at]) else float(sure[at]),
                "decision": _told(current.get(int(at))),
            }
            for at in wanted[np.argsort(score[wanted], kind="stable")]
        ]

    def example(self, at: int) -> dict[str, Any]:
        """One example with what speaks for either label."""
        row = self.scores.table.iloc[at]
        to = int(self._suggested()[at])
        found = {
            "at": at,
            "id": short(row["id"]),
            "from": int(self.own[at]),
            "to": to,
            "cg": float(row["cg"]) if np.isfinite(row["cg"]) else None,
            "given": [],
            "suggested": [],
            "columns": [],
        }
        if self.dataset is None:
            return found
        frame = self.dataset.frame
        if frame is not None and not self.dataset.drawable:
            found["columns"] = [
                [short(name), short(frame.iloc[at, i])]
                for i, name in enumerate(frame.columns[:COLUMNS])
            ]
        for side, c in (("given", int(self.own[at])), ("suggested", to)):
            found[side] = [
                {"at": near, "id": short(self.dataset.ids[near]), "similarity": alike}
                for near, alike in nearest(self._inputs(), self.own, at, c)
            ]
        return found

    def decide(self, at: int, action: str, label: int | None, known: int | None) -> Decision:
        """Write a decision down."""
        if not 0 <= at < len(self.scores):
            raise OptionError(f"There is no example {at}.")
        given, suggested = int(self.own[at]), int(self._suggested()[at])
        leads = {"accept": suggested, "keep": given, "skip": given, "change": label}.get(action)
        if leads is None or not 0 <= leads < len(self.names):
            raise OptionError(f"{action!r} with label {label!r} makes no sense.")
        return self.decisions.add(at, action, leads, known)

    def undo(self) -> Decision | None:
        """Take the last decision back."""
        last = self.decisions.last()
        if last is not None:
            self.decisions.take_back(last.number)
        return last

    def progress(self) -> dict[str, Any]:
        """How far the review is, and how good suggestions were so far."""
        current = self.decisions.current()
        counts = dict.fromkeys(("accept", "keep", "change", "skip"), 0)
        for decision in current.values():
            counts[decision.action] += 1
        open_ones = sum(
            marked and at not in current
            for at, marked in enumerate(self._issues["is_label_issue"].tolist())
        )
        judged = counts["accept"] + counts["keep"] + counts["change"]
        taught = None
        if judged >= TAUGHT:
            taught = {
                "judged": judged,
                "wrong": wilson(counts["accept"] + counts["change"], judged),
                "right_label": wilson(counts["accept"], judged),
            }
        return {"counts": counts, "open": open_ones, "taught": taught}

    def rescore(self) -> None:
        """Score again with the corrections, and rank what is left; runs until done."""
        with self._lock:
            self.rescoring = {"state": "running"}
            try:
                if self.dataset is None:
                    raise OptionError("Scoring again needs the data: --source")
                if self._factor is None:
                    self._factor = factor(self.dataset, ridge=self.scores.meta["ridge"])
                labels = self.scores.classes[self.corrected()]
                found = self._factor.score(labels).label_issues()
            except CGScoreError as error:
                self.rescoring = {"state": "failed", "why": str(error)}
                return
            changed = int(
                (found["is_label_issue"] != self._issues["is_label_issue"]).to_numpy().sum()
            )
            self._issues = found
            self.rescoring = {"state": "done", "changed": changed}

    def corrected(self) -> NDArray[np.intp]:
        """Classes with all decisions applied."""
        labels: NDArray[np.intp] = self.own.copy()
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
                "changed": now != self.own,
            }
        )
        return table

    def changes(self) -> pd.DataFrame:
        """What was changed: id, old and new label, when."""
        import pandas as pd

        decisions = sorted(self.decisions.current().values(), key=lambda one: one.number)
        made = [one for one in decisions if one.label != self.own[one.position]]
        at = np.array([one.position for one in made], np.intp)
        table: pd.DataFrame = pd.DataFrame(
            {
                "id": self.scores.table["id"].to_numpy()[at],
                "old_label": self.scores.classes[self.own[at]],
                "new_label": self.scores.classes[np.array([one.label for one in made], np.intp)],
                "when": [one.made for one in made],
            }
        )
        return table

    def _suggested(self) -> NDArray[np.intp]:
        """The class other than the given one that is most probable."""
        issues = self._issues
        best, second = (
            np.searchsorted(self.scores.classes, issues[name].fillna(self.scores.classes[0]))
            for name in ("predicted_label", "runner_up")
        )
        return np.where(best == self.own, second, best).astype(np.intp)

    def _inputs(self) -> Prepared:
        with self._lock:
            if self._prepared is None:
                if self.dataset is None:
                    raise OptionError("There are no data.")
                ridge = self.scores.meta["ridge"]
                self._prepared = Prepared(self.dataset, ridge=ridge, duplicates="merge", limit=None)
            return self._prepared


def wilson(hits: int, of: int) -> dict[str, float]:
    """A share with its 95 % interval."""
    z2, share = 1.96**2, hits / of
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = 1.96 * np.sqrt(share * (1 - share) / of + z2 / (4 * of**2)) / (1 + z2 / of)
    return {"share": share, "low": float(middle - half), "high": float(middle + half)}


def _told(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {"number": decision.number, "action": decision.action, "label": decision.label}
