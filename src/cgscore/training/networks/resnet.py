"""Residual networks for small images (He et al., 2016)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from cgscore.training.networks.classifier import Classifier, seeded
from cgscore.training.networks.convolution import convolution, initialise_convolutions


def resnet18(num_classes: int, *, width: int = 64, channels: int = 3, seed: int = 0) -> ResNet:
    """ResNet-18 for small images.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    width : int
        Channels of the first stage; each later stage has twice as many as the previous one.
    channels : int
        Channels of an image.
    seed : int
        Seed of the weights.
    """
    return seeded(seed, lambda: ResNet(_BasicBlock, (2, 2, 2, 2), num_classes, width, channels))


def resnet50(num_classes: int, *, width: int = 64, channels: int = 3, seed: int = 0) -> ResNet:
    """ResNet-50 for small images; see `resnet18` for the parameters."""
    return seeded(
        seed, lambda: ResNet(_BottleneckBlock, (3, 4, 6, 3), num_classes, width, channels)
    )


class ResNet(Classifier):
    """A residual network that starts with one 3x3 convolution of stride 1 and no pooling.

    Otherwise as in torchvision: a bottleneck has its stride in the 3x3 convolution.
    """

    def __init__(
        self,
        block: type[_BasicBlock] | type[_BottleneckBlock],
        depths: tuple[int, ...],
        num_classes: int,
        width: int,
        channels: int,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(channels, width, 3), nn.BatchNorm2d(width))
        stages, inputs = [], width
        for i, depth in enumerate(depths):
            inner = width * 2**i
            blocks = []
            for j in range(depth):
                blocks.append(block(inputs, inner, stride=2 if i and not j else 1))
                inputs = inner * block.expansion
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(inputs, num_classes)
        initialise_convolutions(self)

    def features(self, x: Tensor) -> Tensor:
        """The last feature map, averaged over positions."""
        x = self.stages(functional.relu(self.stem(x)))
        return x.mean(dim=(2, 3))


class _BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut around them."""

    expansion = 1

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(convolution(inputs, inner, 3, stride), nn.BatchNorm2d(inner), nn.ReLU()),
            *(convolution(inner, inner, 3), nn.BatchNorm2d(inner)),
        )
        self.shortcut = _shortcut(inputs, inner, stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


class _BottleneckBlock(nn.Module):
    """A 3x3 convolution between two of 1x1, and a shortcut around them."""

    expansion = 4

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = inner * self.expansion
        self.body = nn.Sequential(
            *(convolution(inputs, inner, 1), nn.BatchNorm2d(inner), nn.ReLU()),
            *(convolution(inner, inner, 3, stride), nn.BatchNorm2d(inner), nn.ReLU()),
            *(convolution(inner, outputs, 1), nn.BatchNorm2d(outputs)),
        )
        self.shortcut = _shortcut(inputs, outputs, stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
