"""Copies of sources with only what stays."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.selection.export import write_filtered

KEPT = np.array([1, 2, 5])


def rows(n: int) -> str:
    return "".join(f'{i:02};"x{i}; ""{i}""";{i},5;{"cat" if i % 2 else "dog"}\n' for i in range(n))


def test_csv_keeps_its_records_to_the_letter(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    lines = [line + "\r\n" for line in rows(8).splitlines()]
    lines[1] = '01;"two\rlines, \n and ""more""";1,5;cat\r\n'
    lines[2] = '"02" ; plain ;2,5;dog\r\n'
    whole = "".join(['\ufeffid;note;"a b";label\r\n', "\r\n", *lines[:4], "\r\n", *lines[4:]])
    source.write_bytes(whole.encode())
    dataset = cgscore.read(source)
    write_filtered(dataset, KEPT, tmp_path / "out.csv")
    expected = '\ufeffid;note;"a b";label\r\n' + "".join(lines[i] for i in KEPT)
    assert (tmp_path / "out.csv").read_bytes() == expected.encode()
    again = cgscore.read(tmp_path / "out.csv")
    assert again.ids.tolist() == dataset.ids[KEPT].tolist()
    for name in ("out.csv.gz", "more.csv.gz"):
        write_filtered(dataset, np.isin(np.arange(8), KEPT), tmp_path / name)
    packed = (tmp_path / "out.csv.gz").read_bytes()
    assert gzip.decompress(packed) == expected.encode()
    assert (tmp_path / "more.csv.gz").read_bytes() == packed
    with pytest.raises(OptionError, match=r"ends in \.csv or a name that ends in \.npz"):
        write_filtered(dataset, KEPT, tmp_path / "out.tsv")
    with pytest.raises(OptionError, match="cannot have this name"):
        write_filtered(dataset, KEPT, tmp_path / "out.npz.gz")
    with pytest.raises(OptionError, match="mask of 8"):
        write_filtered(dataset, np.ones(7, bool), tmp_path / "o.csv")


def test_csv_with_a_very_long_text(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    long = "a" * 300_000
    body = "".join(f"{i},{long if i == 2 else 'b'},{i % 2}\n" for i in range(6))
    source.write_text("x,text,label\n" + body)
    write_filtered(cgscore.read(source), np.array([0, 2]), tmp_path / "o.csv")
    assert long in (tmp_path / "o.csv").read_text()


def test_csv_that_changed_since_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("id;note;x;label\n" + rows(8))
    dataset = cgscore.read(source)
    source.write_text("id;note;x;label\n" + rows(9))
    (tmp_path / "o.csv").write_text("older")
    with pytest.raises(OptionError, match="has changed since"):
        write_filtered(dataset, KEPT, tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "older"


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_arrow_files_keep_types_and_other_columns(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame(
        {
            "x": np.arange(8.0),
            "flag": [True, False] * 4,
            "label": pd.Categorical(list("ababbaab")),
        }
    )
    source, to = tmp_path / f"t{suffix}", tmp_path / f"o{suffix}"
    write, read = (
        (pd.DataFrame.to_parquet, pd.read_parquet)
        if suffix == ".parquet"
        else (pd.DataFrame.to_feather, pd.read_feather)
    )
    write(frame, source)
    write_filtered(cgscore.read(source), KEPT, to)
    pd.testing.assert_frame_equal(read(to), frame.iloc[KEPT].reset_index(drop=True))


def test_npz_filters_every_array_of_examples(tmp_path: Path) -> None:
    X, y = np.arange(16.0).reshape(8, 2), np.arange(8) % 2
    np.savez(tmp_path / "d.npz", X=X, y=y, weight=np.arange(8), names=np.array(["no", "yes"]))
    write_filtered(cgscore.read(tmp_path / "d.npz"), KEPT, tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as found:
        assert (found["X"] == X[KEPT]).all()
        assert found["weight"].tolist() == KEPT.tolist()
        assert found["names"].tolist() == ["no", "yes"]


def test_npz_leaves_other_splits_alone(tmp_path: Path) -> None:
    X, y = np.arange(16.0).reshape(8, 2) + 1, np.arange(8) % 2
    np.savez(tmp_path / "d.npz", X=X, y=y, X_test=X, allow_pickle_=y)
    told = write_filtered(cgscore.read(tmp_path / "d.npz"), KEPT, tmp_path / "o.npz")
    assert told == "3 rows of X, y, allow_pickle_; X_test as before"
    with np.load(tmp_path / "o.npz") as found:
        assert sorted(found.files) == ["X", "X_test", "allow_pickle_", "y"]
        assert len(found["X_test"]) == 8


def test_labels_from_elsewhere(tmp_path: Path) -> None:
    X = np.arange(16.0).reshape(8, 2) + 1
    pd.DataFrame(X, columns=["a", "b"]).assign(label=0).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "l.txt").write_text("no\nyes\n" * 4)
    dataset = cgscore.read(tmp_path / "t.csv", labels=tmp_path / "l.txt")
    with pytest.raises(OptionError, match=r"without them\. Write an \.npz"):
        write_filtered(dataset, KEPT, tmp_path / "o.csv")
    write_filtered(dataset, KEPT, tmp_path / "o.npz")
    again = cgscore.read(tmp_path / "o.npz")
    assert again.y is not None
    assert again.y.tolist() == ["yes", "no", "yes"]
    with pytest.raises(OptionError, match="labels came from elsewhere"):
        write_filtered(
            cgscore.read(tmp_path / "t.csv").with_labels([1, 2] * 4), KEPT, tmp_path / "o.csv"
        )


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(8.0), "b": 1.0, "label": [0, 1] * 4})
    frame.to_parquet(tmp_path / "t.parquet")
    dataset = cgscore.read(tmp_path / "t.parquet")
    frame.iloc[::-1].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(OptionError, match="has changed since"):
        write_filtered(dataset, KEPT, tmp_path / "o.parquet")
    assert not (tmp_path / "o.parquet").exists()


def test_any_source_becomes_an_archive(tmp_path: Path) -> None:
    dataset = cgscore.read("sklearn:digits")
    write_filtered(dataset, KEPT, tmp_path / "o.npz")
    again = cgscore.read(tmp_path / "o.npz")
    assert (dataset.X[KEPT] == again.X).all()
    assert again.ids.tolist() == KEPT.tolist()
    with pytest.raises(OptionError, match=r"Expected a name that ends in \.npz"):
        write_filtered(dataset, KEPT, tmp_path / "o.csv")


def images(folder: Path) -> Path:
    from PIL import Image

    rng = np.random.default_rng(0)
    for c in ("cat", "dog"):
        (folder / c).mkdir(parents=True)
        for i in range(4):
            Image.fromarray(rng.integers(0, 255, (6, 6, 3), np.uint8)).save(folder / c / f"{i}.png")
    return folder


def test_images_are_linked_or_copied(tmp_path: Path) -> None:
    source = images(tmp_path / "photos")
    dataset = cgscore.read(source)
    assert write_filtered(dataset, KEPT, tmp_path / "few").startswith("3 links")
    found = sorted(p.relative_to(tmp_path / "few").as_posix() for p in tmp_path.glob("few/*/*"))
    assert found == ["cat/1.png", "cat/2.png", "dog/1.png"]
    assert (tmp_path / "few/cat/1.png").is_symlink()
    assert write_filtered(dataset, KEPT, tmp_path / "copied", copy=True) == "3 copies"
    assert not (tmp_path / "copied/cat/1.png").is_symlink()
    assert cgscore.read(tmp_path / "copied").ids.tolist() == found
    with pytest.raises(OptionError, match="exists already"):
        write_filtered(dataset, KEPT, tmp_path / "few")
    write_filtered(dataset, KEPT, tmp_path / "few-0.6")  # a folder, whatever its name looks like
    assert (tmp_path / "few-0.6/cat/1.png").is_symlink()
    with pytest.raises(OptionError, match="Copying instead of linking"):
        write_filtered(dataset, KEPT, tmp_path / "o.npz", copy=True)
    with pytest.raises(OptionError, match="is inside"):
        write_filtered(dataset, KEPT, source / "few")


def test_folders_inside_classes_stay(tmp_path: Path) -> None:
    source = images(tmp_path / "photos")
    (source / "cat" / "a").mkdir()
    (source / "cat" / "3.png").rename(source / "cat" / "a" / "0.png")
    dataset = cgscore.read(source)
    write_filtered(dataset, np.arange(8), tmp_path / "all", copy=True)
    assert cgscore.read(tmp_path / "all").ids.tolist() == dataset.ids.tolist()


def test_rows_of_skipped_images_are_not_mixed_up(tmp_path: Path) -> None:
    source = images(tmp_path / "photos")
    files = [path.read_bytes() for path in sorted(source.glob("*/*.png"))]
    files[1] = b"broken"
    frame = pd.DataFrame(
        {"image": [{"bytes": f, "path": None} for f in files], "label": [0] * 4 + [1] * 4}
    )
    frame.to_parquet(tmp_path / "p.parquet")
    dataset = cgscore.read(tmp_path / "p.parquet", skip_bad=True)
    assert len(dataset) == 7
    write_filtered(dataset, np.array([0, 1]), tmp_path / "o.parquet")
    again = pd.read_parquet(tmp_path / "o.parquet")
    assert [one["bytes"] for one in again["image"]] == [files[0], files[2]]


def test_hugging_face_dataset_on_disk(tmp_path: Path) -> None:
    import datasets

    data = datasets.Dataset.from_dict(
        {"x": list(map(float, range(8))), "z": [1.0, 3.0] * 4, "label": [0, 1] * 4},
        features=datasets.Features(
            x=datasets.Value("float64"),
            z=datasets.Value("float64"),
            label=datasets.ClassLabel(names=["no", "yes"]),
        ),
    )
    whole = datasets.DatasetDict(train=data, test=data.select([0]))
    whole.save_to_disk(tmp_path / "hub")
    dataset = cgscore.read(tmp_path / "hub")
    write_filtered(dataset, KEPT, tmp_path / "few")
    again = datasets.load_from_disk(tmp_path / "few")
    assert again["x"][:] == [1.0, 2.0, 5.0]
    assert again.features["label"].names == ["no", "yes"]


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("x;label\n" + "".join(f"{i};{i % 2}\n" for i in range(8)))
    before = source.read_bytes()
    with pytest.raises(OptionError, match="the source itself"):
        write_filtered(cgscore.read(source), KEPT, source)
    assert source.read_bytes() == before
