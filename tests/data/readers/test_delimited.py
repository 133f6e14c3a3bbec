"""CSV and TSV files as people have them, and with mistakes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.data.examples import Y, frame

import cgscore
from cgscore.errors import LabelError


@pytest.mark.parametrize("label", ["label", "target"])
@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ","), (".csv", ";"), (".tsv", "\t")])
def test_csv_is_standardised_with_a_constant(
    tmp_path: Path, label: str, suffix: str, mark: str
) -> None:
    path = tmp_path / f"t{suffix}"
    table = frame(colour=["red", "blue", "green"] * 4, flat=7.0, **{label: Y})
    table.to_csv(path, sep=mark, index=False)
    data = cgscore.read(path)
    assert data.X.shape == (12, 4 + 3 + 1)
    np.testing.assert_allclose(data.X[:, :4].mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(data.X[:, :4].std(axis=0), 1)
    assert set(np.unique(data.X[:, 4:7])) == {0.0, 1.0}
    assert (data.X[:, 7] == 1).all()
    np.testing.assert_array_equal(data.y, Y)
    assert "4 columns standardised, 1 encoded one-hot, constant added" in data.preprocessing
    assert data.notes == ("constant columns left out: flat",)
    plain = cgscore.read(table.drop(columns=["colour"]), preprocess="none")
    assert plain.X.shape == (12, 5)


def test_the_type_of_a_column_follows_from_all_of_its_values(tmp_path: Path) -> None:
    rows = 300_000  # more than one of the parser's usual blocks
    values = np.arange(rows).astype(object)
    values[-1] = "0.5"
    pd.DataFrame({"a": values, "label": np.arange(rows) % 2}).to_csv(tmp_path / "t.csv")
    assert cgscore.read(tmp_path / "t.csv", preprocess="none").X[-1, -1] == 0.5


def test_gzipped_csv_and_id_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        frame(id=[f"n{i}" for i in range(12)], label=Y).to_csv(file, index=False)
    data = cgscore.read(path)
    assert data.ids.tolist() == [f"n{i}" for i in range(12)]
    assert data.X.shape == (12, 5)
    assert "names the rows" in data.notes[0]
    plain = tmp_path / "t.csv"
    frame(key=list("abcdefghijkl"), label=Y).to_csv(plain, index=False)
    assert cgscore.read(plain, id_column="key").ids.tolist() == list("abcdefghijkl")


TABLES: dict[str, tuple[bytes, Any, str]] = {
    "leading zeros are text": (b"a,label\n1,07\n2,7\n3,07\n4,7\n", ["07", "7", "07", "7"], "y"),
    "ids keep their zeros": (b"id,a,label\n001,1,x\n01,2,y\n", ["001", "01"], "ids"),
    "floats are floats": (b"a,label\n1,1.0\n2,2.0\n", [1.0, 2.0], "y"),
    "semicolons and decimal commas": (b"a;label\n1,5;x\n2,5;y\n", [[1.5], [2.5]], "X"),
    "a mark of byte order": (b"\xef\xbb\xbfa,label\r\n1,x\r\n2,y\r\n", [[1], [2]], "X"),
    "empty lines first": (b"\n\na,label\n1,x\n2,y\n", ["x", "y"], "y"),
    "pandas' index": (b",a,label\n0,5,x\n1,6,y\n", [0, 1], "ids"),
    "quoted delimiters in names": (b'"a;b;c;d",label\n1,x\n2,y\n', ["x", "y"], "y"),
}


@pytest.mark.parametrize("case", TABLES)
def test_csv_files_as_people_have_them(tmp_path: Path, case: str) -> None:
    content, expected, part = TABLES[case]
    (tmp_path / "t.csv").write_bytes(content)
    preprocess = "none" if part == "X" else "auto"
    data = cgscore.read(tmp_path / "t.csv", preprocess=preprocess)
    assert getattr(data, part).tolist() == expected


def test_labels_apart_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b,label\n1,5,7,x\n2,6,9,y\n3,8,1,x\n")
    (tmp_path / "y.txt").write_bytes(b"\xef\xbb\xbfno\nyes\nno\n")
    data = cgscore.read(tmp_path / "t.csv", labels=tmp_path / "y.txt")
    assert data.y is not None
    assert data.y.tolist() == ["no", "yes", "no"]
    assert data.X.shape == (3, 3)  # a, b and the constant
    assert data.ids.tolist() == [1, 2, 3]
    assert "column 'label' is left out" in data.notes[0]
    (tmp_path / "y.txt").write_text("1\n2\n")
    with pytest.raises(LabelError, match="2 labels for 3 examples"):
        cgscore.read(tmp_path / "t.csv", labels=tmp_path / "y.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,label\n1,x\n2,y\nthree,x\n4,y\n", "column 'a' holds numbers, but row 2 .*'three'"),
        (b"a,label\n\xe9t\xe9,x\nb,y\n", "column 'a' is not text in UTF-8"),
        (b'a,label\n1,"x\n2,y\n3,z\n', "line break|not a table|not closed"),
    ],
)
def test_csv_files_with_mistakes(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(cgscore.CGScoreError, match=message):
        cgscore.read(tmp_path / "t.csv")
