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
from cgscore.data.readers.delimited import write_csv_rows
from cgscore.errors import LabelError, SourceError


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
    "decimal commas in labels": (b"a;target\n1,5;2,5\n2,5;7\n", [2.5, 7.0], "y"),
    "decimal commas after tabs": (b"a\tlabel\n1,5\tx\n2,5\ty\n", [[1.5], [2.5]], "X"),
    "commas in texts": (b"a;b;label\n1.5;a 3,4;x\n2.5;b;y\n6.5;b 5,6;y\n", ["x", "y", "y"], "y"),
    "years as names": (b"label,2010,2011\nx,1,2\ny,3,5\n", [[1, 2], [3, 5]], "X"),
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
        (b"a,label\n\x89PNG\0\0,x\nb,y\n", "holds zero bytes, so it is not text"),
        ("цена,label\nдорого,да\nнедорого,нет".encode("cp1251"), "is not text in UTF-8, nor"),
        (b"\xff\xfea\0,\0\xd8\xd8\xd8", "is not text in UTF-16-LE"),
        (b'a,label\n1,"x\n2,y\n3,z\n', "line break|not a table|not closed"),
    ],
)
def test_csv_files_with_mistakes(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(cgscore.CGScoreError, match=message):
        cgscore.read(tmp_path / "t.csv")


FLOWERS = b"5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,virginica\n6.4,3.2,virginica\n"


@pytest.mark.parametrize("mark", [b",", b";", b"\t"])
def test_a_table_without_a_header(tmp_path: Path, mark: bytes) -> None:
    content = FLOWERS if mark == b"," else FLOWERS.replace(b",", mark).replace(b".", b",")
    (tmp_path / "t.csv").write_bytes(content)
    data = cgscore.read(tmp_path / "t.csv", label_column="column3", preprocess="none")
    assert data.X.tolist() == [[5.1, 3.5], [4.9, 3.0], [7.0, 3.2], [6.4, 3.2]]
    assert data.y is not None
    assert data.y.tolist() == ["setosa"] * 2 + ["virginica"] * 2
    assert data.notes == ("no header: the first line is data, so columns are column1 to column3",)
    for name in (None, "species"):
        with pytest.raises(SourceError, match=r"no header: .*\(5.1, .*label_column='column3'") as e:
            cgscore.read(tmp_path / "t.csv", label_column=name)
        assert "Its columns are column1, column2, column3." in str(e.value)


@pytest.mark.parametrize(
    ("content", "headless"),
    [
        (b"39,State,77516\n50,Self,83311\n", True),
        (b"39,?,77516\n?,Self,83311\n", True),
        (b"a,b,c\n1,2,3\n", False),
        (b"0,1,2\n5,6,7\n", False),
        (b"name,2010,2020\nBob,6,7\n", False),
        (b"5.1,label\n5,6\n", False),
        (b"39,a\n40,b\n", True),
        (b"2010,a\n40,b\n", False),
        (b"1.5,a\n2.5,b\n", True),
        (b"7,2,1\n5,6,7\n", True),
    ],
)
def test_what_is_a_header(tmp_path: Path, content: bytes, headless: bool) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(SourceError) as error:
        cgscore.read(tmp_path / "t.csv", label_column="none of them")
    assert ("has no header" in str(error.value)) == headless


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("cp1252", "Windows-1252"), ("utf-16-le", "UTF-16-LE"), ("utf-16-be", "UTF-16-BE")],
)
def test_other_encodings(tmp_path: Path, encoding: str, name: str) -> None:
    text = "prix,label\r\n1,été\r\n2,hiver\r\n3,été\r\n4,“€”\r\n"
    mark = "\ufeff" if encoding.startswith("utf") else ""
    (tmp_path / "t.csv").write_bytes((mark + text).encode(encoding))
    data = cgscore.read(tmp_path / "t.csv")
    assert data.y is not None
    assert data.y.tolist() == ["été", "hiver", "été", "“€”"]
    assert data.notes == (f"not UTF-8, so read as {name}",)
    write_csv_rows(data, np.array([0, 3]), tmp_path / "part.csv", False)
    kept = mark + "prix,label\r\n1,été\r\n4,“€”\r\n"
    assert (tmp_path / "part.csv").read_bytes() == kept.encode(encoding)


def test_bytes_that_no_encoding_has(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,label\n1,\x81\n2,\xe9\n")
    data = cgscore.read(tmp_path / "t.csv")
    assert data.notes == ("not UTF-8, so read as Latin-1",)


def test_a_part_of_a_table_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(FLOWERS)
    data = cgscore.read(tmp_path / "t.csv", label_column="column3")
    write_csv_rows(data, np.array([0, 2]), tmp_path / "part.csv", False)
    lines = FLOWERS.splitlines(keepends=True)
    assert (tmp_path / "part.csv").read_bytes() == lines[0] + lines[2]
