"""One distinct line of text for every class, and the class of a text that comes back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cgscore.result.scores import Scores

MAX_CAPTION = 200  # characters


class Captions:
    """The classes of a result as texts that any tool can show and hold.

    A caption is the name of a class where the source has names without repeats, otherwise the label
    itself: on one line, without characters that cannot be printed, of bounded length, and different
    from all others. The same result always has the same captions.

    Parameters
    ----------
    scores : Scores
        The result.
    replaced : mapping, optional
        Characters that a tool does not show as they are, and what stands for them.

    Attributes
    ----------
    texts : list of str
        The caption of each class, in the order of `Scores.classes`; empty for a regression.
    """

    def __init__(self, scores: Scores, replaced: Mapping[str, str] | None = None) -> None:
        labels = scores.classes.tolist()
        names = list(scores.class_names().values())
        if len(set(names)) < len(names):
            names = [str(label) for label in labels]
        table = str.maketrans(dict(replaced or {}))
        self.texts = _distinct([_one_line(name).translate(table) for name in names])
        plain = [str(label) for label in labels]
        # the first of these in which a text is found decides
        self._codes: list[tuple[Callable[[str], Hashable | None], dict[Hashable, int]]] = [
            (key, _unambiguous([key(text) for text in texts]))
            for texts in (self.texts, plain, names)
            for key in (_same, _folded, _number)
        ]

    def code(self, text: str) -> int | None:
        """The class that a text means: the whole caption or label, then whatever a spreadsheet
        makes of it (another case, ``7`` for ``07``), if that means one class only.
        """  # noqa: D205
        for key, codes in self._codes:
            found = codes.get(key(text))
            if found is not None:
                return found
        return None


def _one_line(name: str) -> str:
    text = " ".join(str(name).split())
    text = "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text
    )
    return text[:MAX_CAPTION].rstrip() or "(empty)"


def _distinct(texts: Sequence[str]) -> list[str]:
    """The texts, with a number after those that repeat an earlier one."""
    taken = set(texts)
    seen: set[str] = set()
    distinct = []
    for text in texts:
        caption, number = text, 2
        while caption in seen or (caption != text and caption in taken):
            caption, number = f"{text} ({number})", number + 1
        seen.add(caption)
        distinct.append(caption)
    return distinct


def _unambiguous(keys: Sequence[Hashable | None]) -> dict[Hashable, int]:
    """Position of each key that occurs once."""
    codes: dict[Any, int | None] = {}
    for code, key in enumerate(keys):
        codes[key] = None if key in codes else code
    return {key: code for key, code in codes.items() if key is not None and code is not None}


def _same(text: str) -> str:
    return text


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if value != value else value
