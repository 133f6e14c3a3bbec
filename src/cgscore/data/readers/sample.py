"""A sample of a large source, enough to describe it.

`cgscore info` reads small sources whole. Of large ones it reads the headers, the labels, and a
sample of the rows: blocks of consecutive rows, spread over the source where its format allows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.errors import LabelError

MAX_CELLS = 6_000_000  # of a table that is read whole; inspecting takes some 64 bytes each
MAX_NUMBERS = 50_000_000  # of arrays and images that are read whole; each takes some 12 bytes
MAX_TABLE_BYTES = 8 * MAX_CELLS
MAX_SAMPLE_NUMBERS = 2_000_000  # in all rows of a sample
MAX_SAMPLE_BYTES = 1 << 25  # stored in all rows of a sample
MAX_SAMPLE_ROWS = 10_000  # of a sample
MAX_BLOCKS = 16  # of consecutive rows
MAX_LABELS = 100_000  # different labels that are counted


@dataclass(frozen=True)
class Sample:
    """Some rows of a source, and what is known of all.

    Attributes
    ----------
    dataset : Dataset
        The rows that were read.
    positions : (m,) array
        Where they are among the rows of the source.
    n : int
        Rows of the source.
    counts : mapping or None
        How often each label occurs in all rows; None if they come from elsewhere.
    """

    dataset: Dataset
    positions: NDArray[np.intp]
    n: int
    counts: Counter[Any] | None

    @property
    def note(self) -> str:
        """The note of a dataset that is a sample."""
        m = len(self.positions)
        return (
            f"large source: classes are counted in all {self.n:,} rows, everything else is from "
            f"a sample of {m:,}"
        )


def is_large(numbers: int) -> bool:
    """Whether arrays or images with so many numbers are sampled."""
    return numbers > MAX_NUMBERS


def is_large_table(size: int) -> bool:
    """Whether a table of so many bytes, eight or more a cell, is sampled."""
    return size > MAX_TABLE_BYTES


def rows_of_sample(numbers: int, stored: int = 1) -> int:
    """How many rows to take, if each has so many numbers and so many bytes."""
    return max(
        2,
        min(
            MAX_SAMPLE_ROWS,
            MAX_SAMPLE_NUMBERS // max(1, numbers),
            MAX_SAMPLE_BYTES // max(1, stored),
        ),
    )


def spread(n: int, rows: int) -> NDArray[np.intp]:
    """Positions of blocks of consecutive rows, spread over n rows; no more than `rows` of them."""
    rows = min(n, rows)
    blocks = min(MAX_BLOCKS, rows)
    starts = np.linspace(0, n - rows // blocks, blocks).astype(np.intp)
    return np.unique((starts[:, None] + np.arange(rows // blocks)).ravel())


def count_labels(parts: Iterable[NDArray[Any]], source: object) -> Counter[Any]:
    """How often each label occurs, without holding them all.

    Raises
    ------
    LabelError
        A label is missing, or there are more different ones than classes can be.
    """
    counts: Counter[Any] = Counter()
    for values in parts:
        if values.dtype.kind == "O":
            part_counts = Counter(values.tolist())
            gaps = part_counts.get(None, 0) + part_counts.get("", 0)
            gaps += sum(count for label, count in part_counts.items() if label != label)  # NaN
        else:
            gaps = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
            part_counts = Counter(dict(zip(*map(np.ndarray.tolist, _unique(values)), strict=True)))
        if gaps:
            raise LabelError(
                f"{source} has no label in {gaps:,} or more rows. Label these rows or leave them "
                "out."
            )
        counts.update(part_counts)
        if len(counts) > MAX_LABELS:
            raise LabelError(
                f"{source} has more than {MAX_LABELS:,} different labels, too many for classes."
            )
    return counts


def _unique(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    return np.unique(values, return_counts=True)
