"""Small sources with wrong labels, of every kind, with names and labels that are hard to carry."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import cgscore

CLASSES = ['=2+5+"cat"', "<b>dog</b> & 'co'", "日本 $x {y}"]
N, WRONG = 90, [0, 1, 2, 3]
IDS = [
    "a/b c", "../up", "ünï çødé ∑", "x" * 3000, "=HYPERLINK(1)", "<script>alert(1)</script>",
    '"quoted", and; more', "-7", "tab\there", "'quote", "%20?d=#&", "07",
    *(f"row {i}/x" for i in range(12, N)),
]  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A source on disk, with what its wrong labels should be."""

    path: Path
    truth: dict[int, Any]
    options: dict[str, Any] = field(default_factory=dict)

    def scored(self) -> Path:
        """Its result, saved beside it."""
        result = self.path.parent / "scores.parquet"
        with warnings.catch_warnings():  # of classes with one example
            warnings.simplefilter("ignore", cgscore.CGScoreWarning)
            scores = cgscore.score(str(self.path), progress=False, ridge=0.05, **self.options)
        scores.save(result)
        return result


def _codes() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """True and given classes."""
    true = np.arange(N) % 3
    given = true.copy()
    given[WRONG] = (given[WRONG] + 1) % 3
    return true, given


def _points(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((N, 6)) + 6 * np.eye(3, 6)[codes]


def table(folder: Path) -> Source:
    """Rows of a table."""
    true, given = _codes()
    frame = pd.DataFrame(_points(true)).add_prefix("x").assign(id=IDS)
    frame["label"] = np.array(CLASSES, object)[given]
    frame.to_parquet(folder / "t.parquet")
    return Source(folder / "t.parquet", {at: CLASSES[true[at]] for at in WRONG})


def texts(folder: Path) -> Source:
    """Texts of a few words."""
    true, given = _codes()
    words = [["apple", "pear", "plum"], ["rain", "snow", "wind"], ["car", "bus", "tram"]]
    rng = np.random.default_rng(1)
    lines = [" ".join([*rng.choice(words[c], 8), "<i>and</i>", "=1"]) for c in true]
    frame = pd.DataFrame({"text": lines, "label": np.array(CLASSES, object)[given], "id": IDS})
    frame.to_parquet(folder / "t.parquet")
    options = {"text_column": "text", "encoder": "tfidf"}
    return Source(folder / "t.parquet", {at: CLASSES[true[at]] for at in WRONG}, options)


def images(folder: Path) -> Source:
    """A folder of class folders, with names that need quoting."""
    from PIL import Image

    true, given = _codes()
    names = ["a cat", "dög & co", "100 %"]
    pixels = (16 * (_points(true) + 6)).clip(0, 255).astype(np.uint8)
    order = []
    for i, c in enumerate(given):
        path = folder / "photos" / names[c] / f"{i:02d} #1 é.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels[i].reshape(2, 3).repeat(4, 0).repeat(4, 1)).save(path)
        order.append(f"{names[c]}/{path.name}")
    ids = sorted(order)
    dataset = cgscore.read(str(folder / "photos"))
    where = {str(name): at for at, name in enumerate(dataset.ids)}
    assert set(where) == set(ids)
    return Source(folder / "photos", {where[order[at]]: names[true[at]] for at in WRONG})


def pictures(folder: Path) -> Source:
    """Images inside a file, and classes that have names: digits of a saved dataset."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    true, given = _codes()
    pixels = (16 * (_points(true) + 6)).clip(0, 255).astype(np.uint8)
    encoded = []
    for row in pixels:
        file = io.BytesIO()
        Image.fromarray(row.reshape(2, 3).repeat(4, 0).repeat(4, 1)).save(file, "PNG")
        encoded.append({"bytes": file.getvalue(), "path": None})
    columns = {"image": encoded, "label": np.array(CLASSES, object)[given], "id": IDS}
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return Source(folder / "t.parquet", {at: CLASSES[true[at]] for at in WRONG})


def numbers(folder: Path) -> Source:
    """Rows of a table whose labels are numbers, a few of them far off."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 4))
    y = X @ [1.0, 2.0, -1.0, 0.5] + 0.05 * rng.standard_normal(200)
    given = y.copy()
    given[WRONG] += 25.5
    frame = pd.DataFrame(X).add_prefix("x").assign(label=given)
    frame["id"] = [f"row {i}/x" for i in range(200)]
    frame.to_parquet(folder / "t.parquet")
    truth = {at: float(y[at]) for at in WRONG}
    return Source(folder / "t.parquet", truth, {"task": "regression"})


def many_classes(folder: Path) -> Source:
    """1,000 classes, two of them with many examples and a label swapped."""
    true = np.r_[np.repeat([0, 1], 20), np.arange(1000)]
    X = np.random.default_rng(3).standard_normal((1000, 40))[true]
    X += 0.01 * np.random.default_rng(4).standard_normal(X.shape)
    given = true.copy()
    given[[0, 20]] = [1, 0]
    np.savez(folder / "t.npz", X=X, y=given)
    return Source(folder / "t.npz", {0: 0, 20: 1}, {"task": "classification"})


def crowd(folder: Path) -> tuple[cgscore.Scores, pd.DataFrame]:
    """Scores of 1,000 classes, and issues by hand: estimating noise among so many takes long."""
    source = many_classes(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cgscore.CGScoreWarning)
        scores = cgscore.score(str(source.path), ridge=0.05, judge=False, **source.options)
    table = scores.table
    right = np.ones(len(table))
    right[list(source.truth)] = 0.1
    issues = pd.DataFrame(
        {
            "is_label_issue": right < 0.5,
            "label_score": right,
            "given_label": table["given_label"].to_numpy(),
            "predicted_label": table["predicted_label"].to_numpy(),
            "confidence": 0.9,
            "kind": np.where(right < 0.5, "wrong label", ""),
        },
        index=table["id"].to_numpy(),
    )
    return scores, issues


SOURCES: dict[str, Callable[[Path], Source]] = {
    "table": table,
    "texts": texts,
    "images": images,
    "pictures": pictures,
    "numbers": numbers,
}
