"""Convolutions as the networks for small images use them."""

from __future__ import annotations

from torch import nn


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution without bias, padded to keep the size of the image at stride 1."""
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)


def initialise_convolutions(model: nn.Module) -> None:
    """Draw the weights of convolutions as He et al. (2015) do; other layers keep torch's."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
