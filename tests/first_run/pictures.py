"""Pictures and texts, as data frames with the columns ``image`` or ``text``."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tests.first_run.packages import Packages, fortunes, shared

MODES = ("RGB", "RGB", "L", "RGBA", "P")  # in which crops are saved, in turn
SIDES = (72, 220)  # of crops, in pixels
CIFAR = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def wallpapers(
    package: str, folder: str, names: tuple[str, ...], crops: int = 30
) -> Callable[[Packages], pd.DataFrame]:
    """Crops of wallpapers of Debian, of many sizes and modes; the class is the wallpaper."""

    def load(packages: Packages) -> pd.DataFrame:
        from PIL import Image

        rng = np.random.default_rng(0)
        rows = []
        for name in names:
            with Image.open(packages.debian(package, folder, name)) as opened:
                whole = opened.convert("RGB")
            whole.thumbnail((900, 900))
            for i in range(crops):
                width, height = (int(rng.integers(*SIDES)) for _ in range(2))
                left = int(rng.integers(max(1, whole.width - width)))
                top = int(rng.integers(max(1, whole.height - height)))
                crop = whole.crop((left, top, left + width, top + height))
                rows.append((crop.convert(MODES[i % len(MODES)]), name.split(".")[0]))
        return _frame(rows)

    return load


def scene_crops(packages: Packages) -> pd.DataFrame:
    """Crops of the two photographs inside scikit-learn: a temple and a flower."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    rows = []
    for name, pixels in zip(("temple", "flower"), load_sample_images().images, strict=True):
        whole = Image.fromarray(pixels)
        for _ in range(60):
            side = int(rng.integers(80, 200))
            left, top = (int(rng.integers(size - side)) for size in whole.size)
            rows.append((whole.crop((left, top, left + side, top + side)), name))
    return _frame(rows)


def digits(packages: Packages) -> pd.DataFrame:
    """The digits of scikit-learn, 8x8, as MNIST would have them: bytes up to 255."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return _frame(
        zip((bunch.images * 15).astype(np.uint8)[:1200], bunch.target[:1200], strict=True)
    )


def fashion(packages: Packages) -> pd.DataFrame:
    """The first articles of Fashion-MNIST."""
    with gzip.open(shared("fashion-mnist", "train-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(16 + 784 * 1500)[16:], np.uint8).reshape(-1, 28, 28)
    with gzip.open(shared("fashion-mnist", "train-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(8 + 1500)[8:], np.uint8)
    return _frame(zip(images, labels.astype(np.int64), strict=True))


def cifar(classes: tuple[int, ...], count: int, *, decoded: bool) -> Any:
    """Pictures of CIFAR-10 of some classes: as PNG bytes, or decoded with names of classes."""

    def load(packages: Packages) -> pd.DataFrame:
        from PIL import Image

        frame = pd.read_parquet(shared("cifar10", "test.parquet"))
        image, label = frame.columns[:2]
        frame = frame[frame[label].isin(classes)].head(count)
        contents = [cell["bytes"] for cell in frame[image]]
        labels = frame[label].tolist()
        if not decoded:
            return _frame(zip(contents, labels, strict=True))
        images = [Image.open(io.BytesIO(content)) for content in contents]
        return _frame(zip(images, [CIFAR[i] for i in labels], strict=True))

    return load


def texts(*parts: tuple[str, str, tuple[str, ...]], each: int = 250) -> Any:
    """Fortunes of Debian by category; a part is a package, its folder and names of files."""

    def load(packages: Packages) -> pd.DataFrame:
        rows = []
        for package, folder, names in parts:
            for name in names:
                found = list(fortunes(packages.debian(package, folder), name))
                rows += [(text, category) for category, text in found[:each]]
        frame = pd.DataFrame(rows, columns=["text", "category"])
        return _shuffled(frame)

    return load


def languages(packages: Packages) -> pd.DataFrame:
    """Fortunes in English, German and Spanish; the label is the language."""
    games = "usr/share/games/fortunes"
    folders = {
        "en": (packages.debian("fortunes", games), ("science", "law")),
        "de": (packages.debian("fortunes-de", games, "de"), ("sprueche", "regeln")),
        "es": (packages.debian("fortunes-es", games, "es"), ("vida.fortunes", "arte.fortunes")),
    }
    rows = [
        (text, language)
        for language, (folder, names) in folders.items()
        for _, text in list(fortunes(folder, *names))[:300]
    ]
    frame = pd.DataFrame(rows, columns=["text", "language"])
    return _shuffled(frame)


def _shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    shuffled: pd.DataFrame = frame.sample(frac=1, random_state=0).reset_index(drop=True)
    return shuffled


def _frame(rows: Any) -> pd.DataFrame:
    images, labels = zip(*rows, strict=True)
    frame: pd.DataFrame = pd.DataFrame({"label": labels})
    frame["image"] = pd.Series(list(images), dtype=object)
    return frame
