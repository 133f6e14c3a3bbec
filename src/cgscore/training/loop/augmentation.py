"""Images shifted by up to a few pixels and mirrored, a batch at a time."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

PAD = 4  # pixels of black around an image: the paper, appendix on training details


def augmented(images: Tensor, generator: torch.Generator, pad: int = PAD) -> Tensor:
    """Random crops of padded images, each mirrored with probability 1/2.

    Parameters
    ----------
    images : (n, c, h, w) tensor
        Of bytes or numbers; black is 0.
    generator : torch.Generator
        Draws a shift and a side for every image.
    pad : int
        Pixels of 0 added on every side before an image of the old size is cut out.
    """
    n = len(images)
    top, left = torch.randint(2 * pad + 1, (2, n), generator=generator)
    mirrored = torch.randint(2, (n,), generator=generator).bool()
    return moved(images, top, left, mirrored, pad)


def moved(images: Tensor, top: Tensor, left: Tensor, mirrored: Tensor, pad: int = PAD) -> Tensor:
    """Crops whose corners are at (top, left) of the padded images, mirrored where asked for."""
    n, channels, height, width = images.shape
    padded = functional.pad(images, (pad, pad, pad, pad))
    rows = top[:, None] + torch.arange(height)
    columns = torch.arange(width).expand(n, -1)
    columns = left[:, None] + torch.where(mirrored[:, None], width - 1 - columns, columns)
    return padded[
        torch.arange(n)[:, None, None, None],
        torch.arange(channels)[None, :, None, None],
        rows[:, None, :, None],
        columns[:, None, None, :],
    ]
