"""Corrections that come back, checked against the result that they are for."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgscore.errors import OptionError, SourceError, first_five
from cgscore.exchange.captions import Captions
from cgscore.exchange.stamp import FORMAT, parse_stamp
from cgscore.exchange.tool import Correction

if TYPE_CHECKING:
    from cgscore.result.scores import Scores

MAX_SHOWN = 60  # characters of a value in a message
PROBLEMS_KEPT = 5  # in words; the others are counted
_WHOLE = re.compile(r"\d{1,15}(\.0+)?")


@dataclass
class CheckedCorrections:
    """The corrections of a file that fit a result.

    Attributes
    ----------
    labels : dict
        Position -> code of the chosen class, or the number.
    problems : list of str
        The first corrections that do not fit, each with the reason.
    refused : int
        How many there are.
    """

    labels: dict[int, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    refused: int = 0

    def refuse(self, problem: str) -> None:
        """Count a correction that does not fit."""
        self.refused += 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(problem)


class _Misfit(Exception):
    """A correction does not fit; the message says why."""


class _UnknownLabel(_Misfit):
    """There is no such class; the message is the label."""


def check_corrections(
    scores: Scores,
    corrections: Iterable[Correction],
    path: Path,
    captions: Captions,
    *,
    skip_bad: bool = False,
) -> CheckedCorrections:
    """The corrections of a file, by position.

    Parameters
    ----------
    scores : Scores
        The result they must belong to.
    corrections : iterable of Correction
        As read from the file.
    path : Path
        The file, for messages.
    captions : Captions
        The classes as the tool shows them.
    skip_bad : bool
        Leave out corrections of unknown examples, to unknown labels or in conflict with each
        other, and name them, instead of raising.

    Raises
    ------
    OptionError
        The file was exported from another result, or before labels were changed.
    SourceError
        It was not exported by cgscore, or a correction does not fit.
    """
    checked = CheckedCorrections()
    examples = _Examples(scores, captions)
    conflicting: set[int] = set()
    for correction in corrections:
        _check_stamp(scores, correction, path)
        try:
            position = examples.position(correction)
            label = examples.label(correction)
            if checked.labels.get(position, label) != label or position in conflicting:
                conflicting.add(position)
                raise _Misfit(f"example {_show(correction.id)} has two different labels")
        except _UnknownLabel as problem:
            # looking for similar labels takes long, so only for those that are shown
            shown = len(checked.problems) < PROBLEMS_KEPT
            checked.refuse(
                f"{correction.where}: {examples.unknown(str(problem))}." if shown else ""
            )
        except _Misfit as problem:
            checked.refuse(f"{correction.where}: {problem}.")
        else:
            checked.labels[position] = label
    for position in conflicting:
        checked.labels.pop(position, None)
    if checked.refused and not skip_bad:
        more = checked.refused - len(checked.problems)
        raise SourceError(
            f"{path}: {checked.refused:,} correction{'s do' if checked.refused > 1 else ' does'} "
            f"not fit the result. {' '.join(checked.problems)}{f' And {more:,} more.' * (more > 0)}"
            " Nothing was imported. Correct them, or leave them out: --skip-bad"
        )
    return checked


def _check_stamp(scores: Scores, correction: Correction, path: Path) -> None:
    """Refuse corrections of another export; what they are about cannot be known."""
    stamp = parse_stamp(correction.stamp)
    if stamp is None:
        found = "none" if correction.stamp in (None, "") else _show(correction.stamp)
        raise SourceError(
            f"{path}: {correction.where} does not say from which data it was exported (the stamp "
            f"of cgscore is {found}). Import what a tool made of a file that cgscore export wrote."
        )
    version, fingerprint = stamp
    if version > FORMAT:
        raise SourceError(f"{path} was exported by a newer version of cgscore: update it.")
    if fingerprint != scores.meta["fingerprint"]:
        raise OptionError(
            f"{path} was not exported from this result: {correction.where} is about data with the "
            f"fingerprint {fingerprint}, and the result's is {scores.meta['fingerprint']}. Inputs, "
            "labels or ids differ. Import it into the result it came from, or export this one "
            "again and correct that."
        )


class _Examples:
    """Finds the example and the label that a correction means."""

    def __init__(self, scores: Scores, captions: Captions) -> None:
        self._ids: list[str] = [str(name) for name in scores.table["id"]]
        self._positions: dict[str, int | None] | None = None
        self._regression = not len(scores.classes)
        self._captions = captions

    def position(self, correction: Correction) -> int:
        """The position of the example; where there is an id as well, both must agree."""
        name = None if correction.id in (None, "") else correction.id
        if correction.position in (None, ""):
            return self._by_id(name)
        position = _whole_number(correction.position)
        if position is None or position >= len(self._ids):
            raise _Misfit(
                f"there is no example {_show(correction.position)}; positions are from 0 to "
                f"{len(self._ids) - 1}"
            )
        if name is not None and not _same_id(name, self._ids[position]):
            raise _Misfit(
                f"example {position} is called {_show(self._ids[position])}, and not {_show(name)}"
            )
        return position

    def _by_id(self, name: Any) -> int:
        if name is None:
            raise _Misfit("neither position nor id of the example is there")
        if self._positions is None:
            self._positions = {}
            for position, known in enumerate(self._ids):
                self._positions[known] = None if known in self._positions else position
        if str(name) not in self._positions:
            raise _Misfit(f"there is no example {_show(name)}")
        found = self._positions[str(name)]
        if found is None:
            raise _Misfit(f"several examples are called {_show(name)}, and the position is missing")
        return found

    def label(self, correction: Correction) -> float:
        """The code of the class, or the number."""
        label = correction.label
        if self._regression:
            number = _as_number(label)
            if number is None:
                raise _Misfit(f"{_show(label)} is not a finite number")
            return number
        if not isinstance(label, str | int | float):
            raise _Misfit(f"{_show(label)} is not one label")
        code = self._captions.code(label if isinstance(label, str) else str(label))
        if code is None:
            raise _UnknownLabel(str(label))
        return code

    def unknown(self, label: str) -> str:
        """What is said of a label that no class has."""
        texts = self._captions.texts
        close = difflib.get_close_matches(label[:MAX_SHOWN], texts[:1000], n=1)
        hint = f"Did you mean {_show(close[0])}?" if close else f"Known are {first_five(texts)}"
        return f"{_show(label)} is not one of the {len(texts):,} classes. {hint}"


def _whole_number(value: Any) -> int | None:
    """A position: a whole number from 0, also as a text or as 5.0."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else None


def _as_number(value: Any) -> float | None:
    """A finite number, also as a text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _same_id(name: Any, known: str) -> bool:
    """Whether a value is this id; spreadsheets write the id 07 as 7, and 5 as 5.0."""
    if str(name) == known:
        return True
    number = _as_number(name)
    return number is not None and number == _as_number(known)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
