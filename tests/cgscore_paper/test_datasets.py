"""The paper's datasets are read in the formats in which they are published."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cgscore.errors import SourceError
from cgscore_paper.datasets import SOURCES, Images, c_scores, load, missing
from cgscore_paper.samples import TEST, TRAIN


@pytest.mark.parametrize(
    ("name", "shape"), [("fashion-mnist", (28, 28)), ("cifar-10", (32, 32, 3))]
)
def test_both_parts_are_read_in_their_order(data: Path, name: str, shape: tuple[int, ...]) -> None:
    train, test = load(data, name), load(data, name, "test")
    assert train.X.shape == (10 * TRAIN, *shape)
    assert test.X.shape == (10 * TEST, *shape)
    assert train.X.dtype == np.uint8
    assert (np.bincount(train.codes) == TRAIN).all()
    assert train.names == tuple(map(str, range(10)))
    # both were written in the same order
    np.testing.assert_array_equal(train.codes, load(data, "fashion-mnist").codes)
    assert (np.diff(train.codes) < 0).any()  # not sorted by class


def test_rows_are_taken_with_their_labels(data: Path) -> None:
    whole, rows = load(data, "cifar-10"), np.array([7, 2, 200])
    part = whole[rows]
    assert len(part) == 3
    np.testing.assert_array_equal(part.X, whole.X[rows])
    np.testing.assert_array_equal(part.codes, whole.codes[rows])


def test_halves_are_means_of_four() -> None:
    grey = np.arange(2 * 4 * 5, dtype=np.uint8).reshape(2, 4, 5)  # the fifth column is left out
    found = Images(grey, np.array([0, 1]), ("a", "b")).halved()
    assert found.X.dtype == np.uint8
    assert found.X[0].tolist() == [[3, 5], [13, 15]]  # 3 is the mean of 0, 1, 5, 6
    colour = np.stack([grey, grey + 100, np.full_like(grey, 255)], axis=3)
    small = Images(colour, np.array([0, 1]), ("a", "b")).halved().X
    assert small.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(small[..., 0], found.X)
    np.testing.assert_array_equal(small[..., 1], found.X + 100)
    assert (small[..., 2] == 255).all()


@pytest.mark.parametrize("name", ["fashion-mnist", "cifar-10"])
def test_standardised_rows(data: Path, name: str) -> None:
    images = load(data, name)
    rows = images.rows(standardised=True)
    assert rows.shape == (300, images.X[0].size)
    channels = rows.reshape(-1, 3 if name == "cifar-10" else 1)
    np.testing.assert_allclose(channels.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(channels.std(axis=0), 1, rtol=1e-9)
    np.testing.assert_array_equal(images.rows(standardised=False), images.X.reshape(300, -1))


def test_what_is_missing_says_so(data: Path) -> None:
    assert missing(data, "cifar-10") is None
    assert missing(data, "mnist") == "there is no MNIST in mnist/ of the data"
    with pytest.raises(SourceError, match=r"There is no CIFAR-100 in cifar100/ .* --data"):
        load(data, "cifar-100")


def test_consistency_scores(data: Path) -> None:
    codes = load(data, "cifar-10").codes
    found = c_scores(data, "cifar-10", codes)
    assert found is not None
    assert found.shape == (300,)
    assert c_scores(data, "cifar-100", codes) is None  # no file
    assert c_scores(data, "fashion-mnist", codes) is None  # none published


@pytest.fixture
def pictures() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (24, 32, 32, 3), dtype=np.uint8), np.arange(24) % 6


def write_cifar_100(folder: Path, X: Any, y: Any) -> None:
    folder.mkdir(parents=True)
    for split, rows in (("train", slice(0, 18)), ("test", slice(18, 24))):
        batch = {
            b"filenames": [b"image.png"] * len(y[rows]),
            b"batch_label": b"a batch",
            b"fine_labels": y[rows].tolist(),
            b"coarse_labels": [0] * len(y[rows]),
            b"data": X[rows].transpose(0, 3, 1, 2).reshape(len(y[rows]), -1),
        }
        (folder / split).write_bytes(pickle.dumps(batch, protocol=2))
    names = [b"apple", b"bear", b"can", b"dolphin", b"elephant", b"fox"]
    meta = {b"fine_label_names": names, b"coarse_label_names": [b"thing"]}
    (folder / "meta").write_bytes(pickle.dumps(meta, protocol=2))


def test_cifar_100_as_published(tmp_path: Path, pictures: tuple[Any, Any]) -> None:
    """The files train, test and meta of the archive `cifar-100-python`, in `cifar100`."""
    X, y = pictures
    write_cifar_100(tmp_path / SOURCES["cifar-100"].folder, X, y)
    train, test = load(tmp_path, "cifar-100"), load(tmp_path, "cifar-100", "test")
    np.testing.assert_array_equal(train.X, X[:18])
    np.testing.assert_array_equal(test.X, X[18:])
    np.testing.assert_array_equal(train.codes, y[:18])
    assert train.names == ("apple", "bear", "can", "dolphin", "elephant", "fox")


@pytest.mark.parametrize("packed", [True, False])
def test_mnist_as_published(tmp_path: Path, pictures: tuple[Any, Any], packed: bool) -> None:
    X, y = pictures[0][..., 0], pictures[1].astype(np.uint8)
    folder = tmp_path / "mnist"
    folder.mkdir()
    for split, rows in (("train", slice(0, 18)), ("t10k", slice(18, 24))):
        for kind, values in (("images-idx3", X[rows]), ("labels-idx1", y[rows])):
            head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
            content = head + values.tobytes()
            name = f"{split}-{kind}-ubyte" + ".gz" * packed
            (folder / name).write_bytes(gzip.compress(content) if packed else content)
    np.testing.assert_array_equal(load(tmp_path, "mnist").X, X[:18])
    np.testing.assert_array_equal(load(tmp_path, "mnist", "test").codes, y[18:])


def test_imagenet_as_folders_of_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for split, count in (("train", 3), ("test", 1)):
        for name in ("n01440764", "n02102040"):
            folder = tmp_path / "imagenet" / split / name
            folder.mkdir(parents=True)
            for i in range(count):
                size = (40 + 10 * i, 60, 3)  # of different sizes, as they are
                pixels = rng.integers(0, 256, size, dtype=np.uint8)
                Image.fromarray(pixels).save(folder / f"{name}_{i}.JPEG")
    train, test = load(tmp_path, "imagenet"), load(tmp_path, "imagenet", "test")
    assert train.X.shape == (6, 224, 224, 3)
    assert test.X.shape == (2, 224, 224, 3)
    assert np.bincount(train.codes).tolist() == [3, 3]
    assert train.names == ("n01440764", "n02102040")


def test_labels_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "imagenet").mkdir()
    with pytest.raises(SourceError):
        load(tmp_path, "imagenet")


@pytest.mark.parametrize("channels", [(), (3,)])
def test_augmented_images_are_crops_of_padded_ones(channels: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(1, 256, (40, 6, 5, *channels), np.uint8)
    images = Images(X, np.arange(40), tuple(map(str, range(40))))
    augmented = images.augmented(np.random.default_rng(1))
    padded = np.pad(X, ((0, 0), (4, 4), (4, 4), *[(0, 0)] * len(channels)))
    places = set()
    for image, original in zip(augmented.X, padded, strict=True):
        matches = [
            (top, left, mirrored)
            for top in range(9)
            for left in range(9)
            for mirrored in (False, True)
            if np.array_equal(
                image, original[top : top + 6, left : left + 5][:, :: -1 if mirrored else 1]
            )
        ]
        assert matches
        places.update(matches)
    assert len(places) > 30  # drawn for each image
    again = images.augmented(np.random.default_rng(1))
    assert np.array_equal(again.X, augmented.X)


def test_rows_are_standardised_like_other_images() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (20, 4, 4, 3), np.uint8)
    codes, names = np.arange(20), tuple(map(str, range(20)))
    images, darker = Images(X, codes, names), Images(X // 2, codes, names)
    assert np.allclose(images.rows(True).reshape(-1, 3).std(axis=0), 1)
    rows = darker.rows(True, like=images).reshape(-1, 3)
    pixels = X.reshape(-1, 3)
    assert np.allclose(rows, ((X // 2).reshape(-1, 3) - pixels.mean(axis=0)) / pixels.std(axis=0))
