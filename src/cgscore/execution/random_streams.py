"""Random generators that are independent of each other, and of those that users make themselves.

Most people write ``numpy.random.default_rng(0)``, and the default seed here is 0 too. If both drew
examples from the same stream, the examples whose labels somebody changed for a trial would be the
very ones on which a ridge is chosen. So every purpose has a stream of its own.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np


def stream(seed: int, *key: int | str) -> np.random.Generator:
    """The generator of a seed and a key, say a purpose in words; other pairs have others."""
    words = (crc32(part.encode()) if isinstance(part, str) else part for part in key)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(words)))
