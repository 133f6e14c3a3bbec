"""The paper's claims, each beside what was found here.

Every claim is a row: what the paper says and where, its number or direction, ours, of how many
examples and repeats, and a verdict. Rows are made from the numbers of the items, as their JSON
files hold them; nothing is entered by hand but the paper's side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cgscore_paper.results import MAX_UNEXPLAINED_DIFFERENCE, NOT_TESTED, Compared, table

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
UNDECIDED = "undecided"  # there are numbers, and they differ by less than their error
VERDICTS = (HOLDS, IN_PART, FAILS, UNDECIDED, NOT_TESTED)

#: Numbers of an item, and the paper's numbers beside ours.
Document = tuple[Mapping[str, Any], Sequence[Compared]]
Documents = Mapping[str, Document]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and what was found.

    Attributes
    ----------
    claim : str
        What the paper says.
    where : str
        Section, figure, table or appendix.
    paper : str
        Its number or direction.
    ours : str
        What was found, empty if it was not tested.
    size : str
        How many examples and repeats that is of.
    verdict : str
        One of `VERDICTS`.
    """

    claim: str
    where: str
    paper: str
    ours: str = ""
    size: str = ""
    verdict: str = NOT_TESTED

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}; got {self.verdict!r}.")


def judged(parts: Sequence[bool | None]) -> str:
    """The verdict on a claim of several parts, of which None is not tested."""
    tested = [part for part in parts if part is not None]
    if not tested:
        return NOT_TESTED
    if all(tested):
        return HOLDS if len(tested) == len(parts) else IN_PART
    return IN_PART if any(tested) else FAILS


def measured_claim(
    claim: str, where: str, paper: str, find: Callable[[], tuple[str, str, Sequence[bool | None]]]
) -> Claim:
    """The claim with ours, size and parts that `find` returns; not tested if numbers are missing.

    Numbers that are not finished are absent or None, which `find` may stumble over. Parts on which
    the trainings cannot decide are None as well; if all are, the claim is undecided.
    """
    try:
        ours, size, parts = find()
    except (KeyError, IndexError, TypeError):
        return Claim(claim, where, paper)
    if not ours:
        return Claim(claim, where, paper)
    verdict = judged(parts)
    return Claim(claim, where, paper, ours, size, UNDECIDED if verdict == NOT_TESTED else verdict)


def number_claim(claim: str, where: str, compared: Sequence[Compared]) -> Claim:
    """A group of printed numbers: how many of them are ours up to the tolerance."""
    paper = f"{len(compared)} number{'s' * (len(compared) > 1)}"
    tested = [one for one in compared if one.ours is not None]
    if not tested:
        return Claim(claim, where, paper)
    near = [one for one in tested if not one.apart]
    missing = len(compared) - len(tested)
    largest = max(abs(float(one.ours or 0.0) - one.paper) for one in tested)
    ours = (
        f"{len(near)} of {len(tested)} within {MAX_UNEXPLAINED_DIFFERENCE}, the furthest "
        f"{largest:.3f} apart" + (f"; {missing} {NOT_TESTED}" if missing else "")
    )
    sizes = list(dict.fromkeys(one.size for one in tested if one.size))
    parts = [None if one.ours is None else not one.apart for one in compared]
    return Claim(claim, where, paper, ours, "; ".join(sizes[:2]), judged(parts))


def claims_table(claims: Sequence[Claim]) -> str:
    """Markdown, with the verdict in bold."""
    head = ["claim", "where", "paper", "ours", "size, repeats", "verdict"]
    rows = [
        [one.claim, one.where, one.paper, one.ours, one.size, f"**{one.verdict}**"]
        for one in claims
    ]
    return table(head, rows).replace("---:", "---")


def count_sentence(claims: Sequence[Claim]) -> str:
    """How many claims have each verdict."""
    parts = []
    for verdict in VERDICTS:
        count = sum(one.verdict == verdict for one in claims)
        many = verdict.replace("holds", "hold").replace("does not", "do not")
        parts.append(f"{count} {verdict if count == 1 else many}")
    return f"{len(claims)} claims: {', '.join(parts)}."


def number_sentence(documents: Documents) -> str:
    """How many of the paper's printed numbers are reproduced."""
    compared = [one for _, numbers in documents.values() for one in numbers]
    tested = [one for one in compared if one.ours is not None]
    apart = [one for one in tested if one.apart]
    explained = [one for one in apart if one.cause]
    return (
        f"The paper prints {len(compared)} numbers that can be compared (correlations, shares of "
        f"labels, shares removed; its seconds are of another machine). {len(tested)} are tested: "
        f"{len(tested) - len(apart)} are within {MAX_UNEXPLAINED_DIFFERENCE} of the paper's; of "
        f"the other {len(apart)}, {len(explained)} are explained by a run and "
        f"{len(apart) - len(explained)} are unexplained. {len(compared) - len(tested)} are not "
        "tested."
    )
