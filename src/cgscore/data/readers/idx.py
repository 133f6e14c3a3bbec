"""IDX files, the format of the MNIST family: an images file beside a labels file.

An IDX file is a magic number (two zero bytes, a type code, the number of axes), the length of each
axis as a big-endian 32-bit number, and the values. Both files may be gzipped.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import (
    check_expansion,
    check_member,
    gunzip_exactly,
    gzip_head,
    refuse_size,
)
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import Sample, count_labels, is_large, rows_of_sample, spread
from cgscore.errors import DataError, SourceError

SPLITS = {"train": "train", "test": "t10k"}
_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_MAX_AXES = 4


def is_idx_name(name: str) -> bool:
    """Whether a file name is that of an IDX file."""
    return "-idx" in name and name.removesuffix(".gz").endswith("-ubyte")


def is_idx_folder(folder: Path) -> bool:
    """Whether a folder holds IDX files."""
    return any(is_idx_name(entry.name) for entry in folder.iterdir())


def read_folder(folder: Path, options: ReadOptions) -> Dataset:
    """The pair of images and labels of one split of a folder."""
    return read_images(_images_of(folder, options), options)


def sample_folder(folder: Path, options: ReadOptions) -> Sample | None:
    """Some of the images of one split of a folder; None if they are few."""
    return sample_images(_images_of(folder, options), options)


def _images_of(folder: Path, options: ReadOptions) -> Path:
    split = options.split or "train"
    if split not in SPLITS:
        raise SourceError(f"{folder}: split must be train or test; got {split!r}.")
    paths = sorted(
        entry
        for entry in folder.glob(f"{SPLITS[split]}-images-idx3-ubyte*")
        if entry.name.endswith(("-ubyte", "-ubyte.gz"))
    )
    if not paths:
        raise SourceError(f"{folder} has no {SPLITS[split]}-images-idx3-ubyte, its {split} split.")
    check_member(paths[0], folder)
    return paths[0]


def read_images(path: Path, options: ReadOptions) -> Dataset:
    """An images file with the labels file that belongs to it."""
    if "labels-idx1" in path.name:
        path = path.with_name(path.name.replace("labels-idx1", "images-idx3"))
    X = read_idx(path)
    if X.ndim < 2:
        raise SourceError(f"{path} holds one number per example. Expected images.")
    if X.size == 0:
        raise DataError(f"{path} holds no pixels: its shape is {X.shape}. Expected images.")
    y = None
    if options.labels is None:
        y = read_idx(_labels_of(path))
        if y.ndim != 1 or len(y) != len(X):
            raise SourceError(
                f"{path} holds {len(X):,} images, but its labels file has the shape {y.shape}."
            )
    return Dataset(X, y, np.arange(len(X)), image=X.ndim == 3 and X.dtype == np.uint8)


def sample_images(path: Path, options: ReadOptions) -> Sample | None:
    """Some images of a large file: spread if it is not compressed, else the first ones."""
    if "labels-idx1" in path.name:
        path = path.with_name(path.name.replace("labels-idx1", "images-idx3"))
    dtype, shape, start = _header(path)
    width = math.prod(shape[1:])
    if len(shape) < 2 or not is_large(math.prod(shape)):
        return None
    n, rows = shape[0], min(shape[0], rows_of_sample(width))
    size = start + dtype.itemsize * math.prod(shape)
    if path.suffix == ".gz":
        check_expansion(path, path.stat().st_size, size)
        content = gzip_head(path, start + dtype.itemsize * rows * width)
        X, positions = np.frombuffer(content, dtype, offset=start), np.arange(rows)
        if len(X) < rows * width:
            raise SourceError(f"{path} holds fewer bytes than the {size:,} its header promises.")
    else:
        positions = spread(n, rows)
        X = np.array(np.memmap(path, dtype, "r", start, shape)[positions])
    X = X.reshape(len(positions), *shape[1:]).astype(dtype.newbyteorder("="), copy=False)
    y = None
    if options.labels is None:
        y = read_idx(_labels_of(path))
        if y.shape != (n,):
            raise SourceError(
                f"{path} holds {n:,} images, but its labels file has the shape {y.shape}."
            )
    image = X.ndim == 3 and X.dtype == np.uint8
    dataset = Dataset(X, None if y is None else y[positions], positions, image=image)
    return Sample(dataset, positions, n, None if y is None else count_labels([y], path))


def _labels_of(path: Path) -> Path:
    name = path.name.replace("images-idx3", "labels-idx1")
    stem = name.removesuffix(".gz")
    for candidate in (name, stem, stem + ".gz"):
        labels = path.with_name(candidate)
        if candidate != path.name and labels.exists():
            check_member(labels, path.parent)
            return labels
    raise SourceError(f"{path.with_name(name)}, the labels of {path.name}, does not exist.")


def read_idx(path: Path) -> NDArray[Any]:
    """The array in one IDX file."""
    dtype, shape, start = _header(path)
    packed = path.suffix == ".gz"
    size = start + dtype.itemsize * math.prod(shape)
    refuse_size(path, size)
    content = gunzip_exactly(path, size) if packed else np.fromfile(path, np.uint8)
    values = content[start:].view(dtype).reshape(shape)
    return values.astype(dtype.newbyteorder("="), copy=False)


def _header(path: Path) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Type and shape of the array in an IDX file, and where its values start."""
    packed = path.suffix == ".gz"
    head = _head(path, packed)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES:
        raise SourceError(
            f"{path} is not an IDX file: it starts with {head[:4].hex(' ') or 'nothing'}."
        )
    dtype, axes = np.dtype(_TYPES[head[2]]), head[3]
    start = 4 + 4 * axes
    if not 1 <= axes <= _MAX_AXES or len(head) < start:
        raise SourceError(f"{path} is not an IDX file: its header names {axes} axes.")
    shape = struct.unpack(f">{axes}I", head[4:start])
    size = start + dtype.itemsize * math.prod(shape)
    stored = path.stat().st_size
    if not packed and size != stored:
        raise SourceError(f"{path} holds {stored:,} bytes; its header promises {size:,}.")
    return dtype, shape, start


def _head(path: Path, packed: bool) -> bytes:
    size = 4 + 4 * _MAX_AXES
    if packed:
        return gzip_head(path, size)
    with path.open("rb") as file:
        return file.read(size)
