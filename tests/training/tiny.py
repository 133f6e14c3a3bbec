"""A small real network with the protocol of the package's models."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Tiny(nn.Module):
    """A convolution with batch statistics, then a linear head; float64."""

    def __init__(self, classes: int = 3, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.body = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ELU(), nn.Dropout(0.5), nn.Flatten()
        )
        self.head = nn.Linear(4 * 4, classes)
        self.double()
        norm: Any = self.body[1]
        norm.running_mean.copy_(torch.randn(4))
        norm.running_var.copy_(torch.rand(4) + 0.5)

    def features(self, x: Tensor) -> Tensor:
        found: Tensor = self.body(x)
        return found

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.features(x))
        return found


def images(n: int, seed: int = 0) -> Tensor:
    return torch.randn(n, 1, 4, 4, dtype=torch.float64, generator=torch.manual_seed(seed))


def gradient(value: Tensor, parameters: Any) -> Tensor:
    """The gradient of a scalar by explicit autograd, as one vector."""
    found = torch.autograd.grad(value, list(parameters), retain_graph=True)
    return torch.cat([one.flatten() for one in found])
