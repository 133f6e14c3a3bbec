"""Which columns are texts, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.command import invoke

import cgscore
from cgscore.data.texts import text_columns
from cgscore.errors import DataError, OptionError, SourceError

SUBJECTS = {
    "weather": ["rain", "snow", "wind", "storm", "cloud", "sun", "frost", "heat"],
    "cooking": ["bake", "boil", "roast", "dough", "salt", "pepper", "oven", "pan"],
    "music": ["violin", "chord", "melody", "drum", "rhythm", "choir", "opera", "flute"],
}


def table(n: int = 90, seed: int = 0) -> Any:
    """Texts about three subjects; the first three labels are wrong."""
    rng = np.random.default_rng(seed)
    labels = [list(SUBJECTS)[i % 3] for i in range(n)]
    texts = [
        f"Today we talk about {' and '.join(rng.choice(SUBJECTS[label], 4))} number {i}"
        for i, label in enumerate(labels)
    ]
    labels[:3] = [labels[1], labels[2], labels[0]]
    return pd.DataFrame({"price": rng.standard_normal(n), "review": texts, "label": labels})


def test_text_columns_are_found() -> None:
    frame = table().drop(columns="label")
    assert text_columns(frame, None, "t") == ["review"]
    n = len(frame)
    others = pd.DataFrame(
        {
            "name": [f"Smith{i}, Mr. John Paul" for i in range(n)],  # too short
            "colour": ["a very long name of a colour indeed"] * n,  # a category
            "when": [f"Mon Nov {i} 14:42:01 UTC 2026" for i in range(n)],
            "number": np.arange(n),
            "mixed": ["some words here and there, and more", 3] * (n // 2),
            "empty": [None] * n,
            "remark": [None] * (n - 9) + [f"a remark that few have, number {i}" for i in range(9)],
        }
    )
    assert text_columns(others, None, "t") == []
    assert text_columns(others[["name"]], None, "t") == ["name"]  # the only one
    assert text_columns(others.rename(columns={"name": "text"}), None, "t") == ["text"]
    assert text_columns(others, "colour", "t") == ["colour"]
    chinese = pd.DataFrame({"a": range(9), "b": [f"我们今天谈论天气第{i}" for i in range(9)]})
    assert text_columns(chinese, None, "t") == ["b"]
    twice = pd.concat([others, others], axis=1)
    assert text_columns(twice, None, "t") == []
    with pytest.raises(SourceError, match="two columns of the same name"):
        text_columns(twice, "name", "t")
    with pytest.raises(SourceError, match="holds the labels; it cannot be the text"):
        cgscore.read(table(), text_column="label")
    with pytest.raises(SourceError, match="no column 'nothing'"):
        text_columns(others, "nothing", "t")
    with pytest.raises(DataError, match="'number' holds int64, not text"):
        text_columns(others, "number", "t")


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame", "hugging face"])
def test_texts_from_anywhere(kind: str, tmp_path: Path) -> None:
    frame = table()
    source: Any = frame
    if kind == "csv":
        frame.to_csv(source := tmp_path / "t.csv", index=False)
    elif kind == "parquet":
        frame.to_parquet(source := tmp_path / "t.parquet", index=False)
    elif kind == "hugging face":
        import datasets

        source = datasets.Dataset.from_pandas(frame)
    data = cgscore.read(source, encoder="tfidf")
    assert data.texts == tuple(frame["review"])
    assert data.notes == ("inputs are the texts in review; other columns left out: price",)
    assert list(data.frame) == ["review", "price"]  # type: ignore[arg-type]
    assert data.preprocessing.startswith("tfidf: ")
    assert data.options["encoder"] == "tfidf"
    found = cgscore.score(data, ridge="auto").label_issues()
    assert set(np.flatnonzero(found["is_label_issue"])) == {0, 1, 2}


@pytest.mark.needs("transformers")
def test_minilm_is_the_default_where_it_is_installed() -> None:
    data = cgscore.read(table(30))
    assert data.options["encoder"] == "minilm"
    assert data.shape == (30, 384)
    assert not any("not installed" in note for note in data.notes)
    with pytest.raises(OptionError, match="holds text: the encoder pixels is for images"):
        cgscore.read(table(30), encoder="pixels")
    with pytest.raises(OptionError, match=r"takes text, .* text_column="):
        cgscore.read(table(30).drop(columns="review"), encoder="minilm")


def test_several_columns_and_missing_texts() -> None:
    frame = table()
    frame["title"] = [f"A longer title of the text with the number {i}" for i in range(len(frame))]
    frame.loc[5, ["review", "title"]] = None
    frame.loc[6, "title"] = None
    data = cgscore.read(frame, encoder="tfidf")
    assert data.texts is not None
    assert data.texts[0] == f"{frame['review'][0]}\n{frame['title'][0]}"
    assert data.texts[5] == ""
    assert data.texts[6] == frame["review"][6]
    assert data.notes[-1] == "1 texts are empty"
    assert np.linalg.norm(data.X[5]) > 0
    categories = frame.assign(review=frame["review"].astype("category"))
    assert cgscore.read(categories, encoder="tfidf").texts == data.texts
    one = cgscore.read(frame, encoder="tfidf", text_column="title")
    assert one.texts is not None
    assert one.texts[0] == frame["title"][0]
    assert one.notes[0] == "inputs are the texts in title; other columns left out: price, review"


def test_texts_beside_lists_and_images() -> None:
    import pyarrow as pa

    frame = table(30)
    rows = pa.table(
        {
            "input_ids": [[i, i + 1] for i in range(30)],
            "image": [{"bytes": b"", "path": "x"}] * 30,
            "review": frame["review"],
            "label": frame["label"],
        }
    )
    for named in ("review", None):
        data = cgscore.read(rows, encoder="tfidf", text_column=named)
        assert data.texts == tuple(frame["review"])
    with pytest.raises(SourceError, match="no column 'nothing'"):
        cgscore.read(rows, text_column="nothing")
    assert cgscore.read(rows.drop(["image"])).shape == (30, 2)


@pytest.mark.needs("transformers")
def test_lone_surrogates() -> None:
    frame = table(30).astype({"review": object})
    frame.loc[3, "review"] = "half of a \ud83d pair and some more words"
    for name in ("tfidf", "minilm"):
        assert np.isfinite(cgscore.read(frame, encoder=name).X).all()


@pytest.mark.needs("transformers")
def test_encoded_texts_can_be_encoded_otherwise() -> None:
    data = cgscore.read(table(30), encoder="tfidf")
    assert cgscore.read(data, encoder="minilm").shape == (30, 384)


def test_texts_change_the_fingerprint() -> None:
    frame = table()
    first = cgscore.read(frame, encoder="tfidf")
    frame.loc[7, "review"] += "!"  # which makes no difference to the words
    second = cgscore.read(frame, encoder="tfidf")
    assert np.allclose(first.X, second.X)
    assert first.fingerprint != second.fingerprint


@pytest.mark.needs("transformers")
def test_from_the_command_line_to_the_page(tmp_path: Path) -> None:
    frame = table()
    frame.loc[0, "review"] += " <img src=x onerror=alert(1)>"
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = invoke("score", "t.csv", "--encoder", "tfidf", "--ridge", "auto", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "t.csv   90 texts by tfidf 1, " in done.stdout
    assert "inputs    tfidf: " in done.stdout
    assert "Today we talk about " in done.stdout  # beside the suspects
    done = invoke("issues", "scores.parquet", "--why", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["suspects"] == 3
    assert len(json.loads(done.stdout)["why"]) > 0
    done = invoke("report", "scores.parquet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    assert "\\u003cimg src=x onerror" in page
    assert "<img src=x" not in page
    info = json.loads(invoke("info", "t.csv", "--json", folder=tmp_path).stdout)
    assert info["preprocessing"] == "minilm: 384 numbers"
