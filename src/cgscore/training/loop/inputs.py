"""Examples as a network reads them: float32, images with channels first and normalised."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from cgscore.errors import DataError
from cgscore.training.loop.augmentation import PADDING, augment
from cgscore.training.networks.scale import Scale

MAX_DEVIATION_RATIO = 20  # between images and scale; bytes and numbers from 0 to 1 differ by 255


class Inputs:
    """n examples, from which batches are drawn.

    Parameters
    ----------
    X : (n, h, w), (n, h, w, c) or (n, c, h, w) images, c of 1 or 3; or (n, p) rows of numbers
        Images may be numbers or bytes (whole numbers from 0 to 255), which are stored as bytes and
        converted batch by batch. Rows are not scaled.
    scale : Scale, optional
        Normalisation of images; by default their own mean and standard deviation.
    name : str
        Name of `X` in messages.
    """

    def __init__(self, X: ArrayLike, *, scale: Scale | None = None, name: str = "X") -> None:
        try:
            given = np.asarray(X)
        except ValueError as error:  # lists of different lengths
            raise DataError(f"{name} is not an array: {error}") from error
        checked = np.asarray(_channels_first(_checked(given, name), name), order="C")
        self.values = torch.from_numpy(checked if checked.flags.writeable else checked.copy())
        self.is_image = self.values.ndim == 4
        self.scale = (scale or Scale.of(self.values)) if self.is_image else None
        if scale is not None and self.is_image:
            _check_range(Scale.of(self.values), scale, name)
        if self.scale and self.values.shape[1] not in (1, len(self.scale.mean)):
            raise DataError(
                f"{name} has images of {self.values.shape[1]} channels. "
                f"Expected {len(self.scale.mean)}."
            )

    def __len__(self) -> int:
        return len(self.values)

    def batch(
        self, rows: Tensor | slice, generator: torch.Generator | None = None, shift: int = PADDING
    ) -> Tensor:
        """The examples at these positions; images are augmented if a generator is given."""
        values = self.values[rows]
        if self.scale is None:
            return values
        return self.scale(values if generator is None else augment(values, generator, shift))


class _UnscaledInputs(Inputs):
    """Examples in the form the network expects; integers become float32."""

    def __init__(self, X: ArrayLike | Tensor) -> None:
        values = X.detach() if isinstance(X, Tensor) else torch.as_tensor(np.asarray(X, order="C"))
        if not values.ndim or not len(values):
            raise DataError(
                f"X has the shape {tuple(values.shape)}. Expected one or more examples."
            )
        self.values = values if values.is_floating_point() else values.float()
        self.is_image, self.scale = False, None


InputsLike: TypeAlias = Inputs | ArrayLike | Tensor


def as_inputs(X: InputsLike) -> Inputs:
    """`X` as `Inputs`; arrays and tensors are used without normalisation."""
    return X if isinstance(X, Inputs) else _UnscaledInputs(X)


def _checked(X: NDArray[Any], name: str) -> NDArray[Any]:
    if X.ndim not in (2, 3, 4) or not X.size or X.dtype.kind not in "buif":
        raise DataError(
            f"{name} is an array of {X.dtype} of the shape {X.shape}. Expected images, (n, h, w) "
            "or with channels, or rows of numbers, (n, p)."
        )
    if X.ndim > 2 and X.dtype.kind in "iu" and X.min() >= 0 and X.max() <= 255:
        return X.astype(np.uint8, copy=False)
    values = X.astype(np.float32, copy=False)
    wrong = ~np.isfinite(values.reshape(len(X), -1)).all(axis=1)
    if wrong.any():
        raise DataError(
            f"{name} has values that are not finite in {wrong.sum():,} examples, the first at "
            f"position {np.flatnonzero(wrong)[0]}. Expected finite numbers."
        )
    return values


def _check_range(measured: Scale, scale: Scale, name: str) -> None:
    """Reject images whose range of values differs from that of the images behind `scale`."""
    ratio = np.mean(measured.deviation) / np.mean(scale.deviation)
    if not 1 / MAX_DEVIATION_RATIO < ratio < MAX_DEVIATION_RATIO:
        raise DataError(
            f"{name} has a standard deviation of {np.mean(measured.deviation):.3g}, and the images "
            f"of the network one of {np.mean(scale.deviation):.3g}. Give both as bytes, or both as "
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
        moved: NDArray[Any] = X.transpose(0, 3, 1, 2)
        return moved
    raise DataError(f"{name} has the shape {X.shape}. Expected 1 or 3 channels, first or last.")
