"""Small datasets in the formats of the real ones, for tests and for `check_jobs`.

The images are scikit-learn's digits: `TRAIN` training and `TEST` test images of each of ten
classes. They stand for Fashion-MNIST as IDX files of 28 x 28 pixels, and for CIFAR-10 as Parquet
files of 32 x 32 coloured pixels with random C-scores.
"""

from __future__ import annotations

import gzip
import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image
from sklearn.datasets import load_digits

TRAIN, TEST = 30, 10  # images of each class

Pixels = NDArray[np.uint8]


def write_sample_data(folder: Path) -> None:
    """Write ``fashion-mnist`` (IDX), ``cifar10`` (Parquet) and ``cscores`` to a folder."""
    images, labels, train = _digits()
    _write_fashion_mnist(folder / "fashion-mnist", images, labels, train)
    _write_cifar_10(folder / "cifar10", images, labels, train)
    (folder / "cscores").mkdir()
    np.savez(
        folder / "cscores" / "cifar10-cscores-orig-order.npz",
        scores=np.random.default_rng(2).uniform(0, 1, train.sum()),
        labels=labels[train].astype(np.int64),
    )


def _digits() -> tuple[Pixels, Pixels, NDArray[np.bool_]]:
    """Digits as bytes in a random order: images, labels, and which are for training."""
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == c)[: TRAIN + TEST] for c in range(10)])
    train = np.tile(np.arange(TRAIN + TEST) < TRAIN, 10)
    order = np.random.default_rng(0).permutation(len(rows))
    images = (X[rows].reshape(-1, 8, 8) * 15).astype(np.uint8)
    return images[order], y[rows][order].astype(np.uint8), train[order]


def _write_fashion_mnist(
    folder: Path, images: Pixels, labels: Pixels, train: NDArray[np.bool_]
) -> None:
    folder.mkdir()
    for split, part in (("train", train), ("t10k", ~train)):
        pixels = np.stack([_enlarged(image, 28) for image in images[part]])
        for kind, values in (("images-idx3", pixels), ("labels-idx1", labels[part])):
            head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
            path = folder / f"{split}-{kind}-ubyte.gz"
            path.write_bytes(gzip.compress(head + values.tobytes(), mtime=0))


def _write_cifar_10(folder: Path, images: Pixels, labels: Pixels, train: NDArray[np.bool_]) -> None:
    folder.mkdir()
    tint = np.random.default_rng(1).uniform(0.5, 1, (len(images), 1, 1, 3))
    for split, part in (("train", train), ("test", ~train)):
        rows: list[dict[str, Any]] = []
        for image, colour in zip(images[part], tint[part], strict=True):
            buffer = io.BytesIO()
            coloured = (_enlarged(image, 32)[..., None] * colour).astype(np.uint8)
            Image.fromarray(coloured).save(buffer, "PNG")
            rows.append({"bytes": buffer.getvalue(), "path": None})
        table = pa.table({"img": rows, "label": labels[part].astype(np.int64)})
        pq.write_table(table, folder / f"{split}.parquet")


def _enlarged(image: Pixels, side: int) -> Pixels:
    return np.asarray(Image.fromarray(image).resize((side, side)))
