"""Examples as a network sees them: float32, images with channels first and normalised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from cgscore.errors import DataError
from cgscore.training.loop.augmentation import augmented

_TOGETHER = 1024  # images whose mean is taken at a time
_RANGE = 20  # times that deviations may differ; bytes and numbers from 0 to 1 differ by 255


@dataclass(frozen=True)
class Scale:
    """What is taken from every channel, and what it is divided by; bytes count from 0 to 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def of(cls, images: Tensor) -> Scale:
        """Mean and standard deviation of the channels; 1 where a channel does not vary."""
        count = images.numel() / images.shape[1]
        zero = torch.zeros(images.shape[1], dtype=torch.float64)
        mean = sum((part.sum(dim=(0, 2, 3)) for part in _parts(images)), zero) / count
        centre = mean[:, None, None]
        squares = ((part - centre).square().sum(dim=(0, 2, 3)) for part in _parts(images))
        deviation = (sum(squares, zero) / count).sqrt()
        varies = deviation > 1e-7 * mean.abs()  # more than by rounding
        return cls(tuple(mean.tolist()), tuple(deviation.where(varies, 1.0).tolist()))

    def __call__(self, images: Tensor) -> Tensor:
        """Normalised images."""
        mean, deviation = (
            torch.tensor(values)[:, None, None] for values in (self.mean, self.deviation)
        )
        return (_numbers(images) - mean) / deviation


class Inputs:
    """n examples, of which batches are made.

    Parameters
    ----------
    X : (n, h, w), (n, h, w, c) or (n, c, h, w) images, c of 1 or 3; or (n, p) rows of numbers
        Images may be bytes (whole numbers from 0 to 255), which stay bytes until a batch is made,
        or numbers. Rows are taken as they are.
    scale : Scale, optional
        For images; by default that of these images.
    name : str
        Of `X` in messages.
    """

    def __init__(self, X: ArrayLike, *, scale: Scale | None = None, name: str = "X") -> None:
        try:
            given = np.asarray(X)
        except ValueError as error:  # lists of different lengths
            raise DataError(f"{name} is no array: {error}") from error
        checked = np.asarray(_channels_first(_checked(given, name), name), order="C")
        own = checked if checked.flags.writeable else checked.copy()
        self.values = torch.from_numpy(own)
        self.is_image = self.values.ndim == 4
        self.scale = (scale or Scale.of(self.values)) if self.is_image else None
        if scale is not None and self.is_image:
            _refuse_range(Scale.of(self.values), scale, name)
        if self.scale and self.values.shape[1] not in (1, len(self.scale.mean)):
            raise DataError(
                f"{name} has images of {self.values.shape[1]} channels. "
                f"Expected {len(self.scale.mean)}."
            )

    def __len__(self) -> int:
        return len(self.values)

    def batch(self, rows: Tensor | slice, generator: torch.Generator | None = None) -> Tensor:
        """The examples at these positions; images are augmented if there is a generator."""
        values = self.values[rows]
        if self.scale is None:
            return values
        return self.scale(values if generator is None else augmented(values, generator))


class _Ready(Inputs):
    """Examples that are already what a network takes; integers become float32."""

    def __init__(self, X: ArrayLike | Tensor) -> None:
        values = X.detach() if isinstance(X, Tensor) else torch.as_tensor(np.asarray(X, order="C"))
        if not values.ndim or not len(values):
            raise DataError(f"X has the shape {tuple(values.shape)}. Expected examples.")
        self.values = values if values.is_floating_point() else values.float()
        self.is_image, self.scale = False, None


Given: TypeAlias = Inputs | ArrayLike | Tensor


def as_inputs(X: Given) -> Inputs:
    """`Inputs`, or arrays and tensors as what a network takes."""
    return X if isinstance(X, Inputs) else _Ready(X)


def _numbers(images: Tensor) -> Tensor:
    return images.float() / 255 if images.dtype == torch.uint8 else images


def _parts(images: Tensor) -> Iterator[Tensor]:
    """Images as float64, some at a time."""
    for start in range(0, len(images), _TOGETHER):
        yield _numbers(images[start : start + _TOGETHER]).double()


def _checked(X: NDArray[Any], name: str) -> NDArray[Any]:
    if X.ndim not in (2, 3, 4) or not X.size or X.dtype.kind not in "buif":
        raise DataError(
            f"{name} is an array of {X.dtype} of the shape {X.shape}. Expected images, (n, h, w) "
            "or with channels, or rows of numbers, (n, p)."
        )
    if X.ndim > 2 and X.dtype.kind in "iu" and X.min() >= 0 and X.max() <= 255:
        return X.astype(np.uint8, copy=False)
    found = X.astype(np.float32, copy=False)
    wrong = ~np.isfinite(found.reshape(len(X), -1)).all(axis=1)
    if wrong.any():
        raise DataError(
            f"{name} has values that are not finite in {wrong.sum():,} examples, the first is "
            f"{np.flatnonzero(wrong)[0]}."
        )
    return found


def _refuse_range(own: Scale, scale: Scale, name: str) -> None:
    """Refuse images of another range of values than those that the scale is of."""
    ratio = np.mean(own.deviation) / np.mean(scale.deviation)
    if not 1 / _RANGE < ratio < _RANGE:
        raise DataError(
            f"{name} has values that vary by {np.mean(own.deviation):.3g}, and the network knows "
            f"images that vary by {np.mean(scale.deviation):.3g}. Give both as bytes, or both as "
            "numbers from 0 to 1."
        )


def _channels_first(X: NDArray[Any], name: str) -> NDArray[Any]:
    if X.ndim == 2:
        return X
    if X.ndim == 3:
        return X[:, None]
    if X.shape[1] in (1, 3):
        return X
    if X.shape[3] in (1, 3):
        found: NDArray[Any] = X.transpose(0, 3, 1, 2)
        return found
    raise DataError(f"{name} has the shape {X.shape}. Expected 1 or 3 channels, first or last.")
