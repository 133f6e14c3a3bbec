"""The paper's datasets, read from one folder with a folder for each."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from cgscore import read
from cgscore.errors import LabelError, SourceError
from cgscore.training import read_consistency
from cgscore.typing import Index


@dataclass(frozen=True)
class Source:
    """A dataset of the paper.

    Attributes
    ----------
    title : str
        Its name in the paper.
    folder : str
        Its folder inside the folder of datasets.
    ratios : tuple of int
        Others that the paper's estimator draws for each example of a class (appendices A and J).
    standardised : bool
        Whether channels are standardised before examples are scaled to unit norm. The paper does
        not say; with it, its numbers for CIFAR-10 are reproduced (appendix A, and `table_1`).
    size : tuple of int or None
        Height and width to which images of different sizes are scaled.
    c_scores : str or None
        File of published C-scores.
    """

    title: str
    folder: str
    ratios: tuple[int, ...]
    standardised: bool
    size: tuple[int, int] | None = None
    c_scores: str | None = None

    @property
    def ratio(self) -> int:
        """The ratio of all experiments that do not name another."""
        return max(self.ratios)


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "mnist": Source("MNIST", "mnist", (3,), False),
        "fashion-mnist": Source("Fashion-MNIST", "fashion-mnist", (3,), False),
        "cifar-10": Source(
            "CIFAR-10", "cifar10", (1, 2, 3, 4), True, c_scores="cifar10-cscores-orig-order.npz"
        ),
        "cifar-100": Source(
            "CIFAR-100", "cifar100", (1, 2, 3, 4), True, c_scores="cifar100-cscores-orig-order.npz"
        ),
        "imagenet": Source("ImageNet", "imagenet", (4,), True, size=(224, 224)),
    }
)


PADDING = 4  # pixels of black around an image that is augmented, as in the paper's trainings
MAX_HASHED_BYTES = 4_000_000_000  # larger datasets are not read for their fingerprint

#: Folders into which published archives unpack, and other names of a split.
_ARCHIVES = ("cifar-10-batches-py", "cifar-100-python")
_SPLITS = {"test": ("test", "val")}


@dataclass(frozen=True)
class Images:
    """Labelled images: bytes (n, h, w) or (n, h, w, 3), classes 0 to k - 1 and their names."""

    X: NDArray[np.uint8]
    codes: Index
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Index) -> Images:
        return Images(self.X[rows], self.codes[rows], self.names)

    def halved(self) -> Images:
        """Images of half the width and height, by averaging two by two pixels."""
        n, h, w = self.X.shape[:3]
        parts = self.X[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, -1)
        small = np.rint(parts.mean(axis=(2, 4))).astype(np.uint8)
        return Images(small.reshape(n, h // 2, w // 2, *self.X.shape[3:]), self.codes, self.names)

    def augmented(self, rng: np.random.Generator) -> Images:
        """Random crops of images padded with black, each mirrored with probability 1/2.

        The augmentation of the paper's trainings: four pixels on every side.
        """
        n, h, w = self.X.shape[:3]
        border = ((0, 0), (PADDING, PADDING), (PADDING, PADDING), *[(0, 0)] * (self.X.ndim - 3))
        padded = np.pad(self.X, border)
        top, left = rng.integers(0, 2 * PADDING + 1, (2, n))
        columns = np.tile(np.arange(w), (n, 1))
        mirrored = rng.random(n) < 0.5
        columns[mirrored] = columns[mirrored, ::-1]
        rows, columns = top[:, None] + np.arange(h), left[:, None] + columns
        cropped = padded[np.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]
        return Images(cropped, self.codes, self.names)

    def rows(self, standardised: bool, like: Images | None = None) -> NDArray[Any]:
        """Rows of pixels, the inputs of the kernel, with each channel standardised on request.

        The mean and deviation of a channel are those of the images in `like`, by default of these.
        """
        flat: NDArray[Any] = self.X.reshape(len(self), -1)
        if not standardised:
            return flat
        channels = flat.reshape(-1, self._channels)
        model = channels if like is None else like.X.reshape(-1, self._channels)
        pixels = channels - model.mean(axis=0)
        pixels /= model.std(axis=0)
        rows: NDArray[Any] = pixels.reshape(len(self), -1)
        return rows

    @property
    def _channels(self) -> int:
        return self.X.shape[3] if self.X.ndim == 4 else 1


def missing(folder: Path, name: str) -> str | None:
    """Why a dataset cannot be read, or None if it can."""
    source = SOURCES[name]
    path = folder / source.folder
    return None if path.is_dir() else f"there is no {source.title} in {source.folder}/ of the data"


@functools.lru_cache(maxsize=4)  # decoding takes ten seconds, and many items need the same
def load(folder: Path, name: str, split: str = "train") -> Images:
    """A split of a dataset, in the order of its files."""
    source = SOURCES[name]
    reason = missing(folder, name)
    if reason:
        raise SourceError(
            f"{reason[0].upper()}{reason[1:]} ({folder}). Say where it is with --data."
        )
    path = folder / source.folder
    for inner in _ARCHIVES:
        path = path / inner if (path / inner).is_dir() else path
    options: dict[str, Any] = {"encoder": "pixels"}  # photographs, too: the paper scores pixels
    options |= {} if source.size is None else {"resize": source.size}
    parts = [
        part
        for prefix in _SPLITS.get(split, (split,))
        for part in sorted(path.glob(f"{prefix}*.parquet"))
    ] or [path / prefix for prefix in _SPLITS.get(split, (split,)) if (path / prefix).is_dir()][:1]
    if not parts:
        parts, options = [path], {**options, "split": split}
    read_parts = [read(part, **options) for part in parts]
    if any(dataset.y is None or not dataset.image for dataset in read_parts):
        raise LabelError(f"{path} holds no labelled images.")
    y = np.concatenate([np.asarray(dataset.y) for dataset in read_parts])
    classes, codes = np.unique(y, return_inverse=True)
    class_names = read_parts[0].class_names or {}
    names = tuple(str(class_names.get(label, label)) for label in classes.tolist())
    X = np.concatenate([np.asarray(dataset.X, np.uint8) for dataset in read_parts])
    return Images(X, codes.astype(np.intp), names)


@functools.lru_cache
def fingerprint(folder: Path, name: str | None = None) -> str:
    """A short text that changes with the files of one dataset, or of all available ones.

    It is a hash of the files' contents; above `MAX_HASHED_BYTES`, of their sizes and times.
    """
    sources = list(SOURCES.values()) if name is None else [SOURCES[name]]
    folders = [folder / source.folder for source in sources]
    files = [
        path
        for folder_of_source in folders
        if folder_of_source.is_dir()
        for path in folder_of_source.rglob("*")
        if path.is_file()
    ]
    scores = (folder / "cscores" / source.c_scores for source in sources if source.c_scores)
    files += [path for path in scores if path.is_file()]
    sizes = {path: path.stat() for path in sorted(files)}
    digest = xxhash.xxh3_64()
    for path, stat in sizes.items():
        digest.update(f"{path.relative_to(folder)} {stat.st_size}".encode())
        if sum(stat_of_file.st_size for stat_of_file in sizes.values()) > MAX_HASHED_BYTES:
            digest.update(f" {stat.st_mtime_ns}".encode())
            continue
        with path.open("rb") as file:
            while part := file.read(1 << 24):
                digest.update(part)
    return digest.hexdigest()[:8]


def c_scores(folder: Path, name: str, codes: Index) -> NDArray[np.float64] | None:
    """Published C-scores of a dataset in the order of its files, or None if there are none."""
    if not has_c_scores(folder, name):
        return None
    return read_consistency(folder / "cscores" / str(SOURCES[name].c_scores), labels=codes)


def has_c_scores(folder: Path, name: str) -> bool:
    """Whether there are published C-scores of a dataset."""
    file = SOURCES[name].c_scores
    return file is not None and (folder / "cscores" / file).is_file()
