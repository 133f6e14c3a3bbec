"""Objects in memory other than arrays and tables: sparse matrices, torch and Lightning data.

None of their libraries is imported here: the type of an object says where it comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.readers.bounded import refuse_size
from cgscore.errors import DataError, SourceError


def is_sparse(source: Any) -> bool:
    """Whether an object is a matrix or array of scipy.sparse."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "toarray")


def from_sparse(source: Any) -> Dataset:
    """A sparse matrix, written out."""
    if len(source.shape) != 2:
        raise DataError(f"The sparse array has the shape {source.shape}. Expected (n, p).")
    refuse_size("The sparse matrix", int(np.prod(source.shape)) * source.dtype.itemsize)
    return in_memory(source.toarray(), None, "sparse matrix")


def is_torch(source: Any) -> bool:
    """Whether an object is a tensor or a dataset of torch."""
    return any(kind.__module__.split(".")[0] == "torch" for kind in type(source).__mro__)


def from_torch(source: Any) -> Dataset:
    """A tensor, or a map-style dataset of (input, label) pairs."""
    if hasattr(source, "detach"):
        return in_memory(as_array(source), None, "torch tensor")
    if hasattr(source, "tensors"):  # TensorDataset
        X, *rest = map(as_array, source.tensors)
        return in_memory(X, rest[0] if rest else None, "torch dataset")
    if not (hasattr(source, "__len__") and hasattr(source, "__getitem__")):
        raise SourceError(
            f"A {type(source).__name__} gives its examples one after the other; scoring needs a "
            "dataset with a length, that can be indexed."
        )
    X, y = None, []
    for i in range(len(source)):
        item = source[i]
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise SourceError(
                f"Example {i} of the torch dataset is a {type(item).__name__}. "
                "Expected a pair of input and label."
            )
        example = as_array(item[0])
        if X is None:
            refuse_size("The torch dataset", len(source) * example.nbytes)
            X = np.empty((len(source), *example.shape), example.dtype)
        if example.shape != X.shape[1:]:
            raise DataError(
                f"Example {i} of the torch dataset has the shape {example.shape}, "
                f"the first one {X.shape[1:]}. Expected one shape."
            )
        X[i] = example
        y.append(item[1].item() if hasattr(item[1], "item") else item[1])
    if X is None:
        raise DataError("The torch dataset is empty.")
    return in_memory(X, y, "torch dataset")


def is_lightning(source: Any) -> bool:
    """Whether an object is a data module of Lightning."""
    return any(kind.__name__ == "LightningDataModule" for kind in type(source).__mro__)


def training_loader(module: Any) -> Any:
    """The loader of a data module's training data; the module is set up only if it is not yet.

    A module that splits at random in `setup` would otherwise split anew each time.
    """
    try:
        loader = module.train_dataloader()
    except Exception:  # whatever a module does that is not set up
        module.prepare_data()
        module.setup("fit")
        loader = module.train_dataloader()
    if not hasattr(loader, "dataset"):
        raise SourceError(
            f"{type(module).__name__}.train_dataloader() gives a {type(loader).__name__}. "
            "Expected one DataLoader; score its datasets one by one."
        )
    return loader


def from_lightning(module: Any) -> Dataset:
    """The training data of a data module."""
    return from_torch(training_loader(module).dataset)


def as_array(value: Any) -> Any:
    """A tensor, picture or array as an array of numpy."""
    return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
