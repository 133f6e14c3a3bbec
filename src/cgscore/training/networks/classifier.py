"""What every network here is: a `Classifier`, whose weights follow from a seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


class Classifier(nn.Module, ABC):
    """A network whose last layer, `head`, is linear."""

    head: nn.Linear

    @abstractmethod
    def features(self, x: Tensor) -> Tensor:
        """Input of the last layer: (n, d) for n examples."""

    def initialise(self, images: Tensor) -> None:
        """Set weights that depend on the inputs; called with normalised images before training."""

    def forward(self, x: Tensor) -> Tensor:
        """Logits, ``head(features(x))``: (n, k)."""
        return cast(Tensor, self.head(self.features(x)))


def seeded(seed: int, build: Callable[[], Model]) -> Model:
    """The network that `build` returns with torch's generator at `seed`.

    The state of the generator is restored afterwards.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return build()
