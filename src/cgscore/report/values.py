"""Values as the page's document holds them: bounded texts, finite numbers, packed arrays."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_NAME_LENGTH = 300  # characters of an id, a class or a column
MAX_TEXT_LENGTH = 1000  # characters of an example that is text, or of a cell

#: Marks that change the direction of the text around them, and how they are shown.
_ESCAPED = {
    chr(code): f"\\u{code:04x}"
    for code in (0x200E, 0x200F, 0x61C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def short(value: Any, max_length: int = MAX_NAME_LENGTH) -> str:
    """A text of bounded length, with its full length where it is cut."""
    text = "".join(_ESCAPED.get(mark, mark) for mark in str(value))
    if len(text) <= max_length:
        return text
    return f"{text[:max_length]}… ({len(text):,} characters)"


def named(ids: Any, positions: NDArray[np.intp], max_bytes: int) -> list[str] | None:
    """Ids as texts; empty if they are the positions, None if they take more than `max_bytes`."""
    texts = [short(value) for value in ids]
    if texts == [str(at) for at in positions.tolist()]:
        return []
    length = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return texts if length <= max_bytes else None


def finite(value: Any) -> float | None:
    """A number with six digits; None, JSON's null, if it is not finite."""
    number = float(value)
    return float(f"{number:.6g}") if np.isfinite(number) else None


def sure(probability: float) -> str:
    """A probability in per cent; nothing is certain."""
    return "> 99 %" if probability >= 0.995 else f"{100 * probability:.0f} %"


def packed(values: NDArray[Any], dtype: str) -> str:
    """Numbers as base64 of their bytes."""
    return base64.b64encode(np.asarray(values).astype(dtype).tobytes()).decode()
