"""Several labels in one cell, which no part of this package can use."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

SEPARATORS = ("|", ";", ",")
MIN_KNOWN_SHARE = 0.5  # of the texts with a separator, that consist of labels known from elsewhere


def joined_labels(labels: NDArray[Any]) -> tuple[str, str] | None:
    """A text that is several labels, such as ``cat|dog``, and what separates them; else None.

    Texts with a separator are joined labels if most of them consist of parts that occur in other
    texts too, at least one of them alone: ``cat|dog`` beside ``dog`` and ``cat|bird``. A comma in
    the name of a class is no sign of it.
    """
    if labels.dtype.kind not in "OUT":
        return None
    texts = {label for label in labels.tolist() if isinstance(label, str)}
    for separator in SEPARATORS:
        joined = sorted(text for text in texts if separator in text.strip(separator + " "))
        if not joined:
            continue
        parts = {text: _parts(text, separator) for text in joined}
        alone = {text.strip() for text in texts.difference(joined)}
        occurrences: dict[str, int] = dict.fromkeys(alone, 2)
        for names in parts.values():
            for name in set(names):
                occurrences[name] = occurrences.get(name, 0) + 1
        known = [text for text in joined if all(occurrences[name] > 1 for name in parts[text])]
        some_alone = any(name in alone for text in known for name in parts[text])
        if some_alone and len(known) >= MIN_KNOWN_SHARE * len(joined):
            return known[0], separator
    return None


def _parts(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]
