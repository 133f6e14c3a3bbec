"""Columns that name sources, groups and annotators are kept beside the inputs, not among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.data.origins import origin_values
from cgscore.errors import LabelError, OptionError, SourceError
from cgscore.spelling import messages_for

N = 24


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table: pd.DataFrame = pd.DataFrame(rng.standard_normal((N, 3)).round(3), columns=list("abc"))
    table["label"] = np.arange(N) % 3
    table["who"] = np.resize(np.array(["ann", "bob", None], dtype=object), N)
    table["batch"] = np.arange(N) // 8
    return table


@pytest.fixture
def wide(frame: pd.DataFrame) -> pd.DataFrame:
    y = frame["label"].to_numpy(np.float64)
    first, second = np.where(np.arange(N) % 4 == 0, np.nan, y), np.where(y == 2, 0, y)
    table: pd.DataFrame = frame[list("abc")].assign(first=first, second=second, third=y)
    return table


def saved(table: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".feather":
        table.to_feather(path)
    else:
        table.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("suffix", ["frame", ".csv", ".parquet", ".feather", ".jsonl"])
def test_source_and_group_are_no_inputs(frame: pd.DataFrame, tmp_path: Path, suffix: str) -> None:
    source: Any = frame if suffix == "frame" else saved(frame, tmp_path / f"t{suffix}")
    dataset = cgscore.read(source, source_column="who", group_column="batch")
    plain = cgscore.read(frame.drop(columns=["who", "batch"]))
    np.testing.assert_array_equal(dataset.X, plain.X)
    assert dataset.fingerprint == plain.fingerprint
    assert dataset.columns["source"].tolist() == ["ann", "bob", None] * (N // 3)
    assert dataset.columns["group"].tolist() == frame["batch"].tolist()
    assert dataset.options["source_column"] == "who"


def test_arrays_from_python(frame: pd.DataFrame) -> None:
    X, y = frame[list("abc")].to_numpy(), frame["label"].to_numpy()
    dataset = cgscore.read(X, labels=y, source_column=frame["who"], group_column=range(N))
    assert dataset.columns["source"][:3].tolist() == ["ann", "bob", None]
    assert dataset.columns["group"].tolist() == list(range(N))
    assert "source_column" not in dataset.options
    again = cgscore.read(dataset, group_column=["x"] * N)
    assert again.columns["source"][0] == "ann"
    assert set(again.columns["group"]) == {"x"}
    with pytest.raises(OptionError, match=r"source_column must name a column, or have one"):
        cgscore.read(X, labels=y, source_column=["a"])
    with pytest.raises(OptionError, match="read already"):
        cgscore.read(dataset, source_column="who")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1], [3, 1]),
        ([True, False], [True, False]),
        ([1.0, np.nan], ["1", None]),
        ([0.5, 2.0], ["0.5", "2"]),
        (np.array(["2024-01-31", "NaT"], dtype="M8[ns]"), ["2024-01-31", None]),
        (
            np.array(["2024-01-31T10:00", "2024-02-01"], dtype="M8[us]"),
            ["2024-01-31T10:00:00.000000", "2024-02-01"],
        ),
        (np.array([1, "a", None], dtype=object), ["1", "a", None]),
    ],
)
def test_names_of_any_type(values: Any, expected: list[Any]) -> None:
    assert origin_values(np.asarray(values)).tolist() == expected


def test_the_label_may_be_a_group_as_well(frame: pd.DataFrame) -> None:
    dataset = cgscore.read(frame.drop(columns=["who", "batch"]), group_column="label")
    assert dataset.columns["group"].tolist() == frame["label"].tolist()


def test_columns_that_do_not_fit(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no column 'Who'\. Did you mean 'who'\?"):
        cgscore.read(frame, source_column="Who")
    with pytest.raises(SourceError, match="column 'who' is asked for and to be dropped"):
        cgscore.read(frame, source_column="who", drop="who")
    with pytest.raises(OptionError, match="source_column='who' is not used for arrays"):
        cgscore.read(np.eye(4), labels=[0, 1, 0, 1], source_column="who")
    np.savez(tmp_path / "a.npz", X=np.eye(4), y=np.arange(4) % 2)
    with pytest.raises(OptionError, match=r"source_column='who' is not used for .*a\.npz"):
        cgscore.read(tmp_path / "a.npz", source_column="who")
    with (
        pytest.raises(OptionError, match="--group-column who is not used"),
        messages_for("command line"),
    ):
        cgscore.read(tmp_path / "a.npz", group_column="who")


@pytest.mark.parametrize("suffix", ["frame", ".csv", ".parquet", ".jsonl"])
def test_annotators_side_by_side(
    wide: pd.DataFrame, frame: pd.DataFrame, tmp_path: Path, suffix: str
) -> None:
    source: Any = wide if suffix == "frame" else saved(wide, tmp_path / f"t{suffix}")
    dataset = cgscore.read(source, annotator_columns=["first", "second", "third"])
    assert dataset.annotations is not None
    assert dataset.annotations.names == ("first", "second", "third")
    assert dataset.annotations.classes.tolist() == [0, 1, 2]
    assert (dataset.annotations.codes[:, 2] == frame["label"]).all()
    assert ((dataset.annotations.codes[:, 0] < 0) == (np.arange(N) % 4 == 0)).all()
    assert dataset.y is not None
    assert len(dataset.y) == N
    np.testing.assert_array_equal(dataset.X, cgscore.read(frame[[*"abc", "label"]]).X)
    wide.loc[1, "first"] = 2.0  # the two others agree
    other = cgscore.read(wide, annotator_columns=["first", "second", "third"])
    np.testing.assert_array_equal(other.y, dataset.y)
    assert other.fingerprint != dataset.fingerprint


@pytest.mark.parametrize("by_id", [True, False])
def test_one_row_per_label(wide: pd.DataFrame, tmp_path: Path, by_id: bool) -> None:
    names = ["first", "second", "third"]
    numbered = wide.assign(id=np.arange(N) * 10)
    long = numbered.melt(["id", *"abc"], names, "who", "label").dropna(subset="label")
    long = long.sample(frac=1, random_state=0)
    if not by_id:
        long = long.drop(columns="id")
    dataset = cgscore.read(saved(long, tmp_path / "l.csv"), annotator_columns="who")
    expected = cgscore.read(wide, annotator_columns=names)
    assert dataset.annotations is not None
    assert expected.annotations is not None
    order = np.argsort(dataset.X[:, 0])
    target = np.argsort(expected.X[:, 0])
    columns = [dataset.annotations.names.index(name) for name in names]
    np.testing.assert_array_equal(
        dataset.annotations.codes[order][:, columns], expected.annotations.codes[target]
    )
    assert dataset.rows is not None
    np.testing.assert_allclose(
        long["a"].to_numpy()[dataset.rows][order], wide["a"].to_numpy()[target]
    )
    if by_id:
        assert (dataset.ids[order] == target * 10).all()
    assert f"{len(long)} labels of {N} examples by 3 annotators" in dataset.notes


def test_annotators_that_do_not_fit(wide: pd.DataFrame, frame: pd.DataFrame) -> None:
    with pytest.raises(SourceError, match=r"Did you mean 'first'\?"):
        cgscore.read(wide, annotator_columns=["firsts", "second"])
    with pytest.raises(OptionError, match="gives labels, and so does another option"):
        cgscore.read(wide, labels=np.arange(N) % 2, annotator_columns=["first", "second"])
    with pytest.raises(OptionError, match=r"Leave out label_column='third'"):
        cgscore.read(wide, label_column="third", annotator_columns=["first", "second"])
    with pytest.raises(SourceError, match="no column 'label' or 'target'"):
        cgscore.read(wide, annotator_columns=["first"])
    with pytest.raises(OptionError, match="Leave out source_column='batch'"):
        cgscore.read(frame, annotator_columns=["who"], source_column="batch")
    twice = pd.concat([frame, frame.assign(label=1 - frame["label"])])
    with pytest.raises(LabelError, match="the annotator 'ann' labelled one example twice, as 0"):
        cgscore.read(twice, annotator_columns=["who"])
    empty = wide.assign(third=np.nan, second=np.nan)
    with pytest.raises(LabelError, match="no annotator labelled 6 of 24 examples: 0, 4, 8"):
        cgscore.read(empty, annotator_columns=["first", "second", "third"])


@pytest.mark.parametrize("suffix", ["frame", ".parquet", ".jsonl"])
def test_names_are_checked_before_labels(wide: pd.DataFrame, tmp_path: Path, suffix: str) -> None:
    source: Any = wide if suffix == "frame" else saved(wide, tmp_path / f"t{suffix}")
    with pytest.raises(SourceError, match=r"no column 'thirds'\. Did you mean 'third'"):
        cgscore.read(source, annotator_columns="thirds")


def test_a_parquet_file_of_images(tmp_path: Path) -> None:
    import io

    from PIL import Image

    rng = np.random.default_rng(0)
    contents = []
    for _ in range(6):
        file = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (8, 8), dtype=np.uint8)).save(file, "PNG")
        contents.append({"bytes": file.getvalue(), "path": None})
    contents[1]["bytes"] = b"no image"
    table: pd.DataFrame = pd.DataFrame(
        {"image": contents, "label": [0, 1] * 3, "who": list("aabbcc"), "x": [0, 1] * 3}
    )
    table.to_parquet(tmp_path / "i.parquet")
    dataset = cgscore.read(tmp_path / "i.parquet", source_column="who", skip_bad=True)
    assert dataset.columns["source"].tolist() == list("abbcc")
    both = cgscore.read(tmp_path / "i.parquet", annotator_columns=["label", "x"], skip_bad=True)
    assert both.annotations is not None
    assert both.annotations.codes.tolist() == [[0, 0], [0, 0], [1, 1], [0, 0], [1, 1]]
    with pytest.raises(OptionError, match="stands for one row per label"):
        cgscore.read(tmp_path / "i.parquet", annotator_columns="who", skip_bad=True)
