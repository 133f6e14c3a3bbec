"""What is exported: examples with their labels, a suggestion, a score and a reason."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.exchange.captions import Captions
from cgscore.exchange.stamp import stamp_of
from cgscore.report.values import sure
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

MAX_COLUMNS = 200  # of a table that are shown with an example
MAX_CELL = 1000  # characters of a cell

_REASONS = {
    "wrong label": "Labelled {given}; the other examples say {suggested} ({confidence}).",
    "conflicting duplicates": "Labelled {given}; identical inputs are labelled otherwise.",
    "undecidable": "Labelled {given}; identical inputs have other labels as often.",
    "ambiguous": "Labelled {given}; it could be of several classes.",
    "atypical": "Labelled {given}, which the other examples confirm; an unusual example.",
    "alone in its class": "Labelled {given}; no other example has this label.",
}


@dataclass(frozen=True)
class Example:
    """One exported example.

    Attributes
    ----------
    position : int
        In the data, from 0.
    id : str
        Its name.
    given, suggested : str or float or None
        Captions of classes, or numbers; no suggestion where there is no prediction.
    code : int or None
        The given class, as its position in `Scores.classes`.
    confidence : float or None
        In the suggestion, from 0 to 1.
    label_score : float or None
        Probability that the given label is right.
    cg : float or None
        The CG-score.
    is_label_issue : bool
        Whether the label is flagged.
    reason : str
        Why, in a sentence; empty if nothing is wrong with it.
    """

    position: int
    id: str
    given: str | float
    suggested: str | float | None
    code: int | None
    confidence: float | None
    label_score: float | None
    cg: float | None
    is_label_issue: bool
    reason: str


class Examples:
    """The examples of an export, in order.

    Parameters
    ----------
    scores : Scores
        The result.
    dataset : Dataset or None
        The scored data; without them only ids and labels are exported.
    issues : DataFrame
        ``scores.label_issues()``.
    positions : (m,) array
        The examples, in the order in which they are exported.
    captions : Captions
        The classes as texts.

    Attributes
    ----------
    stamp : str
        By which the corrections are recognised when they come back.
    """

    def __init__(
        self,
        scores: Scores,
        dataset: Dataset | None,
        issues: pd.DataFrame,
        positions: Index,
        captions: Captions,
    ) -> None:
        self.scores, self.dataset, self.positions = scores, dataset, positions
        self.captions = captions
        self.stamp = stamp_of(scores)
        self._issues = issues.iloc[positions]

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[Example]:
        issues = self._issues
        ids = self.scores.table["id"].to_numpy()[self.positions]
        cg = self.scores.table["cg"].to_numpy()[self.positions]
        columns = [issues["is_label_issue"], issues["label_score"], *self._labels(), self._kinds()]
        for row in zip(self.positions.tolist(), ids, cg, *columns, strict=True):
            position, name, value, flagged, right, code, given, suggested, confidence, kind = row
            example = Example(
                position=position,
                id=str(name),
                given=given,
                suggested=suggested,
                code=code,
                confidence=_finite(confidence),
                label_score=_finite(right),
                cg=_finite(value),
                is_label_issue=bool(flagged),
                reason="",
            )
            yield _with_reason(example, kind)

    @property
    def suspects(self) -> int:
        """How many of them are flagged."""
        return int(self._issues["is_label_issue"].sum())

    @property
    def regression(self) -> bool:
        """Whether labels are numbers."""
        return not len(self.scores.classes)

    @property
    def kind(self) -> str:
        """What an example is: ``image``, ``text``, ``table``, or ``name`` where it is unknown."""
        dataset = self.dataset
        if dataset is None:
            return "name"
        if dataset.drawable:
            return "image"
        if dataset.texts is not None:
            return "text"
        return "name" if dataset.frame is None else "table"

    def text(self, position: int) -> str:
        """An example that is a text."""
        if self.dataset is None or self.dataset.texts is None:
            raise OptionError("The examples are not texts.")
        return self.dataset.texts[position]

    def cells(self, position: int) -> dict[str, str]:
        """A row of a table, its cells as texts of bounded length."""
        if self.dataset is None or self.dataset.frame is None:
            raise OptionError("The examples are not rows of a table.")
        frame = self.dataset.frame
        # cell by cell: a whole row would have one type, and whole numbers would get a point
        return {
            str(name)[:MAX_CELL]: _cell(frame.iat[position, i])
            for i, name in enumerate(frame.columns[:MAX_COLUMNS])
        }

    def _labels(self) -> Iterator[list[Any]]:
        """Codes, given and suggested labels, and the confidence in the latter."""
        issues = self._issues
        if self.regression:
            yield [None] * len(self)
            yield issues["given_label"].tolist()
            yield [_finite(value) for value in issues["predicted_label"]]
            yield (1 - issues["label_score"]).tolist()
            return
        texts = np.array(self.captions.texts, dtype=object)
        given = self.scores.codes()[self.positions]
        yield given.tolist()
        yield texts[given].tolist()
        predicted = issues["predicted_label"]
        known = predicted.notna().to_numpy()
        codes = np.searchsorted(
            self.scores.classes, predicted.fillna(self.scores.classes[0]).to_numpy()
        )
        suggested = texts[codes]
        suggested[~known] = None
        yield suggested.tolist()
        yield issues["confidence"].tolist()

    def _kinds(self) -> list[Any]:
        """The kind of issue, or for numbers the interval."""
        if self.regression:
            return list(zip(self._issues["low"], self._issues["high"], strict=True))
        return list(self._issues["kind"])


def chosen_positions(issues: pd.DataFrame, *, whole: bool, count: int | None) -> Index:
    """Positions to export: flagged labels, the worst first, or all in the order of the data.

    Parameters
    ----------
    issues : DataFrame
        ``scores.label_issues()``.
    whole : bool
        All examples, also those whose labels look right.
    count : int or None
        At most so many.
    """
    if whole:
        return np.arange(len(issues))[:count]
    flagged = np.flatnonzero(issues["is_label_issue"].to_numpy())
    order = np.argsort(issues["label_score"].to_numpy()[flagged], kind="stable")
    return flagged[order][:count]


def _with_reason(example: Example, kind: Any) -> Example:
    if not isinstance(kind, str):
        low, high = kind
        if not example.is_label_issue or example.suggested is None:
            return example
        reason = (
            f"Given {example.given:.6g}; the other examples predict {example.suggested:.6g} "
            f"(95 %: {low:.6g} to {high:.6g})."
        )
        return replace(example, reason=reason)
    confidence = "not sure" if example.confidence is None else sure(example.confidence)
    parts = {"given": example.given, "suggested": example.suggested, "confidence": confidence}
    return replace(example, reason=_REASONS[kind].format(**parts)) if kind in _REASONS else example


def is_missing(value: Any) -> bool:
    """Whether a cell of a data frame is empty."""
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    text = str(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}… ({len(text):,} characters)"


def _finite(value: Any) -> float | None:
    """A number, or None where it is missing or infinite."""
    number = float(value)
    return number if math.isfinite(number) else None
