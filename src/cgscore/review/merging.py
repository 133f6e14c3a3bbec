"""Decisions of several reviewers in one file.

Every reviewer works with a file of their own. Merging collects the decisions that stand in each of
them. Where all who decided on an example chose the same label, that label stands; whoever skipped
it has no say. Where they chose different labels the example is open again, and the file tells who
chose what. Files that were merged before can be merged again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cgscore.review.database import MAX_REVIEWER_LENGTH, Decision
from cgscore.review.decisions import Decisions


@dataclass(frozen=True)
class Merged:
    """What was merged.

    Attributes
    ----------
    added : int
        Decisions that were written.
    agreed : int
        Examples on which two or more reviewers chose the same label.
    disagreements : dict
        Position -> the decisions of those who chose different labels.
    """

    added: int
    agreed: int
    disagreements: dict[int, list[Decision]]


def merge(target: Decisions, others: Mapping[str, Decisions]) -> Merged:
    """Write the decisions of other files to one file.

    Parameters
    ----------
    target : Decisions
        The file that is written to; decisions it has are one more vote.
    others : mapping
        Name -> file. The name stands for the reviewer of decisions that have none.
    """
    votes: dict[int, dict[str, Decision]] = {}
    own = target.reviewer or short_name(target.path.name)
    for name, decisions in (
        (own, target.current()),
        *((n, d.current()) for n, d in others.items()),
    ):
        for position, decision in decisions.items():
            named = replace(decision, reviewer=decision.reviewer or short_name(name))
            earlier = votes.setdefault(position, {}).get(str(named.reviewer))
            if earlier is None or earlier.time < named.time:
                votes[position][str(named.reviewer)] = named
    settled = _settled(target, votes)
    contested = {
        position: list(by_reviewer.values())
        for position, by_reviewer in votes.items()
        if position not in settled and len(_labels(by_reviewer)) > 1
    }
    known = {
        (decision.position, decision.time, decision.label, decision.action)
        for decision in target.every()
    }
    new = [
        decision
        for by_reviewer in votes.values()
        for decision in by_reviewer.values()
        if (decision.position, decision.time, decision.label, decision.action) not in known
        and decision.position not in settled
    ]
    # who skipped comes first: the last decision about an example stands
    new.sort(key=lambda decision: (decision.action != "skip", decision.time))
    target.join(new, contested)
    agreed = sum(_agreed(by_reviewer) for by_reviewer in votes.values())
    return Merged(len(new), agreed, contested)


def short_name(name: str) -> str:
    """A name of bounded length in one line, from the name of a file."""
    printable = "".join(mark if mark.isprintable() else "?" for mark in name)
    return printable[:MAX_REVIEWER_LENGTH].strip() or "unnamed"


def _settled(target: Decisions, votes: Mapping[int, Mapping[str, Decision]]) -> set[int]:
    """Examples that were decided again after they were merged, later than every vote."""
    reviewers: dict[int, set[str | None]] = {}
    standing = target.current()
    for decision in target.every():
        if decision != standing.get(decision.position):
            reviewers.setdefault(decision.position, set()).add(decision.reviewer)
    return {
        position
        for position, last in standing.items()
        if len(reviewers.get(position, ())) > 1
        and last.time >= max(vote.time for vote in votes[position].values())
    }


def _labels(by_reviewer: Mapping[str, Decision]) -> set[float]:
    return {vote.label for vote in by_reviewer.values() if vote.action != "skip"}


def _agreed(by_reviewer: Mapping[str, Decision]) -> bool:
    chosen = [vote for vote in by_reviewer.values() if vote.action != "skip"]
    return len(chosen) > 1 and len({vote.label for vote in chosen}) == 1
