"""The whole job on the digits that ship with scikit-learn, with some labels flipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import score
from cgscore.data import read
from cgscore.execution.progress import Listener
from cgscore.issues.table import worst_first
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "sklearn:digits"
SHARE = 0.1  # of the labels are flipped


@dataclass(frozen=True)
class Demo:
    """Scores of digits with flipped labels, and what is known about the flips.

    Attributes
    ----------
    scores : Scores
        Scores of the labels with the flips in them.
    truth : (n,) array
        The labels before flipping.
    suspects : DataFrame
        Rows of `Scores.label_issues` that are flagged, worst first, with ``true_label``.
    estimated, interval : float and pair of float
        Wrong labels that the scores expect, without knowing of the flips.
    flipped, found, right : int
        Labels flipped; flipped labels among the suspects; those of them whose suggested label is
        the true one.
    """

    scores: Scores
    truth: NDArray[Any]
    suspects: pd.DataFrame
    estimated: float
    interval: tuple[float, float]
    flipped: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the suspects whose label was flipped."""
        return self.found / max(1, len(self.suspects))

    @property
    def recall(self) -> float:
        """Share of the flipped labels that are among the suspects."""
        return self.found / self.flipped


def run(seed: int = 0, progress: bool | Listener | None = None) -> Demo:
    """Flip a tenth of the labels, score, and compare the suspects with the truth."""
    dataset = read(SOURCE)
    truth: NDArray[Any] = np.asarray(dataset.y)
    labels = flip(truth, SHARE, seed)
    scores = score(dataset, labels, ridge="auto", progress=progress)
    found = scores.label_issues()
    table = found.assign(true_label=truth).drop(columns=["runner_up", "kind"])
    suspects = worst_first(table)
    wrong = suspects["given_label"] != suspects["true_label"]
    return Demo(
        scores=scores,
        truth=truth,
        suspects=suspects,
        estimated=found.attrs["estimated_wrong"],
        interval=tuple(found.attrs["interval"]),
        flipped=int((labels != truth).sum()),
        found=int(wrong.sum()),
        right=int((wrong & (suspects["predicted_label"] == suspects["true_label"])).sum()),
    )


def flip(labels: NDArray[Any], share: float, seed: int) -> NDArray[Any]:
    """A copy of the labels with the given share moved to another class, chosen at random."""
    rng = np.random.default_rng(seed)
    classes, codes = np.unique(labels, return_inverse=True)
    rows = rng.choice(len(labels), round(share * len(labels)), replace=False)
    codes[rows] = (codes[rows] + rng.integers(1, len(classes), len(rows))) % len(classes)
    return np.asarray(classes[codes])
