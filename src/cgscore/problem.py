"""Labelled data on their way to a solver, and the result on its way back.

Every method starts from the rows on the unit sphere, one per group of identical rows, and ends with
alpha and d of those rows; what lies before and after is here.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.duplicates import Groups, expand, find_groups
from cgscore.errors import (
    CGScoreWarning,
    DataError,
    DuplicateRowsError,
    LabelError,
    MemoryLimitError,
    first_five,
)
from cgscore.execution.machine import available_memory, peak_memory, show_bytes
from cgscore.kernel import Array, unit_rows
from cgscore.labels import Labels, as_labels
from cgscore.result.scores import Scores
from cgscore.result.table import score_table
from cgscore.valuation import Valuation

FEW_DIGITS = 6  # that the condition leaves: fewer are worth a warning


class Prepared:
    """Inputs scaled to the unit sphere, identical rows merged where the ridge is 0.

    Attributes
    ----------
    rows : UnitRows
        One row per group.
    repeats : Groups
        Identical rows among the inputs.
    merged : Groups
        Those of them that are scored as one.
    """

    def __init__(
        self, dataset: Dataset, *, ridge: float, duplicates: str, limit: int | None
    ) -> None:
        if len(dataset) < 2:
            raise DataError(
                f"X has {len(dataset)} row. Scoring compares examples: give at least 2."
            )
        n, p = dataset.shape
        _refuse_large_rows(n, p, limit)
        dataset.inputs_digest  # noqa: B018  before anybody can change the array
        self.dataset = dataset
        self.ridge = float(ridge)
        self.rows = unit_rows(dataset.X)
        self.repeats = find_groups(self.rows)
        if duplicates == "error" and len(self.repeats.copies):
            raise DuplicateRowsError(_describe_copies(self.repeats))
        # with a ridge copies are ordinary rows: merging them would change their scores
        self.merged = self.repeats if ridge == 0 else Groups(np.arange(len(dataset)))
        if len(self.merged.copies):
            self.rows = self.rows.compacted(self.merged.members)

    def labelled(self, y: Any, task: str) -> tuple[Dataset, Labels]:
        """The dataset with labels y, or with its own."""
        dataset = self.dataset if y is None else self.dataset.with_labels(y)
        if dataset.y is None:
            raise LabelError("No labels: give y, one label per example.")
        return dataset, as_labels(dataset.y, len(dataset), task)

    def result(
        self,
        dataset: Dataset,
        labels: Labels,
        alpha: Array,
        d: Array,
        *,
        notes: list[str],
        meta: Mapping[str, Any],
    ) -> Scores:
        """Everything users see, from alpha and d of the merged rows.

        `notes` are warnings of the solver; `meta` what is particular to the method.
        """
        Y = labels.targets()
        result = expand(self.merged, Y, labels.codes, alpha, d)
        complexity = self.complexity(labels, Y, alpha)
        return self.valued(dataset, labels, result, complexity, notes=notes, meta=meta)

    def valued(
        self,
        dataset: Dataset,
        labels: Labels,
        result: Valuation,
        complexity: Mapping[Any, float],
        *,
        notes: list[str],
        meta: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> Scores:
        """Everything users see, from the valuation of all rows; `more` are columns of the table."""
        notes = [*notes, *self._copy_warnings(), *self._label_warnings(labels)]
        for note in notes:
            warnings.warn(note, CGScoreWarning, stacklevel=4)
        n, p = dataset.shape
        return Scores(
            table=score_table(
                result,
                labels,
                dataset.ids,
                self.repeats if len(self.repeats.copies) else None,
                more or {},
            ),
            loo=result.loo,
            d=result.d,
            alpha=result.alpha,
            classes=labels.classes,
            complexity=complexity,
            meta={
                **meta,
                "task": labels.task,
                "ridge": self.ridge,
                "n": n,
                "p": p,
                "classes": len(labels.classes),
                "source": dataset.source,
                "read_options": dict(dataset.options),
                "fingerprint": dataset.fingerprint,
                "preprocessing": f"{dataset.preprocessing}; rows scaled to unit norm",
                "class_names": _names(labels, dataset.class_names),
                "duplicates": {
                    "copies": len(self.repeats.copies),
                    "conflicting_rows": int(np.isinf(result.cg).sum()),
                    "merged": len(self.merged.copies) > 0,
                },
                "peak_memory": peak_memory(),
                "notes": list(dataset.notes),
                "skipped": list(dataset.skipped),
                "warnings": notes,
            },
            dataset=dataset,
        )

    def complexity(self, labels: Labels, Y: Array, alpha: Array) -> dict[Any, float]:
        """``y . alpha`` of every class; infinite where identical rows contradict each other."""
        values = np.einsum("ik,ik->k", self.merged.means(Y), alpha)
        values[self.merged.contradicts(Y).any(axis=0)] = np.inf
        return dict(zip(keys(labels), values.tolist(), strict=True))

    def _copy_warnings(self) -> list[str]:
        if not len(self.merged.copies):
            return []
        return [
            f"{_describe_copies(self.merged)} Each group is scored as one row: its first copy "
            "carries the score, later copies have 0."
        ]

    def _label_warnings(self, labels: Labels) -> list[str]:
        found = []
        # classes tell as much as their k columns of targets
        one = labels.targets() if labels.task == "regression" else labels.codes[:, None]
        torn = np.flatnonzero(self.merged.torn(one))
        if len(torn):
            found.append(
                f"Identical rows carry different labels: {first_five(torn)} (counted from 0). "
                "Their scores are infinite; at least one label in each group is wrong or the "
                "example is ambiguous."
            )
        if labels.task == "classification":
            alone = labels.classes[labels.counts() == 1].tolist()
            if len(alone):
                found.append(
                    f"{len(alone)} class{'es have' if len(alone) > 1 else ' has'} one example only "
                    f"({first_five(alone)}): nothing of its class is left to predict it from."
                )
        return found


def _refuse_large_rows(n: int, p: int, limit: int | None) -> None:
    """Raise `MemoryLimitError` if not even the rows on the unit sphere fit."""
    room = available_memory() if limit is None else min(limit, available_memory())
    if 8 * n * p > room:
        raise MemoryLimitError(
            f"{n:,} rows of {p:,} numbers take {show_bytes(8 * n * p)} of memory once scaled; "
            f"{show_bytes(room)} {'is free' if limit is None else 'is the limit'}. "
            "Score a sample of the examples, or use a machine with more memory."
        )


def _describe_copies(groups: Groups) -> str:
    copies = groups.copies
    pairs = ", ".join(f"{row} repeats {groups.first[row]}" for row in copies[:5])
    more = f", and {len(copies) - 5:,} more" if len(copies) > 5 else ""
    return f"{len(copies):,} rows are identical to earlier ones: {pairs}{more} (counted from 0)."


def keys(labels: Labels) -> list[Any]:
    """What complexities are called by."""
    return labels.classes.tolist() if labels.task == "classification" else ["target"]


def _names(labels: Labels, names: Mapping[Any, str] | None) -> list[str] | None:
    if names is None or labels.task == "regression":
        return None
    return [str(names.get(label, label)) for label in labels.classes.tolist()]
