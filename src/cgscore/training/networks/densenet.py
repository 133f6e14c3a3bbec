"""DenseNet-BC for small images (Huang et al., 2017)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from cgscore.training.networks.classifier import Classifier, seeded
from cgscore.training.networks.convolution import convolution, initialise_convolutions


def densenet_bc100(
    num_classes: int, *, width: int = 12, channels: int = 3, seed: int = 0
) -> DenseNet:
    """DenseNet-BC of 100 layers.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    width : int
        Growth rate k: the channels that each layer adds.
    channels : int
        Channels of an image.
    seed : int
        Seed of the weights.
    """
    return seeded(seed, lambda: DenseNet(16, num_classes, width, channels))


class DenseNet(Classifier):
    """Three dense blocks of `depth` layers with bottlenecks; channels are halved between blocks."""

    def __init__(self, depth: int, num_classes: int, growth: int, channels: int) -> None:
        super().__init__()
        width = 2 * growth
        layers: list[nn.Module] = [convolution(channels, width, 3)]
        for block in range(3):
            if block:
                layers += [
                    *(nn.BatchNorm2d(width), nn.ReLU(), convolution(width, width // 2, 1)),
                    nn.AvgPool2d(2),
                ]
                width //= 2
            for _ in range(depth):
                layers.append(_DenseLayer(width, growth))
                width += growth
        self.layers = nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU())
        self.head = nn.Linear(width, num_classes)
        initialise_convolutions(self)

    def features(self, x: Tensor) -> Tensor:
        """The last feature map, averaged over positions."""
        return cast(Tensor, self.layers(x)).mean(dim=(2, 3))


class _DenseLayer(nn.Module):
    """Appends `growth` new channels to those of the input."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        inner = 4 * growth
        self.body = nn.Sequential(
            *(nn.BatchNorm2d(inputs), nn.ReLU(), convolution(inputs, inner, 1)),
            *(nn.BatchNorm2d(inner), nn.ReLU(), convolution(inner, growth, 3)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], dim=1)
