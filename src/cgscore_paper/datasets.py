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
from cgscore.training.scores.consistency import read_consistency

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Source:
    """A dataset of the paper.

    Attributes
    ----------
    title : str
        What the paper calls it.
    folder : str
        Where it is looked for.
    ratios : tuple of int
        Others that the paper's estimator draws for each of a class (appendices A and J).
    standardised : bool
        Whether channels are standardised before examples are scaled to unit norm. The paper does
        not say; its figures for CIFAR-10 come out with that (appendix A, and `table_1`).
    size : tuple of int or None
        Pixels that images of different sizes are brought to.
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
        """The one of all experiments where no other is named."""
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


HASHED = 4_000_000_000  # bytes of a dataset whose contents are looked at for its fingerprint

#: Folders that archives of the data unpack to, and other names of a part.
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
        """Images of half the width and height: means of two by two pixels."""
        n, h, w = self.X.shape[:3]
        parts = self.X[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, -1)
        small = np.rint(parts.mean(axis=(2, 4))).astype(np.uint8)
        return Images(small.reshape(n, h // 2, w // 2, *self.X.shape[3:]), self.codes, self.names)

    def rows(self, standardised: bool) -> NDArray[Any]:
        """Inputs of the kernel: pixels in rows, with every channel standardised or as they are."""
        flat: NDArray[Any] = self.X.reshape(len(self), -1)
        if not standardised:
            return flat
        channels = flat.reshape(-1, self.X.shape[3] if self.X.ndim == 4 else 1)
        pixels = channels - channels.mean(axis=0)
        pixels /= channels.std(axis=0)
        found: NDArray[Any] = pixels.reshape(len(self), -1)
        return found


def missing(folder: Path, name: str) -> str | None:
    """Why a dataset cannot be read, or None if it is there."""
    source = SOURCES[name]
    place = folder / source.folder
    return None if place.is_dir() else f"there is no {source.title} in {source.folder}/ of the data"


@functools.lru_cache(maxsize=4)  # decoding takes ten seconds, and many items want the same
def load(folder: Path, name: str, split: str = "train") -> Images:
    """A part of a dataset, in its own order."""
    source = SOURCES[name]
    why = missing(folder, name)
    if why:
        raise SourceError(f"{why[0].upper()}{why[1:]} ({folder}). Say where it is with --data.")
    place = folder / source.folder
    for inner in _ARCHIVES:
        place = place / inner if (place / inner).is_dir() else place
    how: dict[str, Any] = {} if source.size is None else {"resize": source.size}
    parts = [
        part
        for one in _SPLITS.get(split, (split,))
        for part in sorted(place.glob(f"{one}*.parquet"))
    ] or [place / one for one in _SPLITS.get(split, (split,)) if (place / one).is_dir()][:1]
    if not parts:
        parts, how = [place], {**how, "split": split}
    read_parts = [read(part, **how) for part in parts]
    if any(found.y is None or not found.image for found in read_parts):
        raise LabelError(f"{place} holds no labelled images.")
    y = np.concatenate([np.asarray(found.y) for found in read_parts])
    classes, codes = np.unique(y, return_inverse=True)
    told = read_parts[0].class_names or {}
    names = tuple(str(told.get(label, label)) for label in classes.tolist())
    X = np.concatenate([np.asarray(found.X, np.uint8) for found in read_parts])
    return Images(X, codes.astype(np.intp), names)


@functools.lru_cache
def fingerprint(folder: Path, name: str | None = None) -> str:
    """A short text that changes with the files of a dataset, or of all that are there.

    Contents count, and beyond `HASHED` bytes sizes and times of change instead.
    """
    sources = list(SOURCES.values()) if name is None else [SOURCES[name]]
    places = [folder / source.folder for source in sources]
    files = [
        path for place in places if place.is_dir() for path in place.rglob("*") if path.is_file()
    ]
    scores = (folder / "cscores" / source.c_scores for source in sources if source.c_scores)
    files += [path for path in scores if path.is_file()]
    sizes = {path: path.stat() for path in sorted(files)}
    digest = xxhash.xxh3_64()
    for path, stat in sizes.items():
        digest.update(f"{path.relative_to(folder)} {stat.st_size}".encode())
        if sum(one.st_size for one in sizes.values()) > HASHED:
            digest.update(f" {stat.st_mtime_ns}".encode())
            continue
        with path.open("rb") as file:
            while part := file.read(1 << 24):
                digest.update(part)
    return digest.hexdigest()[:8]


def c_scores(folder: Path, name: str, codes: Index) -> NDArray[np.float64] | None:
    """Published C-scores of a dataset in its own order, where there are any."""
    file = SOURCES[name].c_scores
    if file is None or not (folder / "cscores" / file).is_file():
        return None
    return read_consistency(folder / "cscores" / file, labels=codes)
