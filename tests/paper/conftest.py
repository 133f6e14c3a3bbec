"""Small datasets in the formats of the real ones, and a plan that is done in seconds."""

from __future__ import annotations

import gzip
import io
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from cgscore.training import Settings
from cgscore_paper import plans
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan

TRAIN, TEST = 30, 10  # of each class


def digits() -> tuple[Any, Any, Any]:
    """Digits as bytes, class by class: images, labels, and which are for training."""
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == c)[: TRAIN + TEST] for c in range(10)])
    rng = np.random.default_rng(0)
    train = np.tile(np.arange(TRAIN + TEST) < TRAIN, 10)
    order = rng.permutation(len(rows))
    images = (X[rows].reshape(-1, 8, 8) * 15).astype(np.uint8)
    return images[order], y[rows][order].astype(np.uint8), train[order]


def enlarged(image: Any, side: int) -> Any:
    return np.asarray(Image.fromarray(image).resize((side, side)))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``fashion-mnist`` (IDX), ``cifar10`` (Parquet) and ``cscores``."""
    folder = tmp_path_factory.mktemp("data")
    images, labels, train = digits()
    (folder / "fashion-mnist").mkdir()
    for name, part in (("train", train), ("t10k", ~train)):
        pixels = np.stack([enlarged(one, 28) for one in images[part]])
        head = struct.pack(">4B3I", 0, 0, 8, 3, *pixels.shape)
        file = folder / "fashion-mnist" / f"{name}-images-idx3-ubyte.gz"
        file.write_bytes(gzip.compress(head + pixels.tobytes()))
        head = struct.pack(">4BI", 0, 0, 8, 1, part.sum())
        file = folder / "fashion-mnist" / f"{name}-labels-idx1-ubyte.gz"
        file.write_bytes(gzip.compress(head + labels[part].tobytes()))
    (folder / "cifar10").mkdir()
    tint = np.random.default_rng(1).uniform(0.5, 1, (len(images), 1, 1, 3))
    for name, part in (("train", train), ("test", ~train)):
        rows = []
        for image, colour in zip(images[part], tint[part], strict=True):
            held = io.BytesIO()
            coloured = (enlarged(image, 32)[..., None] * colour).astype(np.uint8)
            Image.fromarray(coloured).save(held, "PNG")
            rows.append({"bytes": held.getvalue(), "path": None})
        table = pa.table({"img": rows, "label": labels[part].astype(np.int64)})
        pq.write_table(table, folder / "cifar10" / f"{name}.parquet")
    (folder / "cscores").mkdir()
    np.savez(
        folder / "cscores" / "cifar10-cscores-orig-order.npz",
        scores=np.random.default_rng(2).uniform(0, 1, train.sum()),
        labels=labels[train].astype(np.int64),
    )
    return folder


@pytest.fixture(scope="session")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of cells for all tests of a process, so that each is made once."""
    return tmp_path_factory.mktemp("cells")


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """The desk's plan, made so small that an item takes seconds."""
    tiny = Settings(epochs=2, learning_rate=0.1, batch_size=32, augment=False)
    small = replace(
        plans.PLANS["desk"],
        subset_runs=2,
        examples=200,
        kept=(0.6, 0.3),
        offsets=(0, 50),
        group=5,
        score_training=tiny,
        prune_training=tiny,
    )
    monkeypatch.setitem(plans.PLANS, "desk", small)
    return Plan.named("desk")


@pytest.fixture
def work(data: Path, cells: Path) -> Work:
    """Cells run in this process, one by one."""
    return Work(cells, data)
