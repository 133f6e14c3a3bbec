"""Several labels per example: who gave which, and what most of them say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import LabelError, first_five
from cgscore.labels import label_vector
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class Annotations:
    """Labels of n examples by m annotators.

    Attributes
    ----------
    names : tuple of str
        The annotators.
    classes : (k,) array
        The labels that they gave, sorted.
    codes : (n, m) array
        Which of them each annotator gave to each example; -1 where there is none.
    """

    names: tuple[str, ...]
    classes: NDArray[Any]
    codes: Index

    @property
    def counts(self) -> Index:
        """How many annotators labelled each example."""
        counts: Index = (self.codes >= 0).sum(axis=1)
        return counts

    def majority(self) -> NDArray[Any]:
        """The label of each example that most annotators gave."""
        labels: NDArray[Any] = self.classes[majority_vote(self.codes, len(self.classes))]
        return labels

    def rows(self, positions: Index) -> Annotations:
        """The labels of some of the examples."""
        return Annotations(self.names, self.classes, self.codes[positions])


def annotations_of(columns: Mapping[Any, Any], source: object) -> Annotations:
    """Annotations from one column of labels per annotator; cells may be empty.

    Raises
    ------
    LabelError
        An example without any label, or labels that are no classes.
    """
    labels = [_as_objects(column) for column in columns.values()]
    classes, codes = as_codes(labels, ", ".join(map(repr, columns)))
    missing = np.flatnonzero((codes < 0).all(axis=1))
    if len(missing):
        raise LabelError(
            f"{source}: no annotator labelled {len(missing):,} of {len(codes):,} examples: "
            f"{first_five(missing)} (counted from 0). Label these rows or leave them out."
        )
    return Annotations(tuple(map(str, columns)), classes, codes)


def as_codes(labels: list[NDArray[Any]], name: str) -> tuple[NDArray[Any], Index]:
    """The classes that annotators name, and the code of each label; -1 where it is missing.

    Whole numbers that missing values turned into floats are whole numbers again.
    """
    present = [_present(column) for column in labels]
    parts = [column[here] for column, here in zip(labels, present, strict=True)]
    values = label_vector(np.concatenate(parts), name)
    if values.dtype.kind == "f":
        if (values != np.round(values)).any():
            raise LabelError(
                f"{name} hold fractions such as {values[values != np.round(values)][0]:g}. The "
                "labels of several annotators must be classes: whole numbers, booleans or text."
            )
        values = values.astype(np.int64)
    classes, flat = np.unique(values, return_inverse=True)
    codes = np.full((len(labels[0]), len(labels)), -1, dtype=np.intp)
    ends = np.cumsum([len(part) for part in parts])
    split = np.split(flat.reshape(-1), ends[:-1])
    for a, (here, part) in enumerate(zip(present, split, strict=True)):
        codes[here, a] = part
    return classes, codes


def majority_vote(L: Index, k: int) -> Index:
    """The most frequent label of every example; of equals, that of the annotators who agree most.

    An annotator's weight in ties is the share of the others' labels that agree with theirs.

    Parameters
    ----------
    L : (n, m) array
        Codes of the labels; -1 where there is none.
    k : int
        Number of classes.
    """
    votes = _votes(L, k)
    weights = np.ones(L.shape[1])
    for a in range(L.shape[1]):
        rows = np.flatnonzero(L[:, a] >= 0)
        others = votes[rows].copy()
        others[np.arange(len(rows)), L[rows, a]] -= 1
        total = others.sum()
        agree = others[np.arange(len(rows)), L[rows, a]].sum()
        weights[a] = (agree + 1) / (total + 2)
    tie_break = np.zeros_like(votes)
    for a in range(L.shape[1]):
        rows = np.flatnonzero(L[:, a] >= 0)
        tie_break[rows, L[rows, a]] += weights[a]
    codes: Index = np.argmax(votes + 1e-6 * tie_break, axis=1)
    return codes


def _votes(L: Index, k: int) -> Array:
    """How many annotators gave each label to each example, (n, k)."""
    votes = np.zeros((len(L), k))
    for a in range(L.shape[1]):
        rows = np.flatnonzero(L[:, a] >= 0)
        votes[rows, L[rows, a]] += 1
    return votes


def _as_objects(column: Any) -> NDArray[Any]:
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    return np.asarray(values, dtype=object)


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is a label; an empty text is none."""
    import pandas as pd

    present: NDArray[np.bool_] = ~pd.isna(values)
    for place in np.flatnonzero(present):  # comparing a missing value may be an error
        present[place] = values[place] != ""
    return present
