from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.errors import CGScoreError, DataError, LabelError, OptionError, SourceError

X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.arange(12) % 3


def frame(**more: Any) -> pd.DataFrame:
    made: pd.DataFrame = pd.DataFrame(X, columns=list("abcd")).assign(**more)
    return made


def test_npz_keeps_numbers_labels_and_names(tmp_path: Path) -> None:
    path = tmp_path / "d.npz"
    np.savez(path, X=X.astype(np.float32), y=Y, ids=[f"row{i}" for i in range(12)])
    data = cgscore.read(path)
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.y, Y)
    assert data.ids[3] == "row3"
    assert data.source == str(path)
    assert data.preprocessing == "none"


def test_npy_with_labels_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    (tmp_path / "y.txt").write_text("\n".join(map(str, Y)) + "\n")
    (tmp_path / "names.txt").write_text("\n".join("abc"[i] for i in Y))
    by_array = cgscore.read(tmp_path / "x.npy", labels=Y)
    for name in ("y.npy", "y.txt"):
        data = cgscore.read(tmp_path / "x.npy", labels=tmp_path / name)
        np.testing.assert_array_equal(data.y, Y)
        assert data.fingerprint == by_array.fingerprint
    data = cgscore.read(tmp_path / "x.npy", labels=str(tmp_path / "names.txt"))
    assert data.y is not None
    assert data.y.tolist() == ["abc"[i] for i in Y]
    with pytest.raises(LabelError, match="--labels"):
        cgscore.read(tmp_path / "x.npy")


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


def test_a_frame_is_numbers_unless_it_holds_its_labels() -> None:
    as_numbers = cgscore.score(frame(), Y)
    np.testing.assert_array_equal(as_numbers.table["cg"], cgscore.score(X, Y).table["cg"])
    as_table = cgscore.read(frame(label=Y))
    assert as_table.X.shape == (12, 5)
    named = cgscore.read(frame(kind=pd.Categorical(["x", "y", "z"] * 4)), label_column="kind")
    assert named.y is not None
    assert named.y.tolist() == ["x", "y", "z"] * 4
    series = cgscore.score(X, pd.Series(["x", "y", "z"] * 4, dtype="string"))
    assert series.classes.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("name", ["digits", "iris", "wine", "breast_cancer"])
def test_bundled_data(name: str) -> None:
    data = cgscore.read(f"sklearn:{name}")
    assert data.y is not None
    assert len(data) == len(data.y) == len(data.ids)
    assert data.class_names is not None
    assert len(data.class_names) == len(np.unique(data.y))
    assert (data.preprocessing == "none") == (name == "digits")


def test_the_fingerprint_changes_with_the_data() -> None:
    base = cgscore.read(X, labels=Y)
    assert base.fingerprint == cgscore.read(X.copy(), labels=Y.copy()).fingerprint
    other = X.copy()
    other[3, 2] += 1e-9
    changed = [
        cgscore.read(other, labels=Y),
        cgscore.read(X, labels=Y[::-1]),
        cgscore.read(X.astype(np.float32), labels=Y),
        cgscore.read(X.reshape(12, 2, 2), labels=Y),
        cgscore.read(np.asfortranarray(X)[::-1], labels=Y),
    ]
    assert len({base.fingerprint, *(data.fingerprint for data in changed)}) == 6
    assert cgscore.read(np.asfortranarray(X), labels=Y).fingerprint == base.fingerprint


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
    "suffix": (lambda t: write(t, "d.xyz", "1"), SourceError, "no reader knows"),
    "sklearn": (lambda t: "sklearn:mnist", SourceError, "There are: breast_cancer"),
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
        r"no column 'label' or 'target'\. Its columns are a, b\. .*--label-column b",
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
        cgscore.read(frame(word="x"), labels=Y)


def test_columns_of_lists_are_no_categories() -> None:
    frame = pd.DataFrame({"e": [[1.0, 2.0], [3.0, 4.0]] * 4, "label": [0, 1] * 4})
    with pytest.raises(DataError, match="holds lists"):
        cgscore.read(frame)
