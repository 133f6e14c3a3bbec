"""Bad sources and options get one clear message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.examples import X, Y, frame

import cgscore
from cgscore.errors import CGScoreError, DataError, LabelError, OptionError, SourceError


def write(tmp_path: Path, name: str, content: bytes | str) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def npz(tmp_path: Path, **arrays: Any) -> Path:
    np.savez(tmp_path / "d.npz", **arrays)
    return tmp_path / "d.npz"


def cut(path: Path) -> Path:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    return path


BAD: dict[str, tuple[Any, type[CGScoreError], str]] = {
    "missing": (lambda t: t / "no.csv", SourceError, "does not exist"),
    "similar": (
        lambda t: (write(t, "data.csv", "a"), t / "dta.csv")[1],
        SourceError,
        r"Did you mean .*data\.csv",
    ),
    "folder": (lambda t: t, SourceError, "holds no images"),
    "suffix": (lambda t: write(t, "d.xyz", "1"), SourceError, "files of this kind cannot be read"),
    "sklearn": (lambda t: "sklearn:mnist", SourceError, "Expected one of: breast_cancer"),
    "no X": (lambda t: npz(t, y=Y), SourceError, "no array 'X'.*Its arrays are y"),
    "no y": (lambda t: npz(t, X=X), SourceError, "no array 'y'.*Its arrays are X"),
    "pickled": (
        lambda t: npz(t, X=np.array([object()] * 3), y=Y),
        SourceError,
        "pickled Python objects",
    ),
    "pickled labels": (
        lambda t: npz(t, X=X, y=np.array(["a", 1] * 6, dtype=object)),
        SourceError,
        "array 'y' of .*pickled",
    ),
    "cut npz": (lambda t: cut(npz(t, X=X, y=Y)), SourceError, "truncated or not"),
    "foreign npz": (lambda t: write(t, "d.npz", "hello"), SourceError, "truncated or not|pickled"),
    "bad ids": (lambda t: npz(t, X=X, y=Y, ids=[1] * 12), SourceError, "different names"),
    "empty npy": (lambda t: write(t, "d.npy", b""), SourceError, "truncated or not"),
    "no rows": (lambda t: npz(t, X=X[:0], y=Y[:0]), DataError, "no rows"),
    "empty csv": (lambda t: write(t, "d.csv", ""), SourceError, "is empty"),
    "header only": (lambda t: write(t, "d.csv", "a,label\n"), DataError, "no rows"),
    "ragged": (
        lambda t: write(t, "d.csv", "a,b,label\n1,2,x\n1,2\n3,4,y\n"),
        SourceError,
        "Expected 3 columns, got 2",
    ),
    "too long": (
        lambda t: write(t, "d.csv", "a,b,label\n1,2,x\n1,2,3,4\n"),
        SourceError,
        "Expected 3 columns, got 4",
    ),
    "binary": (lambda t: write(t, "d.csv", bytes(range(128, 256))), SourceError, "not text"),
    "broken gzip": (lambda t: write(t, "d.csv.gz", b"a,b\n"), SourceError, "not a complete gzip"),
    "no label column": (
        lambda t: write(t, "d.csv", "a,b\n1,2\n"),
        SourceError,
        r"no column 'label' or 'target'\. Its columns are a, b\. .*label_column='b'",
    ),
    "twice": (lambda t: write(t, "d.csv", "a,a,label\n1,2,3\n"), SourceError, "more than one"),
    "no label": (
        lambda t: write(t, "d.csv", "a,label\n1,x\n2,\n3,y\n"),
        LabelError,
        "no label in 1 rows, the first is row 1",
    ),
    "infinite value": (
        lambda t: write(t, "d.csv", "a,b,label\n1,2,x\n3,inf,y\n"),
        DataError,
        "row 1 .*column 'b' holds inf",
    ),
    "only labels": (lambda t: write(t, "d.csv", "label\nx\ny\n"), DataError, "no columns besides"),
    "free text": (
        lambda t: write(
            t, "d.csv", "text,label\n" + "".join(f"word{i},{i % 2}\n" for i in range(1200))
        ),
        DataError,
        "1,200 different texts",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sources_get_one_clear_message(case: str, tmp_path: Path) -> None:
    make, error, message = BAD[case]
    with pytest.raises(error, match=message):
        cgscore.read(make(tmp_path))


def test_bad_options(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame(label=Y, key=1).to_csv(path, index=False)
    with pytest.raises(OptionError, match=r"preprocess must be .*; got 'whiten'"):
        cgscore.read(path, preprocess="whiten")
    with pytest.raises(SourceError, match="no column 'class'"):
        cgscore.read(path, label_column="class")
    with pytest.raises(SourceError, match="no column 'name'"):
        cgscore.read(path, id_column="name")
    with pytest.raises(DataError, match="'key' has repeated"):
        cgscore.read(path, id_column="key")
    with pytest.raises(SourceError, match="the labels, cannot be read: No such file"):
        cgscore.read(X, labels=tmp_path / "none.txt")
    (tmp_path / "gap.txt").write_text("a\n\nb\n")
    with pytest.raises(LabelError, match="line 2"):
        cgscore.read(X, labels=tmp_path / "gap.txt")
    with pytest.raises(DataError, match="holds text"):
        cgscore.read(frame(word="x"), labels=Y, preprocess="none")
