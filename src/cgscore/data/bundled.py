"""The datasets that ship with scikit-learn, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset
from cgscore.data.tables import encode
from cgscore.errors import SourceError

_LOADERS = {
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
    "breast_cancer": "load_breast_cancer",
    "diabetes": "load_diabetes",
}
_IMAGES = ("digits",)


def read_sklearn(source: str, options: dict[str, Any]) -> Dataset:
    """One of scikit-learn's own datasets: ``sklearn:digits`` and the like."""
    name = source.removeprefix("sklearn:")
    if name not in _LOADERS:
        raise SourceError(f"{source} is not known. There are: {', '.join(sorted(_LOADERS))}.")
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, _LOADERS[name])(as_frame=True)
    table = options["preprocess"] == "table" or (
        options["preprocess"] == "auto" and name not in _IMAGES
    )
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
    )
