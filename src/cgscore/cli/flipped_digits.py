"""The digits that ship with scikit-learn, with labels flipped at random and found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import score
from cgscore.data import read
from cgscore.issues.table import worst_first
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "sklearn:digits"
FLIPPED_SHARE = 0.1


@dataclass(frozen=True)
class FlippedDigits:
    """Scores of digits with flipped labels, and how well they show the flips.

    Attributes
    ----------
    scores : Scores
        Scores of the labels after flipping.
    suspects : DataFrame
        The flagged rows of `Scores.label_issues`, worst first, with a column ``true_label``.
    estimated : float
        Number of wrong labels as estimated from the scores.
    interval : (float, float)
        95 % interval of that number.
    flipped : int
        Number of labels that were flipped.
    detected : int
        Flipped labels among the suspects.
    corrected : int
        Flipped labels among the suspects whose suggested label is the true one.
    """

    scores: Scores
    suspects: pd.DataFrame
    estimated: float
    interval: tuple[float, float]
    flipped: int
    detected: int
    corrected: int

    @property
    def precision(self) -> float:
        """Share of the suspects whose label was flipped."""
        return self.detected / max(1, len(self.suspects))

    @property
    def recall(self) -> float:
        """Share of the flipped labels that are among the suspects."""
        return self.detected / self.flipped


def find_flipped_labels(seed: int = 0) -> FlippedDigits:
    """Digits with a tenth of the labels flipped, and the suspects compared with the truth."""
    dataset = read(SOURCE)
    true_labels: NDArray[Any] = np.asarray(dataset.y)
    labels = flip_labels(true_labels, FLIPPED_SHARE, seed)
    scores = score(dataset, labels, ridge="auto")
    issues = scores.label_issues()
    suspects = worst_first(
        issues.assign(true_label=true_labels).drop(columns=["runner_up", "kind"])
    )
    wrong = suspects["given_label"] != suspects["true_label"]
    right_suggestion = suspects["predicted_label"] == suspects["true_label"]
    return FlippedDigits(
        scores=scores,
        suspects=suspects,
        estimated=issues.attrs["estimated_wrong"],
        interval=tuple(issues.attrs["interval"]),
        flipped=int((labels != true_labels).sum()),
        detected=int(wrong.sum()),
        corrected=int((wrong & right_suggestion).sum()),
    )


def flip_labels(labels: NDArray[Any], share: float, seed: int) -> NDArray[Any]:
    """A copy of the labels in which a share, drawn at random, has another class."""
    rng = np.random.default_rng(seed)
    classes, codes = np.unique(labels, return_inverse=True)
    rows = rng.choice(len(labels), round(share * len(labels)), replace=False)
    codes[rows] = (codes[rows] + rng.integers(1, len(classes), len(rows))) % len(classes)
    return np.asarray(classes[codes])
