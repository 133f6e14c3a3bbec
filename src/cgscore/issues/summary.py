"""The summary of label issues: how many labels are wrong, in all and by class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from cgscore.typing import Array

MAX_MATRIX_CLASSES = 100  # beyond that the noise matrix is left out of `DataFrame.attrs`


@dataclass(frozen=True)
class IssueSummary:
    """Summary of the label issues of a result.

    Attributes
    ----------
    by : str
        The detector.
    examples : int
        Examples that were judged: those with a prediction for every class.
    flagged : int
        Labels that are flagged.
    estimated_wrong : float
        Estimated number of wrong labels, flagged or not.
    interval : tuple of float
        Its 95 % interval.
    wrong_by_class : dict
        The same number for each given class.
    noise_matrix : (k, k) array
        Probability of each given label (columns) for each true class (rows).
    anchors : int
        Examples from which the noise matrix is estimated.
    uninformative : bool
        Whether predictions agree with the labels no better than chance, so that none is flagged.
    conflicts : int
        Groups of identical inputs with different labels.
    hint : str or None
        Advice to the reader.
    hard_to_tell : int
        Labels that are not flagged though they are wrong with a probability of 1/5 or more.
    contested : bool
        Whether wrong labels follow the borders between classes, so that they are hard to tell from
        classes that overlap by nature. The interval then reaches from what is wrong for certain to
        all that may be.
    overlap : bool
        Whether classes overlap so much that even the clearest examples are confused by nature.
    """

    by: str
    examples: int
    flagged: int
    estimated_wrong: float
    interval: tuple[float, float]
    wrong_by_class: Mapping[Any, float]
    noise_matrix: Array
    anchors: int
    uninformative: bool
    conflicts: int
    hint: str | None
    hard_to_tell: int = 0
    contested: bool = False
    overlap: bool = False

    def as_attrs(self) -> dict[Hashable, Any]:
        """The same as plain values, as `DataFrame.attrs` of the table of issues holds it."""
        large = len(self.noise_matrix) > MAX_MATRIX_CLASSES
        return {
            "by": self.by,
            "estimated_wrong": self.estimated_wrong,
            "interval": list(self.interval),
            "wrong_by_class": {str(name): count for name, count in self.wrong_by_class.items()},
            "noise_matrix": None if large else self.noise_matrix.tolist(),
            "anchors": self.anchors,
            "blind": self.uninformative,
            "conflicts": self.conflicts,
            "hard_to_tell": self.hard_to_tell,
            "contested": self.contested,
            "overlap": self.overlap,
            "hint": self.hint,
        }
