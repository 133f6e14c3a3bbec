"""Corrections in the log of the review, and what follows from them: labels and new scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cgscore.api import score
from cgscore.execution.progress import Listener
from cgscore.review.session import Review
from cgscore.solvers.iterative.solve import TARGET_CORRELATION

if TYPE_CHECKING:
    from cgscore.data import Dataset
    from cgscore.result.scores import Scores


AS_ASKED = "as asked for"  # the rule of runs that the user chose


@dataclass(frozen=True)
class Recorded:
    """What corrections did to the log.

    Attributes
    ----------
    accepted, kept, changed : int
        Suggestions taken over, given labels confirmed, other labels chosen.
    replaced : int
        Decisions of before that differ and no longer stand.
    known : int
        Corrections that the log had already.
    """

    accepted: int
    kept: int
    changed: int
    replaced: int
    known: int


def record(review: Review, labels: Mapping[int, float]) -> Recorded:
    """Add corrections to the log of a review, all or none.

    Parameters
    ----------
    review : Review
        Of the result; it has the log.
    labels : mapping
        Position -> code of a class, or a number.
    """
    subject = review.subject
    choices = {at: subject.checked(at, "change", label) for at, label in labels.items()}
    before = review.decisions.add_all(choices)
    counts = Counter(choices[at][0] for at in before)
    replaced = sum(
        decision is not None and decision.label != choices[at][1] and decision.action != "skip"
        for at, decision in before.items()
    )
    return Recorded(
        counts["accept"], counts["keep"], counts["change"], replaced, len(choices) - len(before)
    )


def renewed(
    scores: Scores, dataset: Dataset, labels: Any, progress: bool | Listener | None = None
) -> Scores:
    """Scores of the same data with other labels, computed as those before.

    Parameters
    ----------
    scores : Scores
        The result that was corrected.
    dataset : Dataset
        Its data.
    labels : (n,) array
        The corrected labels.
    progress : bool or function, optional
        As for `cgscore.score`.
    """
    meta = scores.meta
    new = score(
        dataset.with_labels(labels),
        method=meta["method"],
        ridge=meta["ridge"] if meta.get("ridge_choice") is None else "auto",
        kernel=scores.kernel.name,
        task=meta["task"],
        seed=meta.get("seed") or 0,
        judge=meta.get("judge") is not None,
        progress=progress,
        **_options(meta),
    )
    new.meta["source_fingerprint"] = meta.get("source_fingerprint", meta["fingerprint"])
    return new


def _options(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The options of its method that a result was made with, as far as they change scores."""
    method = meta["method"]
    options: dict[str, Any] = {}
    if method == "subsample":
        options["ratio"] = meta.get("ratio", 4)
    asked = meta.get("runs_rule", AS_ASKED) == AS_ASKED
    if method in ("subsample", "partition") and asked and isinstance(meta["runs"], int):
        options["runs"] = meta["runs"]
    if method == "exact" and meta.get("dtype") == "float32":
        options["dtype"] = "float32"
    if method == "lowrank":
        options["landmarks"] = meta.get("landmarks_drawn", meta.get("landmarks"))
        options["keep_predictions"] = meta.get("verdicts") is None
    if method == "iterative":
        target = (meta["audit"] or {}).get("target", TARGET_CORRELATION)
        # without a target the audit is held against this one, but nothing is repeated to reach it
        options["target"] = None if target == TARGET_CORRELATION else target
    return options
