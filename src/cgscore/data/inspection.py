"""A summary of a dataset before it is scored: classes, copies, and what looks like a mistake."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.columns import list_names
from cgscore.data.dataset import PIXELS_OF_PHOTOGRAPHS, Dataset
from cgscore.data.readers.sample import MAX_NUMBERS, Sample
from cgscore.duplicates import find_groups
from cgscore.errors import CGScoreError, DataError
from cgscore.kernel import unit_rows
from cgscore.labels import AUTO, as_labels, infer_task
from cgscore.spelling import spelled

SHOWN = 8  # names in a list; more are counted
_COLUMNS_AT_ONCE = 256


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
    task, task_reason : str or None
        Whether labels are taken for classes or numbers, and why; None without labels.
    n : int
        Examples of the source.
    sampled : int or None
        Examples that were looked at, if not all; classes are those of all.
    """

    classes: dict[Any, int]
    image_size: tuple[int, int] | None
    copies: int
    conflicts: int
    suspicions: tuple[str, ...]
    n: int
    sampled: int | None = None
    task: str | None = None
    task_reason: str | None = None


def inspect(source: Dataset | Sample, *, encoded: bool = False, task: str = AUTO) -> Inspection:
    """Classes, sizes, repeated rows and suspicious things; a few passes over the data.

    Parameters
    ----------
    source : Dataset or Sample
        Inputs as they are scored; or, if `encoded`, as an encoder would get them.
    task : str
        As for `cgscore.score`.
    """
    part = source if isinstance(source, Sample) else None
    dataset = source.dataset if isinstance(source, Sample) else source
    suspicions: list[str] = []
    classes: dict[Any, int] = {}
    reason: str | None = None
    inferred: str | None = None
    try:
        inferred, reason = _task(dataset, part, task)
        if inferred == "classification":
            classes = _classes(dataset) if part is None else _class_counts(part)
    except CGScoreError as error:
        suspicions.append(str(error))
    alone = [str(name) for name, count in classes.items() if count == 1]
    if alone:
        suspicions.append(f"classes with one example only: {list_names(alone, SHOWN)}")
    copies = conflicts = 0
    try:
        first = (
            _first_equal(dataset) if encoded else _first_copies(dataset, sampled=part is not None)
        )
        repeated = np.flatnonzero(first != np.arange(len(first)))
        copies = len(repeated)
        if dataset.y is not None and copies:
            conflicts = int((dataset.y[repeated] != dataset.y[first[repeated]]).sum())
    except CGScoreError as error:  # rows that cannot be scored
        suspicions.append(str(error))
    if dataset.photographs and dataset.encoder is None and not encoded:
        suspicions.append(PIXELS_OF_PHOTOGRAPHS)
    if not dataset.image and dataset.texts is None:
        suspicions += _columns(dataset, None if part is None else part.positions)
    height, width = dataset.X.shape[1:3] if dataset.image else (0, 0)
    return Inspection(
        classes,
        (width, height) if dataset.image else None,
        copies,
        conflicts,
        tuple(suspicions),
        len(dataset) if part is None else part.n,
        None if part is None else len(dataset),
        inferred,
        reason,
    )


def _task(dataset: Dataset, part: Sample | None, task: str) -> tuple[str | None, str | None]:
    """The task, and why it was chosen if it was; None without labels."""
    if dataset.y is None or (part is not None and part.counts is None):
        return None, None
    if task != AUTO:
        return task, None
    if part is not None and part.counts is not None:
        return infer_task(list(part.counts), dataset.label_name, part.n)
    return infer_task(dataset.y, dataset.label_name)


def _first_equal(dataset: Dataset) -> NDArray[np.intp]:
    """For each text or picture the first one that an encoder cannot tell from it."""
    first: dict[Any, int] = {}
    examples = dataset.X if dataset.texts is None else dataset.texts
    keys = (
        example if isinstance(example, str) else hashlib.sha256(example.tobytes()).digest()
        for example in examples
    )
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)


def _first_copies(dataset: Dataset, *, sampled: bool) -> NDArray[np.intp]:
    """For each example the first one of the same direction, which may be itself."""
    if sampled and dataset.X.size > MAX_NUMBERS:
        raise DataError(f"rows of {dataset.shape[1]:,} numbers are too long to be compared")
    return find_groups(unit_rows(dataset.X)).first


def _classes(dataset: Dataset) -> dict[Any, int]:
    if dataset.y is None:
        return {}
    labels = as_labels(dataset.y, len(dataset), "classification")
    return dict(zip(labels.classes.tolist(), labels.counts().tolist(), strict=True))


def _class_counts(part: Sample) -> dict[Any, int]:
    """Classes of all rows, of which only the counts are known."""
    if part.counts is None:
        return {}
    labels = as_labels(list(part.counts), len(part.counts), "classification")
    counts = np.zeros(len(labels.classes), dtype=np.int64)
    np.add.at(counts, labels.codes, list(part.counts.values()))
    return dict(zip(labels.classes.tolist(), counts.tolist(), strict=True))


def _columns(dataset: Dataset, positions: NDArray[np.intp] | None) -> list[str]:
    """Constant columns, and columns that only number the rows."""
    X = dataset.X.reshape(len(dataset), -1)
    next_row = slice(None) if positions is None else np.flatnonzero(np.diff(positions) == 1)
    constant: list[int] = []
    counting: list[int] = []
    for start in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        part = X[:, start : start + _COLUMNS_AT_ONCE].astype(np.float64)
        steps = np.diff(part, axis=0)
        constant += (start + np.flatnonzero((steps == 0).all(axis=0))).tolist()
        steps = steps[next_row]
        # standardised or not, row numbers grow by the same amount from row to row
        even = np.abs(steps - steps[:1]) <= 1e-9 * np.abs(steps[:1])
        counting += (start + np.flatnonzero((even & (steps != 0)).all(axis=0))).tolist()
    if dataset.preprocessing.startswith("table"):
        constant = constant[:-1]  # the one that was added
    suspicions = []
    if constant:
        suspicions.append(f"{len(constant):,} columns are constant: {list_names(constant, SHOWN)}")
    if counting and len(steps) > 1:
        suspicions.append(
            f"columns that only number the rows are used as inputs: {list_names(counting, SHOWN)}; "
            f"remove them, or use one of them as the ids: {spelled(id_column='NAME')}"
        )
    return suspicions
