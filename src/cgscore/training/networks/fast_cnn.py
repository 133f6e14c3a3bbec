"""A small convolutional network that trains fast on a CPU.

In the style of the speed records for CIFAR-10 (Page, 2018; Jordan, 2024): a first layer that
whitens patches, three blocks of two convolutions, and nothing that costs time without raising the
accuracy. At width 32 an image of 32 x 32 pixels takes 33 million multiplications and additions.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgscore.training.networks.classifier import Classifier, seeded
from cgscore.training.networks.convolution import convolution

PATCH = 2  # side of the patches that the first layer whitens
_MIN_VARIANCE = 5e-4  # added to the variance of each direction of patches of normalised images
_OUTPUT_SCALE = 9.0  # features are divided by it, so that the first logits are small


def fast_cnn(num_classes: int, *, width: int = 32, channels: int = 3, seed: int = 0) -> FastCNN:
    """A network of seven convolutions for small images.

    Parameters
    ----------
    num_classes : int
        Number of outputs.
    width : int
        Channels of the first block; the others have four times as many.
    channels : int
        Channels of an image.
    seed : int
        Seed of the weights.
    """
    return seeded(seed, lambda: FastCNN(num_classes, width, channels))


class FastCNN(Classifier):
    """Whitened patches, three blocks of two 3x3 convolutions, and the maximum over positions.

    The weights of the first layer are set by `initialise` and stay as they are; only its bias is
    trained. Convolutions start as the identity on as many channels as there are.
    """

    whitened: Tensor  # whether the first layer is set

    def __init__(self, num_classes: int, width: int, channels: int) -> None:
        super().__init__()
        patch = channels * PATCH**2
        self.whitening = nn.Conv2d(channels, 2 * patch, PATCH)
        self.whitening.weight.requires_grad_(False)
        nn.init.zeros_(self.whitening.bias)  # type: ignore[arg-type]
        widths = (2 * patch, width, 4 * width, 4 * width)
        self.blocks = nn.Sequential(
            *(_block(inputs, outputs) for inputs, outputs in pairwise(widths))
        )
        self.head = nn.Linear(widths[-1], num_classes, bias=False)
        nn.init.normal_(self.head.weight)
        self.register_buffer("whitened", torch.tensor(False))
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @torch.no_grad()
    def initialise(self, images: Tensor) -> None:
        """Let the first layer whiten patches of these images, unless it was set before.

        Its filters are their principal directions, scaled to unit variance, and the negatives.
        """
        if self.whitened:
            return
        patches = images.unfold(2, PATCH, 1).unfold(3, PATCH, 1)
        rows = patches.permute(0, 2, 3, 1, 4, 5).flatten(0, 2).flatten(1).double()
        variances, directions = torch.linalg.eigh(rows.T @ rows / len(rows))
        filters = (directions / (variances + _MIN_VARIANCE).sqrt()).T
        both = torch.cat([filters, -filters]).view_as(self.whitening.weight)
        self.whitening.weight.copy_(both)
        self.whitened.fill_(True)

    def features(self, x: Tensor) -> Tensor:
        """The largest value of each channel over all positions, scaled."""
        # channels last in memory; `torch.vmap` has no `contiguous` for that
        x = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
        x = self.blocks(functional.gelu(self.whitening(x)))
        return x.amax(dim=(2, 3)) / _OUTPUT_SCALE


def _block(inputs: int, outputs: int) -> nn.Sequential:
    first, second = convolution(inputs, outputs, 3), convolution(outputs, outputs, 3)
    for layer in (first, second):
        nn.init.dirac_(layer.weight.data[: layer.in_channels])
    return nn.Sequential(
        *(first, nn.MaxPool2d(2), nn.BatchNorm2d(outputs), nn.GELU()),
        *(second, nn.BatchNorm2d(outputs), nn.GELU()),
    )
