"""Weighted subsets that are selected again while a network is trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cgscore.training.loop.evaluation import Evaluation


@dataclass(frozen=True)
class Coreset:
    """A weighted subset of examples.

    Attributes
    ----------
    positions : (r,) array
        Positions of the selected examples, ascending.
    weights : (r,) array
        How many examples each of them represents. They add up to the number of examples in all
        classes of which at least one was selected; that is all classes, unless fewer examples are
        selected than there are classes.
    distance : float
        L(S) of `cgscore.training.scores.craig`, summed over classes.
    """

    positions: NDArray[np.intp]
    weights: NDArray[np.intp]
    distance: float


class Reselection(Protocol):
    """What `train` accepts as ``select=``. Its `repr` is its identity in checkpoints.

    Attributes
    ----------
    every : int
        Epochs between two selections.
    """

    @property
    def every(self) -> int:
        """Epochs between two selections."""
        ...

    def __call__(self, epoch: int, evaluation: Evaluation, codes: NDArray[np.intp]) -> Coreset:
        """The examples to train on from now on.

        Parameters
        ----------
        epoch : int
            Number of finished epochs.
        evaluation : Evaluation
            All examples, evaluated by the network in its current state.
        codes : (n,) array
            Class of each example, as a column of the probabilities.
        """
        ...
