"""Random shifts and mirror images, for a batch at a time."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

PADDING = 4  # pixels of black around an image: the paper, appendix on training details


def augment(images: Tensor, generator: torch.Generator, padding: int = PADDING) -> Tensor:
    """Random crops of padded images, each mirrored with probability 1/2.

    Parameters
    ----------
    images : (n, c, h, w) tensor
        Bytes or numbers; black is 0.
    generator : torch.Generator
        Draws a shift and an orientation for each image.
    padding : int
        Pixels of 0 added on every side before a crop of the original size is taken.
    """
    n = len(images)
    top, left = torch.randint(2 * padding + 1, (2, n), generator=generator)
    mirrored = torch.randint(2, (n,), generator=generator).bool()
    return crop(images, top, left, mirrored, padding)


def crop(
    images: Tensor, top: Tensor, left: Tensor, mirrored: Tensor, padding: int = PADDING
) -> Tensor:
    """Crops whose corners are at (top, left) of the padded images, mirrored where `mirrored`."""
    n, channels, height, width = images.shape
    padded = functional.pad(images, (padding, padding, padding, padding))
    rows = top[:, None] + torch.arange(height)
    columns = torch.arange(width).expand(n, -1)
    columns = left[:, None] + torch.where(mirrored[:, None], width - 1 - columns, columns)
    return padded[
        torch.arange(n)[:, None, None, None],
        torch.arange(channels)[None, :, None, None],
        rows[:, None, :, None],
        columns[:, None, None, :],
    ]
