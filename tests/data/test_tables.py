"""Data frames: one preprocessing, wherever the labels are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.data.examples import X, Y, frame

import cgscore
from cgscore.errors import DataError, LabelError


def test_a_frame_is_a_table_and_an_array_is_numbers() -> None:
    apart, inside = cgscore.read(frame(), labels=Y), cgscore.read(frame(label=Y))
    np.testing.assert_array_equal(apart.X, inside.X)
    assert inside.X.shape == (12, 5)
    as_numbers = cgscore.score(frame(), Y, preprocess="none")
    np.testing.assert_array_equal(as_numbers.table["cg"], cgscore.score(X, Y).table["cg"])
    named = cgscore.read(frame(kind=pd.Categorical(["x", "y", "z"] * 4)), label_column="kind")
    assert named.y is not None
    assert named.y.tolist() == ["x", "y", "z"] * 4
    series = cgscore.score(X, pd.Series(["x", "y", "z"] * 4, dtype="string"))
    assert series.classes.tolist() == ["x", "y", "z"]


def mixed_table(n: int = 60) -> Any:
    """Columns of many kinds, with gaps."""
    rng = np.random.default_rng(0)
    table: pd.DataFrame = pd.DataFrame(
        {
            "id": [f"row {i}" for i in range(n)],
            "size": rng.standard_normal(n).round(3),
            "count": rng.integers(0, 9, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "when": pd.date_range("2020-01-01", periods=n, freq="17h").strftime("%Y-%m-%d"),
            "smokes": rng.integers(0, 2, n).astype(bool),
            "name": [f"Person {i}, of {i % 7}" for i in range(n)],
            "species": rng.choice(["cat", "dog"], n),
        }
    )
    table.loc[3:8, "size"] = np.nan
    table.loc[5:9, "colour"] = None
    return table


@pytest.mark.parametrize(
    "form", ["apart", "csv", "json lines", "parquet", "arrow", "polars", "polars apart", "types"]
)
@pytest.mark.parametrize("texts", [False, True], ids=["table", "with texts"])
def test_one_preprocessing_however_a_table_arrives(form: str, texts: bool, tmp_path: Path) -> None:
    table = mixed_table()
    if texts:
        words = ["fine", "great", "sunny", "poor", "awful", "grey"]
        rng = np.random.default_rng(1)
        table["remark"] = [" and ".join(rng.choice(words, 7)) + f" {i}" for i in range(len(table))]
    expected = cgscore.read(table, label_column="species")
    options: dict[str, Any] = {"label_column": "species"}
    source: Any = table
    if "polars" in form:
        pytest.importorskip("polars")
        import polars

        source = polars.from_pandas(table)
    if form == "csv":
        table.to_csv(source := tmp_path / "t.csv", index=False)
    elif form == "json lines":
        table.to_json(source := tmp_path / "t.jsonl", orient="records", lines=True)
    elif form == "parquet":
        table.to_parquet(source := tmp_path / "t.parquet")
    elif form == "arrow":
        import pyarrow as pa

        source = pa.Table.from_pandas(table)
    elif form == "types":
        kinds = {"colour": "category", "count": "category", "size": "Float64", "smokes": "boolean"}
        source = table.astype(kinds)
    elif "apart" in form:
        source = source.drop(columns="species") if form == "apart" else source.drop("species")
        options = {"labels": table["species"]}
    data = cgscore.read(source, **options)
    np.testing.assert_allclose(data.X, expected.X, rtol=0, atol=1e-12)
    assert data.y is not None
    assert data.y.tolist() == table["species"].tolist()
    assert data.ids.tolist() == table["id"].tolist()
    assert data.notes == expected.notes
    assert data.preprocessing == expected.preprocessing


def test_columns_of_lists_are_no_categories() -> None:
    frame = pd.DataFrame({"e": [[1.0, 2.0], [3.0, 4.0]] * 4, "label": [0, 1] * 4})
    with pytest.raises(DataError, match="holds lists"):
        cgscore.read(frame)


@pytest.mark.parametrize("form", ["frame", "arrow", "parquet", "hugging face"])
def test_one_label_per_example_is_expected(form: str, tmp_path: Path) -> None:
    labels = [["a", "b"], ["c"]] * 4
    table = pd.DataFrame({"x": range(8), "label": labels})
    source: Any = table
    if form == "arrow":
        import pyarrow as pa

        source = pa.table({"x": range(8), "label": labels})
    elif form == "parquet":
        table.to_parquet(source := tmp_path / "t.parquet")
    elif form == "hugging face":
        datasets = pytest.importorskip("datasets")
        source = datasets.Dataset.from_dict({"x": list(range(8)), "label": labels})
    with pytest.raises(LabelError, match=r"column 'label' .*One label per example is expected"):
        cgscore.read(source)


def with_remarks(n: int = 60, columns: int = 5) -> Any:
    """Numbers that say nothing, and remarks that say the label."""
    rng = np.random.default_rng(0)
    words = {"good": ["fine", "great", "sunny", "lovely"], "bad": ["poor", "awful", "grey", "sad"]}
    labels = ["good" if i % 2 else "bad" for i in range(n)]
    remarks = [f"it was a {' and '.join(rng.choice(words[x], 3))} day indeed" for x in labels]
    remarks = [f"{text} at number {i}" for i, text in enumerate(remarks)]
    numbers = {f"x{i}": rng.standard_normal(n) for i in range(columns)}
    return pd.DataFrame({**numbers, "remark": remarks, "label": labels})


def test_texts_beside_many_columns_are_inputs_like_them() -> None:
    data = cgscore.read(with_remarks())
    assert data.texts is None
    assert "texts in remark are compared by their words (TF-IDF)" in data.notes[0]
    assert "numbers of texts by tfidf" in data.preprocessing
    words = data.X[:, 6:]  # after five numbers and the constant
    assert np.sum(words**2) == pytest.approx(np.sum(data.X[:, :6] ** 2))
    assert cgscore.score(data, ridge="auto").accuracy() > 0.9
    without = cgscore.score(cgscore.read(with_remarks(), drop="remark"), ridge="auto")
    assert without.accuracy() < 0.8
    changed = with_remarks()
    changed.loc[7, "remark"] += "!"
    assert cgscore.read(changed).fingerprint != data.fingerprint


def test_texts_beside_few_columns_are_the_only_inputs() -> None:
    data = cgscore.read(with_remarks(columns=2), encoder="tfidf")
    assert data.texts is not None
    assert data.notes == ("inputs are the texts in remark; other columns left out: x0, x1",)
    asked = cgscore.read(with_remarks(), encoder="tfidf", text_column="remark")
    assert asked.texts is not None
