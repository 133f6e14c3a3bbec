"""How images are normalised before a network sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

_CHUNK = 1024  # images whose mean is computed at a time


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of each channel; bytes count as numbers from 0 to 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def of(cls, images: Tensor) -> Scale:
        """The scale of (n, c, h, w) images; the deviation of a constant channel is set to 1."""
        count = images.numel() / images.shape[1]
        zero = torch.zeros(images.shape[1], dtype=torch.float64)
        mean = sum((part.sum(dim=(0, 2, 3)) for part in _chunks(images)), zero) / count
        centre = mean[:, None, None]
        squares = ((part - centre).square().sum(dim=(0, 2, 3)) for part in _chunks(images))
        deviation = (sum(squares, zero) / count).sqrt()
        varies = deviation > 1e-7 * mean.abs()  # more than by rounding
        return cls(tuple(mean.tolist()), tuple(deviation.where(varies, 1.0).tolist()))

    def __call__(self, images: Tensor) -> Tensor:
        """Images minus the mean, divided by the deviation."""
        mean, deviation = (
            torch.tensor(values)[:, None, None] for values in (self.mean, self.deviation)
        )
        return (_as_float(images) - mean) / deviation


def _as_float(images: Tensor) -> Tensor:
    return images.float() / 255 if images.dtype == torch.uint8 else images


def _chunks(images: Tensor) -> Iterator[Tensor]:
    """Images as float64, a part of them at a time."""
    for start in range(0, len(images), _CHUNK):
        yield _as_float(images[start : start + _CHUNK]).double()
