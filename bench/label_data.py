"""Inputs and labels for `label_noise.py`: which data, which noise, which labels people gave.

===================  ===============================================================================
name                 inputs
===================  ===============================================================================
digits               scikit-learn's, 1,797 images of 64 pixels
fashion, cifar       8,000 training images of Fashion-MNIST and CIFAR-10 at random, as pixels
fashion-4000, ...    4,000 of them
fashion-whole        all 60,000 of Fashion-MNIST
features, features-2 training images 40,001 to 45,000 and 45,001 to 50,000 of CIFAR-10, by
                     efficientnet-lite0, with the labels of one human annotator (CIFAR-10N)
cifar100             the first 5,000 training images of CIFAR-100, by efficientnet-lite0
long                 Fashion-MNIST with classes of 800 down to 8 examples
iris, breast_cancer  tables of scikit-learn: 150 rows in three classes, 569 rows in two
===================  ===============================================================================

Human labels of the images before number 10,001 served for fixing constants, and none after it.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from iterative import load as load_whole
from iterative import sample
from noise import RATES, noisy

import cgscore

DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
SIZES = {"fashion": 8000, "cifar": 8000, "fashion-4000": 4000, "cifar-4000": 4000}
HUMAN, PUBLISHED, BORDER = "one human's labels", "as published", "20 % at the border"
WORST = "worst of three annotators"
ARTIFICIAL = [kind for kind in RATES if kind != "10 % uniform"]  # that one is for small tables
OTHERS = ["20 % uniform", "30 % to one other class", BORDER]
FEATURE_ROWS = {"features": 40_000, "features-2": 45_000}

#: Noises of each data set.
KINDS: dict[str, list[str]] = {
    "digits": [*ARTIFICIAL, PUBLISHED],
    "fashion": [*ARTIFICIAL, PUBLISHED],
    "cifar": [*ARTIFICIAL, PUBLISHED],
    "fashion-4000": [*ARTIFICIAL, PUBLISHED],
    "cifar-4000": [*ARTIFICIAL, PUBLISHED],
    "features": [HUMAN, *OTHERS, WORST, PUBLISHED],
    "features-2": [HUMAN, *OTHERS, WORST, PUBLISHED],
    "cifar100": [*OTHERS[:2], PUBLISHED],
    "long": ["5 % uniform", *OTHERS, PUBLISHED],
    "iris": ["10 % uniform", "20 % uniform"],
    "breast_cancer": ["10 % uniform", "20 % uniform", "20 % feature-dependent"],
    "fashion-whole": ["20 % uniform", "30 % to one other class"],
}
ORDER = [HUMAN, *RATES, PUBLISHED]
SEEDLESS = (HUMAN, PUBLISHED)  # labels that are what they are


def load(name: str) -> tuple[Any, Any]:
    """Inputs and true labels, 0 to k - 1."""
    if name == "digits":
        data = cgscore.read("sklearn:digits")
        return np.asarray(data.X, np.float64).reshape(len(data), -1), np.asarray(data.y)
    if name == "fashion-whole":
        X, y = load_whole("Fashion-MNIST")
        return X.astype(np.float64), y.astype(int)
    if name in SIZES:
        X, y = sample("Fashion-MNIST" if "fashion" in name else "CIFAR-10", SIZES[name])
        return X, y.astype(int)
    if name in FEATURE_ROWS:
        X, y = _features("cifar10", 40_000, 50_000)
        start = FEATURE_ROWS[name] - 40_000
        return X[start : start + 5000], y[start : start + 5000]
    if name == "cifar100":
        return _features("cifar100", 0, 5000)
    if name == "long":
        X, y = sample("Fashion-MNIST", 20_000)
        y = y.astype(int)
        sizes = np.round(800 * 100 ** (-np.arange(10) / 9)).astype(int)
        rows = np.concatenate([np.flatnonzero(y == c)[:size] for c, size in enumerate(sizes)])
        return X[rows], y[rows]
    return _table(name)


def labelled(name: str, X: Any, y: Any, kind: str, seed: int) -> Any:
    """Labels with noise of a kind, or those that people gave."""
    if kind == PUBLISHED:
        return y.copy()
    if kind == HUMAN:
        told = np.load(DATA / "cifar10n" / "human_labels.npz")
        rows = slice(FEATURE_ROWS[name], FEATURE_ROWS[name] + len(y))
        assert (told["clean"][rows] == y).all()
        return told["label"][rows].astype(int)
    return noisy(X, y, kind, seed)


def _features(name: str, start: int, stop: int) -> tuple[Any, Any]:
    """Features of some training images; they are encoded once and then found in the cache."""
    whole = cgscore.read(DATA / name / "train.parquet")
    assert whole.y is not None
    rows = slice(start, stop)
    part = replace(whole, X=whole.X[rows], y=whole.y[rows], ids=whole.ids[rows], pictures=None)
    encoded = cgscore.read(part, encoder="efficientnet-lite0")
    return encoded.X.astype(np.float64), np.asarray(encoded.y).astype(int)


def _table(name: str) -> tuple[Any, Any]:
    """A table of scikit-learn, written as CSV and read again."""
    module = importlib.import_module("sklearn.datasets")
    frame = getattr(module, f"load_{name}")(as_frame=True).frame
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "table.csv", index=False)
        data = cgscore.read(Path(folder) / "table.csv", label_column="target")
    return np.asarray(data.X, np.float64), np.asarray(data.y).astype(int)
