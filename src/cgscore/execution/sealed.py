"""Checksums of a content at one place.

Files of a checkpoint or a cache are copied, swapped and damaged. A checksum of the content alone
would accept an intact file in the place of another. A **seal** is the xxh3 of the content with a
seed that follows from its place: the digest of the work it belongs to, and its name there. A part
with another seal is damaged or comes from elsewhere, and is computed again.

Seals detect mistakes, not forgeries: whoever can write the file can also seal it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import xxhash

LENGTH = 8  # bytes of a seal


def work_digest(work: Mapping[str, Any]) -> str:
    """A hash of everything that decides a result; `work` can be written as JSON."""
    text = json.dumps(work, sort_keys=True, default=str)
    return str(xxhash.xxh3_128_hexdigest(text.encode()))


def seal(content: Any, *place: str | int) -> int:
    """The seal of some bytes at a place, as a number."""
    seed = xxhash.xxh3_64_intdigest("\0".join(map(str, place)).encode("utf-8", "surrogatepass"))
    return int(xxhash.xxh3_64_intdigest(content, seed=seed))


def sealed(content: bytes, *place: str | int) -> bytes:
    """The content with its seal behind it."""
    return content + seal(content, *place).to_bytes(LENGTH, "big")


def unsealed(whole: bytes, *place: str | int) -> bytes | None:
    """The content of bytes that `sealed` returned for this place; None for anything else."""
    content = whole[:-LENGTH]
    return content if whole == sealed(content, *place) else None


def renewed(owner: str, names: Sequence[str]) -> str:
    """A sentence about stored parts that could not be used."""
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    were = "part was" if len(names) == 1 else "parts were"
    return (
        f"{owner}: {len(names)} {were} damaged, or not made for this work or this place, and "
        f"computed again: {listed}."
    )
