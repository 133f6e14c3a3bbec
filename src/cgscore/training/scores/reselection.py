"""Subsets that are chosen anew while a network is trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cgscore.errors import OptionError
from cgscore.selection.orders import check_selection
from cgscore.training.loop.evaluation import Evaluation
from cgscore.training.scores.craig import Coreset, Index, check_craig, craig


class Reselection(Protocol):
    """What `train` takes as ``select=``; its `repr` says what it does, for checkpoints.

    Attributes
    ----------
    every : int
        Epochs after which it is asked again.
    """

    @property
    def every(self) -> int:
        """Epochs after which it is asked again."""
        ...

    def __call__(self, epoch: int, found: Evaluation, codes: Index) -> Coreset:
        """The examples of the next epochs.

        Parameters
        ----------
        epoch : int
            How many are done.
        found : Evaluation
            Of all examples, by the network as it is.
        codes : (n,) array
            The class of each, as a column of the probabilities.
        """
        ...


@dataclass(frozen=True)
class Craig:
    """CRAIG's choice by the network as it is (`craig`).

    Attributes
    ----------
    fraction : float
        Share of all examples to train on.
    every : int
        Epochs after which is chosen again; the paper's are 10.
    method, epsilon, seed
        As for `craig`; every choice draws by itself.
    """

    fraction: float
    every: int = 10
    method: str = "lazy"
    epsilon: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        check_selection(self.fraction, "random", None, self.seed)
        check_craig(self.method, self.epsilon)
        if self.every < 1:
            raise OptionError(f"every={self.every!r} makes no sense. Expected 1 epoch or more.")

    def __call__(self, epoch: int, found: Evaluation, codes: Index) -> Coreset:
        """The subset and its weights."""
        return craig(
            found.probability,
            codes,
            self.fraction,
            method=self.method,
            epsilon=self.epsilon,
            seed=self.seed + epoch,
        )
