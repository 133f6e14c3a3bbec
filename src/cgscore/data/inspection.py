"""What is worth knowing about a dataset before it is scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.duplicates import find_groups
from cgscore.errors import CGScoreError
from cgscore.kernel import unit_rows
from cgscore.labels import as_labels

_COLUMNS = 256  # looked at together


@dataclass(frozen=True)
class Inspection:
    """Findings about a dataset.

    Attributes
    ----------
    classes : dict
        Examples per class; empty for labels that are no classes.
    image_size : (width, height) or None
        Size of the images, where the data are images.
    copies, conflicts : int
        Rows identical to an earlier one; those of them with another label.
    suspicions : tuple of str
        What looks like a mistake.
    """

    classes: dict[Any, int]
    image_size: tuple[int, int] | None
    copies: int
    conflicts: int
    suspicions: tuple[str, ...]


def inspect(dataset: Dataset) -> Inspection:
    """Classes, sizes, repeated rows and suspicious things; a few passes over the data."""
    suspicions: list[str] = []
    classes: dict[Any, int] = {}
    if dataset.y is not None:
        try:
            labels = as_labels(dataset.y, len(dataset))
            classes = dict(zip(labels.classes.tolist(), labels.counts().tolist(), strict=True))
        except CGScoreError as error:
            suspicions.append(str(error))
    alone = [str(name) for name, count in classes.items() if count == 1]
    if alone:
        suspicions.append(f"classes with one example only: {_some(alone)}")
    copies = conflicts = 0
    try:
        first = find_groups(unit_rows(dataset.X)).first
        repeated = np.flatnonzero(first != np.arange(len(first)))
        copies = len(repeated)
        if dataset.y is not None and copies:
            conflicts = int((dataset.y[repeated] != dataset.y[first[repeated]]).sum())
    except CGScoreError as error:  # rows that cannot be scored
        suspicions.append(str(error))
    if not dataset.image:
        suspicions += _columns(dataset)
    height, width = dataset.X.shape[1:3] if dataset.image else (0, 0)
    return Inspection(
        classes, (width, height) if dataset.image else None, copies, conflicts, tuple(suspicions)
    )


def _columns(dataset: Dataset) -> list[str]:
    """Columns that say nothing, and columns that only count."""
    X = dataset.X.reshape(len(dataset), -1)
    constant: list[int] = []
    counting: list[int] = []
    for start in range(0, X.shape[1], _COLUMNS):
        part = X[:, start : start + _COLUMNS].astype(np.float64)
        steps = np.diff(part, axis=0)
        constant += (start + np.flatnonzero((steps == 0).all(axis=0))).tolist()
        # standardised or not, row numbers grow by the same amount from row to row
        even = np.abs(steps - steps[:1]) <= 1e-9 * np.abs(steps[:1])
        counting += (start + np.flatnonzero((even & (steps != 0)).all(axis=0))).tolist()
    if dataset.preprocessing.startswith("table"):
        constant = constant[:-1]  # the one that was added
    found = []
    if constant:
        found.append(f"{len(constant):,} columns are constant: {_some(constant)}")
    if counting and len(dataset) > 2:
        found.append(
            f"columns that only count the rows are inputs: {_some(counting)}; "
            "name the rows by such a column (--id-column) or remove it"
        )
    return found


def _some(names: list[Any]) -> str:
    more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
    return ", ".join(map(str, names[:8])) + more
