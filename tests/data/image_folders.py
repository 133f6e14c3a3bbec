"""Folders of small images, for tests of those who read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import cgscore

RNG = np.random.default_rng(1)


GREY = RNG.integers(0, 256, (8, 12, 10), dtype=np.uint8)


COLOUR = RNG.integers(0, 256, (8, 12, 10, 3), dtype=np.uint8)


DEEP = RNG.integers(0, 65536, (8, 12, 10), dtype=np.uint16)


def folder(root: Path, pictures: list[Image.Image], suffix: str = ".png", **save: Any) -> Path:
    for i, one in enumerate(pictures):
        path = root / "ab"[i % 2] / f"{i}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        one.save(path, **save)
    return root


def by_number(data: cgscore.Dataset) -> Any:
    """Pixels in the order of the numbers in the file names."""
    return data.X[np.argsort([int(Path(name).stem) for name in data.ids])]


def all_of(pixels: Any) -> list[Image.Image]:
    return [Image.fromarray(one) for one in pixels]
