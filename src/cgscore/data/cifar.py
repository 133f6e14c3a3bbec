"""CIFAR-10 and CIFAR-100 in the python layout: pickled batches, read without running them.

A pickle is a program. The one here may build dictionaries, lists, texts, numbers and arrays of
bytes; anything else it names is refused before it exists. The interpreter is Python's own, written
in Python: its memo is a dictionary, so a large index costs nothing.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.bounded import reading
from cgscore.data.dataset import Dataset
from cgscore.errors import SourceError

_TRAIN = {"cifar-10": [f"data_batch_{i}" for i in range(1, 6)], "cifar-100": ["train"]}
_TEST = {"cifar-10": ["test_batch"], "cifar-100": ["test"]}
_META = {"cifar-10": ("batches.meta", b"label_names"), "cifar-100": ("meta", b"fine_label_names")}
_PIXELS = 3 * 32 * 32
_LARGEST = 1 << 28  # bytes of one batch; the largest published one has 155 MB


def is_cifar_folder(folder: Path) -> bool:
    """Whether a folder holds batches of CIFAR-10 or CIFAR-100."""
    return _kind(folder) is not None


def _kind(folder: Path) -> str | None:
    for kind in ("cifar-10", "cifar-100"):
        if (folder / _META[kind][0]).is_file():
            return kind
    return None


def read_folder(folder: Path, options: dict[str, Any]) -> Dataset:
    """The batches of one split as images; CIFAR-100 with its fine labels unless told otherwise."""
    kind = _kind(folder) or "cifar-10"
    split = options["split"] or "train"
    if split not in ("train", "test"):
        raise SourceError(f"{folder}: split {split!r} is not known. Choose one of: train, test.")
    key = {"cifar-10": "labels", "cifar-100": options["label_column"] or "fine_labels"}[kind]
    images: list[NDArray[np.uint8]] = []
    labels: list[int] = []
    ids: list[Any] = []
    for name in (_TRAIN if split == "train" else _TEST)[kind]:
        path = folder / name
        if not path.is_file():
            raise SourceError(f"{path}, a part of the {split} split, does not exist.")
        batch = unpickle(path)
        pixels, values = batch.get(b"data"), batch.get(key.encode())
        if not isinstance(pixels, np.ndarray) or pixels.ndim != 2 or pixels.shape[1] != _PIXELS:
            raise SourceError(f"{path} has no array 'data' of {_PIXELS:,} numbers per image.")
        if not isinstance(values, list) or not all(isinstance(one, int) for one in values):
            known = ", ".join(
                one.decode(errors="replace") for one in batch if isinstance(one, bytes)
            )
            raise SourceError(f"{path} has no labels {key!r}. It holds {known}.")
        if len(values) != len(pixels):
            raise SourceError(f"{path} has {len(values):,} labels for {len(pixels):,} images.")
        images.append(pixels)
        labels += values
        names = batch.get(b"filenames")
        ids += (
            names if isinstance(names, list) and len(names) == len(values) else [None] * len(values)
        )
    X = np.concatenate(images).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    texts = [one.decode(errors="replace") if isinstance(one, bytes) else "" for one in ids]
    names = _names(folder, kind)
    return Dataset(
        np.ascontiguousarray(X),
        np.array(labels),
        np.array(texts, dtype=object) if len(set(texts)) == len(X) else np.arange(len(X)),
        class_names=dict(enumerate(names)) if key != "coarse_labels" else None,
        image=True,
    )


def _names(folder: Path, kind: str) -> list[str]:
    name, key = _META[kind]
    found = unpickle(folder / name).get(key)
    if not isinstance(found, list) or not all(isinstance(one, bytes) for one in found):
        raise SourceError(f"{folder / name} has no list of class names.")
    return [one.decode(errors="replace") for one in found]


def unpickle(path: Path) -> dict[Any, Any]:
    """The dictionary in a batch file, built of plain values and arrays of bytes only."""
    if path.stat().st_size > _LARGEST:
        raise SourceError(f"{path} is larger than any batch of CIFAR.")
    try:
        with reading(path, "batch of CIFAR"):
            content = _Plain(io.BytesIO(path.read_bytes()), encoding="bytes").load()
    except Refused as error:
        raise SourceError(f"{path} {error}") from None
    if not isinstance(content, dict):
        raise SourceError(f"{path} is not a batch of CIFAR: it holds a {type(content).__name__}.")
    try:
        return {k: one.built() if isinstance(one, _Array) else one for k, one in content.items()}
    except Refused as error:
        raise SourceError(f"{path} {error}") from None


class Refused(SourceError):
    """Something in a pickle that is not a plain value or an array of bytes."""


class _Type:
    """Stands for a numpy dtype in a pickle."""

    def __init__(self, name: object, *_: object) -> None:
        if name not in ("u1", b"u1"):
            raise Refused(f"holds an array of type {name!r}; expected bytes (u1).")

    def __setstate__(self, state: object) -> None:
        """Ignore byte order and alignment: bytes have none."""


class _Array:
    """Stands for a numpy array in a pickle; keeps its bytes and its shape."""

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise Refused("holds an array that numpy did not write.")
        _, shape, kind, by_columns, content = state
        if not isinstance(kind, _Type) or not isinstance(content, bytes):
            raise Refused("holds an array of something other than bytes.")
        if not isinstance(shape, tuple) or not all(isinstance(one, int) for one in shape):
            raise Refused("holds an array without a shape.")
        self._shape, self._content, self._order = shape, content, "F" if by_columns else "C"

    def built(self) -> NDArray[np.uint8]:
        """The array itself."""
        try:
            flat = np.frombuffer(self._content, np.uint8)
            return flat.reshape(self._shape, order="F" if self._order == "F" else "C")
        except (AttributeError, ValueError) as error:
            raise Refused(f"holds an array that is damaged ({error}).") from error


def _new_array(*_: object) -> _Array:
    return _Array()


class _Plain(pickle._Unpickler):
    """Unpickles plain values and arrays of bytes; refuses every other name."""

    def find_class(self, module: str, name: str) -> object:
        """One of the stand-ins above."""
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return _new_array
        if module == "numpy" and name == "ndarray":
            return _Array
        if module == "numpy" and name == "dtype":
            return _Type
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return _encode
        raise Refused(
            f"asks for {module}.{name}, which could run code. Only arrays of bytes, numbers and "
            "texts are read from pickles."
        )


def _encode(text: object, encoding: object) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise Refused("encodes something that is not bytes.")
    return text.encode("latin1")
