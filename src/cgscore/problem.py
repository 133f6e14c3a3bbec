"""What goes into a method, and what comes out of it.

Every method starts from a `Problem`: rows on the unit sphere, one per group of identical rows, with
checked labels. It ends with a `Solution`: the valuation of every example, and what should be known
about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgscore.data.dataset import PIXELS_OF_PHOTOGRAPHS, Dataset
from cgscore.duplicates import Groups, expand, find_groups
from cgscore.errors import DataError, DuplicateRowsError, MemoryLimitError, first_five
from cgscore.execution.cached_property import cached_property
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.kernel import RELU, Kernel, UnitRows, unit_rows
from cgscore.labels import Labels, as_labels, no_labels
from cgscore.rows import StreamedRows, streamed_rows
from cgscore.typing import Array
from cgscore.valuation import Valuation

MIN_DIGITS = 6  # that the condition leaves: fewer are worth a warning


class Inputs:
    """Inputs scaled to the unit sphere, identical rows merged where the ridge is 0.

    Attributes
    ----------
    dataset : Dataset
        Where they come from.
    ridge : float
        Added to the diagonal of the kernel matrix.
    kernel : Kernel
        The kernel to be used.
    repeats : Groups
        Identical rows among the inputs.
    merged : Groups
        Those of them that are scored as one.

    Parameters
    ----------
    duplicates : {"merge", "error"}
        Whether identical rows are merged or refused.
    memory_limit : int or None
        Bytes that the scaled rows may take.
    stream : bool
        Whether rows are scaled chunk by chunk, whenever they are needed, and not held in memory;
        for a ridge above 0 only, since nothing is merged then.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        ridge: float,
        duplicates: str = "merge",
        memory_limit: int | None = None,
        kernel: Kernel = RELU,
        stream: bool = False,
    ) -> None:
        n = len(dataset)
        if n < 2:
            raise DataError(f"X has {n} row. Scoring compares examples: give at least 2.")
        dataset.inputs_digest  # noqa: B018  before anybody can change the array
        self.dataset, self.kernel = dataset, kernel
        self.ridge = float(ridge)
        self._memory_limit = memory_limit
        self.repeats = find_groups(self.streamed if stream else self._all_rows)
        if duplicates == "error" and len(self.repeats.copies):
            raise DuplicateRowsError(_describe_copies(self.repeats))
        # with a ridge copies are ordinary rows: merging them would change their scores
        self.merged = self.repeats if ridge == 0 else Groups(np.arange(n))

    @cached_property
    def streamed(self) -> StreamedRows:
        """All rows, scaled when they are asked for."""
        return streamed_rows(self.dataset.X, kernel=self.kernel)

    @cached_property
    def rows(self) -> UnitRows:
        """One row per group, in memory."""
        rows = self._all_rows
        if len(self.merged.copies):
            rows = rows.compacted(self.merged.members)
        del self._all_rows  # which compacting has overwritten
        return rows

    @cached_property
    def _all_rows(self) -> UnitRows:
        n, p = self.dataset.shape
        room = memory_room(self._memory_limit)
        if 8 * n * p > room.bytes:
            raise MemoryLimitError(
                f"{n:,} rows of {p:,} numbers take {show_bytes(8 * n * p)} of memory once scaled; "
                f"{room}. Score a sample of the examples, or use a machine with more memory."
            )
        return unit_rows(self.dataset.X, kernel=self.kernel)

    def labelled(self, y: Any = None, task: str = "auto") -> Problem:
        """The problem with labels y, or with those of the dataset."""
        dataset = self.dataset if y is None else self.dataset.with_labels(y)
        if dataset.y is None:
            raise no_labels()
        return Problem(self, dataset, as_labels(dataset.y, len(dataset), task))


@dataclass(frozen=True)
class Problem:
    """Inputs and their labels.

    Attributes
    ----------
    inputs : Inputs
        Rows on the unit sphere.
    dataset : Dataset
        The inputs as they were given, with these labels.
    labels : Labels
        Of all examples.
    """

    inputs: Inputs
    dataset: Dataset
    labels: Labels

    def merged_targets(self) -> Array:
        """Y of the merged rows: the mean of each group."""
        return self.inputs.merged.means(self.labels.targets())

    def valuation(self, alpha: Array, d: Array) -> Valuation:
        """Every score of every example, from alpha and d of the merged rows."""
        labels = self.labels
        return expand(self.inputs.merged, labels.targets(), labels.codes, alpha, d)

    def complexity(self, alpha: Array) -> dict[Any, float]:
        """``y . alpha`` of every class; infinite where identical rows contradict each other."""
        Y, merged = self.labels.targets(), self.inputs.merged
        values = np.einsum("ik,ik->k", merged.means(Y), alpha)
        values[merged.contradicts(Y).any(axis=0)] = np.inf
        return dict(zip(self.labels.keys(), values.tolist(), strict=True))

    def warnings(self) -> list[str]:
        """What a reader of the scores should know about inputs, repeated rows and small classes."""
        return [*self._input_warnings(), *self._copy_warnings(), *self._label_warnings()]

    def _input_warnings(self) -> list[str]:
        pixels = self.dataset.photographs and self.dataset.encoder is None
        return [PIXELS_OF_PHOTOGRAPHS] if pixels else []

    def _copy_warnings(self) -> list[str]:
        merged = self.inputs.merged
        if not len(merged.copies):
            return []
        return [
            f"{_describe_copies(merged)} Each group is scored as one row: its first copy carries "
            "the score, later copies have 0."
        ]

    def _label_warnings(self) -> list[str]:
        labels, messages = self.labels, []
        regression = labels.task == "regression"
        # classes tell as much as their k columns of targets
        targets = labels.targets() if regression else labels.codes[:, None]
        torn = np.flatnonzero(self.inputs.merged.torn(targets))
        if len(torn):
            messages.append(
                f"Identical rows carry different labels: {first_five(torn)} (counted from 0). "
                "Their scores are infinite; at least one label in each group is wrong or the "
                "example is ambiguous."
            )
        alone = [] if regression else labels.classes[labels.counts() == 1].tolist()
        if alone:
            messages.append(
                f"{len(alone)} class{'es have' if len(alone) > 1 else ' has'} one example only "
                f"({first_five(alone)}): without that example, nothing of the class is left to "
                "predict it from."
            )
        return messages


@dataclass(frozen=True)
class Solution:
    """What a method found.

    Attributes
    ----------
    valuation : Valuation
        The terms, d and leave-one-out predictions of every example.
    complexity : mapping
        Of every class.
    audit : mapping or None
        How near the scores come to the exact ones, where they are estimates.
    warnings : list of str
        What a reader of the scores should know.
    facts : mapping
        What is particular to the method, for ``Scores.meta``.
    columns : mapping
        Further columns of the table.
    keeps_predictions : bool
        Whether the leave-one-out predictions become a part of the result. If not, they are in a
        file that lasts as long as this object.
    """

    valuation: Valuation
    complexity: Mapping[Any, float]
    audit: Mapping[str, Any] | None
    warnings: list[str]
    facts: Mapping[str, Any]
    columns: Mapping[str, Any] = field(default_factory=dict)
    keeps_predictions: bool = True


@dataclass(frozen=True)
class Judgement:
    """What labels are judged by, where that is not the scores themselves.

    At ridge 0, the paper's, a prediction follows every wrong label nearby. Labels are judged with
    the ridge of the least leave-one-out error instead, which takes a solution of its own. So does
    judging numbers, with any ridge: the model has mean 0, and they are centred on their median.

    Attributes
    ----------
    loo : (n, k) array
        Leave-one-out predictions.
    d : (n,) array
        Diagonal of the inverse kernel matrix with that ridge.
    facts : mapping
        What ``meta["judge"]`` says: ridge, how it was chosen, method and seconds.
    keeps_predictions : bool
        As for `Solution`.
    """

    loo: Array
    d: Array
    facts: Mapping[str, Any]
    keeps_predictions: bool = True


def _describe_copies(groups: Groups) -> str:
    copies = groups.copies
    pairs = first_five(f"{row} repeats {groups.first[row]}" for row in copies[:6])
    more = f", and {len(copies) - 5:,} more" if len(copies) > 5 else ""
    pairs = pairs.removesuffix(", ...")
    return f"{len(copies):,} rows are identical to earlier ones: {pairs}{more} (counted from 0)."
