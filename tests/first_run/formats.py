"""The files that people have: tables, texts and pictures, written in many formats.

Every function takes a data frame, the name of its label column and the path to write, and returns
what the tool will call the rows: their numbers, or the files of images.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.data.readers.workbooks import write_workbook

Writer = Callable[[pd.DataFrame, str, Path], list[str]]


def csv(**keywords: Any) -> Writer:
    """A writer of CSV files; `keywords` are those of `DataFrame.to_csv`."""

    def write(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
        frame.to_csv(path, **{"index": False, **keywords})
        return _numbers(frame)

    return write


def json_lines(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """One JSON object a line."""
    frame.to_json(path, orient="records", lines=True, force_ascii=False)
    return _numbers(frame)


def json(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """A list of JSON objects."""
    frame.to_json(path, orient="records", indent=1)
    return _numbers(frame)


def parquet(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """A Parquet file."""
    frame.to_parquet(path, index=False)
    return _numbers(frame)


def xlsx(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """An Excel workbook."""
    plain = frame.astype(object).where(frame.notna(), None)
    write_workbook(path, [list(frame.columns), *plain.to_numpy().tolist()])
    return _numbers(frame)


def arff(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """A file of Weka."""
    lines = ["% written from a package", f"@RELATION {path.stem}", ""]
    for name, column in frame.items():
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        values = ",".join(f"'{value}'" for value in sorted(column.dropna().unique(), key=str))
        lines.append(f"@ATTRIBUTE '{name}' {'NUMERIC' if numeric else f'{{{values}}}'}")
    lines += ["", "@DATA"]
    for row in frame.astype(object).where(frame.notna(), None).to_numpy().tolist():
        cells = ("?" if v is None else f"'{v}'" if isinstance(v, str) else str(v) for v in row)
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return _numbers(frame)


def npz(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """Arrays X and y of numpy."""
    X = frame.drop(columns=[label]).to_numpy()
    y = frame[label].to_numpy()
    np.savez(path, X=X, y=y if y.dtype != object else y.astype(str))
    return _numbers(frame)


def idx(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """A folder of IDX files, as MNIST comes, from a column of arrays called ``image``."""
    path.mkdir()
    images = np.stack(frame["image"].tolist()).astype(np.uint8)
    labels = frame[label].to_numpy(np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        head = bytes([0, 0, 8, array.ndim]) + b"".join(
            size.to_bytes(4, "big") for size in array.shape
        )
        with gzip.open(path / f"train-{name}-ubyte.gz", "wb") as file:
            file.write(head + array.tobytes())
    return _numbers(frame)


def images_in_parquet(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
    """A Parquet file with a column of encoded images, as on the Hugging Face hub."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    encoded = [{"bytes": content, "path": None} for content in frame["image"]]
    table = pa.table({"img": encoded, label: frame[label].to_numpy(np.int64)})
    pq.write_table(table, path)
    return _numbers(frame)


def image_folder(suffixes: tuple[str, ...] = (".png",), *, litter: bool = False) -> Writer:
    """A writer of class folders with images, of several formats in turn.

    With `litter`, the folder has what desktops leave behind: hidden files, previews of Windows,
    a readme, and the folder of a class without images.
    """

    def write(frame: pd.DataFrame, label: str, path: Path) -> list[str]:
        names = []
        for i, (name, image) in enumerate(zip(frame[label], frame["image"], strict=True)):
            file = path / str(name) / f"IMG {i:04}{suffixes[i % len(suffixes)]}"
            file.parent.mkdir(parents=True, exist_ok=True)
            suffix = file.suffix.lower()
            image = image.convert("RGB") if suffix in (".jpg", ".jpeg") else image
            image.save(file)
            names.append(f"{name}/{file.name}")
        if litter:
            some = path / str(frame[label].iloc[0])
            (path / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
            (some / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
            (some / "._IMG 0000.jpg").write_bytes(b"\0\5\26\7")
            (some / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0")
            (path / "README.txt").write_text("Photographs by class.\n")
            (path / "to sort").mkdir()
        return names

    return write


def _numbers(frame: pd.DataFrame) -> list[str]:
    return [str(number) for number in range(len(frame))]
