"""The whole job on the digits that ship with scikit-learn, with some labels flipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.api import score
from cgscore.data import read
from cgscore.execution.progress import Listener
from cgscore.result import Scores

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "sklearn:digits"
SHARE = 0.1  # of the labels are flipped
RIDGE = 0.1  # steadies the predictions when some of the labels they rest on are wrong


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
        Examples whose label differs from what the others predict, worst first, with ``true_label``.
    flipped, found, right : int
        Labels flipped; flipped labels among the suspects; those of them whose suggested label is
        the true one.
    """

    scores: Scores
    truth: NDArray[Any]
    suspects: pd.DataFrame
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
    scores = score(dataset, labels, ridge=RIDGE, progress=progress)
    table = scores.table.assign(true_label=truth)
    suspects = table[table["given_label"] != table["predicted_label"]].sort_values("margin")
    wrong = suspects["given_label"] != suspects["true_label"]
    return Demo(
        scores=scores,
        truth=truth,
        suspects=suspects,
        flipped=int((labels != truth).sum()),
        found=int(wrong.sum()),
        right=int((wrong & (suspects["predicted_label"] == suspects["true_label"])).sum()),
    )


def flip(labels: NDArray[Any], share: float, seed: int) -> NDArray[Any]:
    """A copy of the labels with the given share moved to another class, chosen at random."""
    rng = np.random.default_rng(seed)
    classes, own = np.unique(labels, return_inverse=True)
    rows = rng.choice(len(labels), round(share * len(labels)), replace=False)
    own[rows] = (own[rows] + rng.integers(1, len(classes), len(rows))) % len(classes)
    return np.asarray(classes[own])
