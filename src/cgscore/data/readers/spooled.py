"""Rows of numbers that arrive part by part and may be more than memory holds.

Many of them go to a temporary file without a name, which is then mapped: pages are read when rows
are needed, and the room on the disk is free again as soon as the array is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.mapped import MIN_MAPPED_BYTES
from cgscore.execution.files import naming_failures


def stacked(parts: Iterator[NDArray[Any]], n: int) -> NDArray[Any]:
    """Parts with n rows in all below each other, in memory or, if they are large, mapped."""
    first = next(parts)
    every = chain([first], parts)
    if n * first[0].nbytes < MIN_MAPPED_BYTES:
        return np.concatenate(list(every))
    with TemporaryFile(prefix="cgscore-") as file:
        with naming_failures("The temporary file of inputs"):
            for part in every:
                file.write(np.ascontiguousarray(part).data)
            file.flush()
        return np.memmap(file, first.dtype, "r", 0, (n, *first.shape[1:]))
