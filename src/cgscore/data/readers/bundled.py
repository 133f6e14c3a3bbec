"""The datasets that ship with scikit-learn, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.columns import encode
from cgscore.data.dataset import Dataset
from cgscore.data.readers.options import ReadOptions
from cgscore.errors import SourceError

if TYPE_CHECKING:
    from PIL.Image import Image

_LOADERS = {
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
    "breast_cancer": "load_breast_cancer",
    "diabetes": "load_diabetes",
}
_IMAGES = {"digits": (8, 8, 16)}  # height, width, and the value of full ink


def read_sklearn(source: str, options: ReadOptions) -> Dataset:
    """One of scikit-learn's own datasets: ``sklearn:digits`` and the like."""
    name = source.removeprefix("sklearn:")
    if name not in _LOADERS:
        raise SourceError(f"There is no {source}. Expected one of: {', '.join(sorted(_LOADERS))}.")
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, _LOADERS[name])(as_frame=True)
    table = options.preprocess == "table" or (options.preprocess == "auto" and name not in _IMAGES)
    X, preprocessing, notes = encode(bunch.data, source, preprocess=table)
    names = getattr(bunch, "target_names", None)
    class_names = None if names is None else {code: str(label) for code, label in enumerate(names)}
    return Dataset(
        X,
        bunch.target.to_numpy(),
        np.arange(len(X)),
        class_names=class_names,
        source=source,
        preprocessing=preprocessing,
        notes=notes,
        pictures=_drawer(bunch.data.to_numpy(), *_IMAGES[name]) if name in _IMAGES else None,
        frame=None if name in _IMAGES else bunch.data,
    )


def _drawer(pixels: NDArray[Any], height: int, width: int, full: int) -> Callable[[int], Image]:
    def draw(position: int) -> Image:
        from PIL import Image as pil

        ink = pixels[position].reshape(height, width) * (255 / full)
        return pil.fromarray(np.clip(ink, 0, 255).astype(np.uint8))

    return draw
