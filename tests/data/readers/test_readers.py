"""Every reader through one contract, on files written by the libraries that usually write them."""

from __future__ import annotations

import gzip
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.data.readers.workbooks import write_workbook

import cgscore
from cgscore import Dataset

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(0, 256, (24, 5)).astype(np.float64)
GREY = RNG.integers(0, 256, (24, 6, 5), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (24, 32, 32, 3), dtype=np.uint8)
CODES = np.arange(24) % 3
NAMES = ["cat", "dog", "lynx"]
WORDS = np.array(NAMES, dtype=object)[CODES]


@dataclass(frozen=True)
class Made:
    """A source, and what should come out of it."""

    source: Any
    X: Any
    y: Any
    ids: Any = None
    class_names: dict[int, str] | None = None
    picture: bool = False
    options: dict[str, Any] | None = None

    def read(self) -> Dataset:
        return cgscore.read(self.source, **(self.options or {}))


def numpy_archive(folder: Path) -> Made:
    np.savez_compressed(folder / "d.npz", X=NUMBERS, y=WORDS.astype(str))
    return Made(folder / "d.npz", NUMBERS, WORDS)


def numpy_array(folder: Path) -> Made:
    np.save(folder / "d.npy", GREY)
    np.save(folder / "y.npy", CODES)
    return Made(folder / "d.npy", GREY, CODES, options={"labels": folder / "y.npy"})


def table(folder: Path, write: Callable[[pd.DataFrame, Path], object], name: str) -> Made:
    frame = (
        pd.DataFrame(NUMBERS).add_prefix("x").assign(id=[f"n{i}" for i in range(24)], label=WORDS)
    )
    write(frame, folder / name)
    return Made(
        folder / name,
        NUMBERS,
        WORDS,
        ids=[f"n{i}" for i in range(24)],
        options={"preprocess": "none", "id_column": "id"},
    )


def csv(folder: Path) -> Made:
    return table(folder, lambda frame, path: frame.to_csv(path, index=False), "d.csv")


def parquet(folder: Path) -> Made:
    return table(folder, lambda frame, path: frame.to_parquet(path), "d.parquet")


def feather(folder: Path) -> Made:
    return table(folder, lambda frame, path: frame.to_feather(path), "d.feather")


def json_lines(folder: Path) -> Made:
    return table(
        folder, lambda frame, path: frame.to_json(path, orient="records", lines=True), "d.jsonl"
    )


def json_list(folder: Path) -> Made:
    return table(folder, lambda frame, path: frame.to_json(path, orient="records"), "d.json")


def workbook(folder: Path) -> Made:
    def write(frame: pd.DataFrame, path: Path) -> object:
        return write_workbook(path, [list(frame), *frame.to_numpy().tolist()])

    made = table(folder, write, "d.xlsx")
    return replace(made, X=NUMBERS.astype(np.int64))  # a sheet has one type of numbers


def arff(folder: Path) -> Made:
    def write(frame: pd.DataFrame, path: Path) -> object:
        kinds = {"id": "string", "label": f"{{{','.join(NAMES)}}}"}
        head = [f"@attribute {name} {kinds.get(str(name), 'numeric')}" for name in frame]
        rows = frame.to_csv(index=False, header=False)
        return path.write_text("\n".join(["@relation r", *head, "@data", rows]))

    made = table(folder, write, "d.arff")
    return replace(made, X=NUMBERS.astype(np.int64))


def parquet_of_images(folder: Path) -> Made:
    import datasets

    features = datasets.Features(
        {"img": datasets.Image(), "label": datasets.ClassLabel(names=NAMES)}
    )
    rows = {"img": [Image.fromarray(one) for one in COLOUR], "label": CODES.tolist()}
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "d.parquet")
    return Made(
        folder / "d.parquet", COLOUR, CODES, class_names=dict(enumerate(NAMES)), picture=True
    )


def saved_dataset(folder: Path) -> Made:
    import datasets

    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=NAMES)}
    )
    rows = {"image": [Image.fromarray(one) for one in COLOUR], "label": CODES.tolist()}
    made = datasets.Dataset.from_dict(rows, features=features)
    datasets.DatasetDict({"train": made, "test": made.select(range(3))}).save_to_disk(folder / "d")
    return Made(folder / "d", COLOUR, CODES, class_names=dict(enumerate(NAMES)), picture=True)


def dataset_in_memory(folder: Path) -> Made:
    import datasets

    made = datasets.Dataset.from_dict({"features": NUMBERS.tolist(), "target": WORDS.tolist()})
    shuffled = made.select(list(range(23, -1, -1))).select(list(range(23, -1, -1)))
    return Made(shuffled, NUMBERS, WORDS)


def idx_pair(folder: Path) -> Made:
    for name, values in (("images-idx3", GREY), ("labels-idx1", CODES.astype(np.uint8))):
        head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (folder / f"train-{name}-ubyte").write_bytes(head + values.tobytes())
        with gzip.open(folder / f"t10k-{name}-ubyte.gz", "wb") as file:
            file.write(head + values.tobytes())
    return Made(folder, GREY, CODES, picture=True)


def idx_file(folder: Path) -> Made:
    idx_pair(folder)
    return Made(folder / "t10k-images-idx3-ubyte.gz", GREY, CODES, picture=True)


def cifar10(folder: Path) -> Made:
    flat = COLOUR.transpose(0, 3, 1, 2).reshape(24, -1)
    ids = [f"image_{i}.png" for i in range(24)]
    for part in range(5):
        rows = slice(part * 5, part * 5 + 5) if part < 4 else slice(20, 24)
        batch = {
            b"data": flat[rows],
            b"labels": CODES[rows].tolist(),
            b"filenames": [one.encode() for one in ids[rows]],
            b"batch_label": b"a batch",
        }
        (folder / f"data_batch_{part + 1}").write_bytes(pickle.dumps(batch, protocol=2))
    meta = {b"label_names": [one.encode() for one in NAMES], b"num_vis": 3072}
    (folder / "batches.meta").write_bytes(pickle.dumps(meta, protocol=2))
    names = dict(enumerate(NAMES))
    return Made(folder, COLOUR, CODES, ids=ids, class_names=names, picture=True)


def cifar100(folder: Path) -> Made:
    flat = COLOUR.transpose(0, 3, 1, 2).reshape(24, -1)
    batch = {b"data": flat, b"fine_labels": CODES.tolist(), b"coarse_labels": [0] * 24}
    (folder / "train").write_bytes(pickle.dumps(batch))
    (folder / "meta").write_bytes(
        pickle.dumps({b"fine_label_names": [one.encode() for one in NAMES]}, protocol=2)
    )
    return Made(folder, COLOUR, CODES, class_names=dict(enumerate(NAMES)), picture=True)


def image_folder(folder: Path) -> Made:
    names = [f"{WORDS[i]}/deep/{i:02}.png" for i in range(24)]
    for name, pixels in zip(names, COLOUR, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / name)
    order = np.argsort(names)
    return Made(folder, COLOUR[order], WORDS[order], ids=[names[i] for i in order], picture=True)


def split_folder(folder: Path) -> Made:
    image_folder(folder / "train")
    image_folder(folder / "test")
    made = image_folder(folder / "val")
    return Made(folder, made.X, made.y, made.ids, picture=True, options={"split": "test"})


def sparse(folder: Path) -> Made:
    from scipy.sparse import csr_array

    return Made(csr_array(NUMBERS), NUMBERS, CODES, options={"labels": CODES})


def arrow_table(folder: Path) -> Made:
    import pyarrow as pa

    made = pa.table(
        {"a": NUMBERS[:, 0], "b": NUMBERS[:, 1], "label": pa.array(WORDS).dictionary_encode()}
    )
    return Made(made, NUMBERS[:, :2], WORDS, options={"preprocess": "none"})


def tensor(folder: Path) -> Made:
    import torch

    made = torch.tensor(NUMBERS, requires_grad=True)
    return Made(made, NUMBERS, CODES, options={"labels": torch.tensor(CODES)})


def tensor_dataset(folder: Path) -> Made:
    import torch
    from torch.utils.data import TensorDataset

    return Made(TensorDataset(torch.tensor(NUMBERS), torch.tensor(CODES)), NUMBERS, CODES)


def map_dataset(folder: Path) -> Made:
    import torch
    from torch.utils.data import Dataset as TorchDataset

    class Pairs(TorchDataset[Any]):
        def __len__(self) -> int:
            return 24

        def __getitem__(self, i: int) -> Any:
            return torch.tensor(GREY[i]), int(CODES[i])

    return Made(Pairs(), GREY, CODES)


def frame(folder: Path) -> Made:
    options = {"labels": pd.Series(WORDS), "preprocess": "none"}
    return Made(pd.DataFrame(NUMBERS), NUMBERS, WORDS, options=options)


def polars_frame(folder: Path) -> Made:
    import polars as pl

    made = pl.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1], "label": WORDS.tolist()})
    return Made(made.lazy(), NUMBERS[:, :2], WORDS, options={"preprocess": "none"})


def polars_lists(folder: Path) -> Made:
    import polars as pl

    return Made(pl.DataFrame({"e": NUMBERS.tolist(), "label": WORDS.tolist()}), NUMBERS, WORDS)


def polars_numbers(folder: Path) -> Made:
    """Labels apart, as a series."""
    import polars as pl

    labels = pl.Series(WORDS.tolist())
    options = {"labels": labels, "preprocess": "none"}
    return Made(pl.DataFrame(NUMBERS), NUMBERS, WORDS, options=options)


def stream(folder: Path) -> Made:
    from datasets import Dataset as HuggingFace

    made = HuggingFace.from_dict({"pixels": NUMBERS.tolist(), "label": CODES.tolist()})
    return Made(made.to_iterable_dataset(num_shards=4), NUMBERS, CODES)


MAKERS = [
    polars_frame,
    polars_lists,
    polars_numbers,
    stream,
    numpy_archive,
    numpy_array,
    csv,
    parquet,
    feather,
    json_lines,
    json_list,
    workbook,
    arff,
    parquet_of_images,
    saved_dataset,
    dataset_in_memory,
    idx_pair,
    idx_file,
    cifar10,
    cifar100,
    image_folder,
    split_folder,
    sparse,
    arrow_table,
    tensor,
    tensor_dataset,
    map_dataset,
    frame,
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:datasets.*")
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
class TestContract:
    def test_everything_comes_back(self, make: Callable[[Path], Made], tmp_path: Path) -> None:
        made = make(tmp_path)
        data = made.read()
        np.testing.assert_array_equal(data.X, made.X)
        assert data.X.dtype == np.asarray(made.X).dtype
        assert data.y is not None
        assert data.y.tolist() == made.y.tolist()
        assert data.ids.tolist() == (list(range(24)) if made.ids is None else made.ids)
        assert (dict(data.class_names) if data.class_names else None) == made.class_names
        assert data.image == made.picture
        assert len(data) == 24

    def test_reading_twice_gives_the_same(
        self, make: Callable[[Path], Made], tmp_path: Path
    ) -> None:
        made = make(tmp_path)
        first, second = made.read(), made.read()
        assert first.fingerprint == second.fingerprint
        assert first.options == second.options

    def test_scores(self, make: Callable[[Path], Made], tmp_path: Path) -> None:
        made = make(tmp_path)
        expected = cgscore.score(np.asarray(made.X).reshape(24, -1), made.y, ridge=0.1)
        found = cgscore.score(made.read(), ridge=0.1)
        np.testing.assert_allclose(found.table["cg"], expected.table["cg"], rtol=1e-9)
        found.save(tmp_path / "scores.parquet")
        assert cgscore.load(tmp_path / "scores.parquet").meta["source"] == found.meta["source"]

    def test_pictures_are_the_pixels(self, make: Callable[[Path], Made], tmp_path: Path) -> None:
        data = make(tmp_path).read()
        if not data.image:
            with pytest.raises(cgscore.CGScoreError, match="holds no pictures"):
                data.picture(0)
            return
        for i in (0, 7, 23):
            np.testing.assert_array_equal(np.asarray(data.picture(i)), data.X[i])
        assert data.thumbnail(3, 4).startswith(b"\x89PNG")


def test_fashion_mnist(real_data: Path) -> None:
    data = cgscore.read(real_data / "fashion-mnist")
    assert data.X.shape == (60_000, 28, 28)
    assert data.X.dtype == np.uint8
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [6000] * 10
    test = cgscore.read(real_data / "fashion-mnist" / "t10k-images-idx3-ubyte.gz")
    assert len(test) == 10_000
    split = cgscore.read(real_data / "fashion-mnist", split="test")
    assert split.fingerprint == test.fingerprint
    assert split.fingerprint != data.fingerprint


def test_cifar10(real_data: Path) -> None:
    heard: list[float] = []
    data = cgscore.read(
        real_data / "cifar10" / "test.parquet", progress=lambda _, done: heard.append(done)
    )
    assert data.X.shape == (10_000, 32, 32, 3)
    assert data.X.dtype == np.uint8
    assert data.class_names is not None
    assert data.class_names[9] == "truck"
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    np.testing.assert_array_equal(np.asarray(data.picture(9_001)), data.X[9_001])


@pytest.mark.slow
def test_cifar10_is_what_was_published(real_data: Path) -> None:
    data = cgscore.read(real_data / "cifar10" / "train.parquet")
    assert data.X.shape == (50_000, 32, 32, 3)
    means = data.X.mean(axis=(0, 1, 2)) / 255
    deviations = [data.X[..., c].std() / 255 for c in range(3)]
    np.testing.assert_allclose(means, [0.49140, 0.48216, 0.44653], atol=1e-5)
    np.testing.assert_allclose(deviations, [0.24703, 0.24349, 0.26159], atol=1e-5)
    scores = np.load(real_data / "cscores" / "cifar10-cscores-orig-order.npz")
    np.testing.assert_array_equal(scores["labels"], data.y)
    np.testing.assert_array_equal(np.asarray(data.picture(40_001)), data.X[40_001])
