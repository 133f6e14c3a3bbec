"""The networks of the paper, for small images.

Every one of them is a `Classifier`: `features` gives the layer before the last, `head` is the last.
Weights at the start follow from `seed` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

Model = TypeVar("Model", bound=nn.Module)


class Classifier(nn.Module, ABC):
    """A network whose last layer is linear."""

    head: nn.Linear

    @abstractmethod
    def features(self, x: Tensor) -> Tensor:
        """The layer before the last: (n, c) for n inputs."""

    def forward(self, x: Tensor) -> Tensor:
        """What `head` makes of the features: (n, k)."""
        return cast(Tensor, self.head(self.features(x)))


def resnet18(num_classes: int, *, width: int = 64, channels: int = 3, seed: int = 0) -> ResNet:
    """ResNet-18 for small images.

    Parameters
    ----------
    num_classes : int
        Outputs.
    width : int
        Channels of the first stage; every later stage has twice as many as the one before.
    channels : int
        Channels of an image.
    seed : int
        Of the weights.
    """
    return seeded(seed, lambda: ResNet(_Basic, (2, 2, 2, 2), num_classes, width, channels))


def resnet50(num_classes: int, *, width: int = 64, channels: int = 3, seed: int = 0) -> ResNet:
    """ResNet-50 for small images; see `resnet18` for the parameters."""
    return seeded(seed, lambda: ResNet(_Bottleneck, (3, 4, 6, 3), num_classes, width, channels))


def densenet_bc100(
    num_classes: int, *, width: int = 12, channels: int = 3, seed: int = 0
) -> DenseNet:
    """DenseNet-BC of 100 layers; `width` is its growth rate k."""
    return seeded(seed, lambda: DenseNet(16, num_classes, width, channels))


class ResNet(Classifier):
    """A residual network that starts with one 3x3 convolution of stride 1 and no pooling.

    Otherwise as torchvision has it: the stride of a bottleneck is that of its 3x3 convolution.
    """

    def __init__(
        self,
        block: type[_Basic] | type[_Bottleneck],
        depths: tuple[int, ...],
        num_classes: int,
        width: int,
        channels: int,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(_convolution(channels, width, 3), nn.BatchNorm2d(width))
        stages, now = [], width
        for i, depth in enumerate(depths):
            inner = width * 2**i
            blocks = []
            for j in range(depth):
                blocks.append(block(now, inner, stride=2 if i and not j else 1))
                now = inner * block.expansion
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(now, num_classes)
        _initialise(self)

    def features(self, x: Tensor) -> Tensor:
        """The last feature map, averaged over positions."""
        x = self.stages(functional.relu(self.stem(x)))
        return x.mean(dim=(2, 3))


class DenseNet(Classifier):
    """Three dense blocks with bottlenecks, and half of the channels between them."""

    def __init__(self, depth: int, num_classes: int, growth: int, channels: int) -> None:
        super().__init__()
        now = 2 * growth
        layers: list[nn.Module] = [_convolution(channels, now, 3)]
        for block in range(3):
            if block:
                layers += [
                    *(nn.BatchNorm2d(now), nn.ReLU(), _convolution(now, now // 2, 1)),
                    nn.AvgPool2d(2),
                ]
                now //= 2
            for _ in range(depth):
                layers.append(_Dense(now, growth))
                now += growth
        self.layers = nn.Sequential(*layers, nn.BatchNorm2d(now), nn.ReLU())
        self.head = nn.Linear(now, num_classes)
        _initialise(self)

    def features(self, x: Tensor) -> Tensor:
        """The last feature map, averaged over positions."""
        return cast(Tensor, self.layers(x)).mean(dim=(2, 3))


class _Basic(nn.Module):
    """Two 3x3 convolutions around which the input is added."""

    expansion = 1

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(_convolution(inputs, inner, 3, stride), nn.BatchNorm2d(inner), nn.ReLU()),
            *(_convolution(inner, inner, 3), nn.BatchNorm2d(inner)),
        )
        self.shortcut = _shortcut(inputs, inner, stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


class _Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1 ones, around which the input is added."""

    expansion = 4

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = inner * self.expansion
        self.body = nn.Sequential(
            *(_convolution(inputs, inner, 1), nn.BatchNorm2d(inner), nn.ReLU()),
            *(_convolution(inner, inner, 3, stride), nn.BatchNorm2d(inner), nn.ReLU()),
            *(_convolution(inner, outputs, 1), nn.BatchNorm2d(outputs)),
        )
        self.shortcut = _shortcut(inputs, outputs, stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


class _Dense(nn.Module):
    """New channels beside those that came in."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        inner = 4 * growth
        self.body = nn.Sequential(
            *(nn.BatchNorm2d(inputs), nn.ReLU(), _convolution(inputs, inner, 1)),
            *(nn.BatchNorm2d(inner), nn.ReLU(), _convolution(inner, growth, 3)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], dim=1)


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(_convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


def _initialise(model: nn.Module) -> None:
    """Convolutions as He et al. (2015) have them; the rest as torch does."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")


def seeded(seed: int, build: Callable[[], Model]) -> Model:
    """What `build` gives with torch's generator at `seed`; the generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return build()
