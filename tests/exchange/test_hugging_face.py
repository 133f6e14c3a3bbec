"""Hugging Face: what the real package reads of our folder, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.exchange.examples import Examples
from cgscore.exchange.hugging_face import read, write
from cgscore.exchange.registry import find_tool, tool_of
from cgscore.exchange.tool import ExportOptions
from cgscore.execution.progress import ignore
from tests.command import invoke
from tests.exchange.data import CLASSES, N, crowd, images, pictures, table, texts
from tests.exchange.test_round_trip import exported

pytestmark = pytest.mark.needs("datasets")


def load(path: Path) -> Any:
    from datasets import disable_progress_bars, load_from_disk

    disable_progress_bars()
    return load_from_disk(str(path))


def test_columns_and_their_types(tmp_path: Path) -> None:
    from datasets import ClassLabel, Value

    source = table(tmp_path)
    result = source.scored()
    path, document = exported("hugging-face", source, result)
    assert document["examples"] == N  # all of them, in their order
    dataset, scores = load(path), cgscore.load(result)
    assert dataset.features["label"] == ClassLabel(names=sorted(CLASSES))
    assert dataset.features["corrected_label"] == Value("string")
    names = dataset.features["label"].names
    assert [names[code] for code in dataset["label"]] == scores.table["given_label"].tolist()
    assert np.allclose(dataset["cg"], scores.table["cg"])
    assert dataset["cgscore_id"][:] == scores.table["id"].tolist()
    issues = scores.label_issues()
    assert dataset["is_label_issue"][:] == issues["is_label_issue"].tolist()
    assert dataset["suggested_label"][:] == issues["predicted_label"].tolist()
    assert set(dataset["corrected_label"]) == {None}
    frame = scores.data().frame
    assert frame is not None
    assert dataset["x0"][:] == frame["x0"].tolist()


@pytest.mark.parametrize("make", [images, pictures])
def test_images_decode(make: Any, tmp_path: Path) -> None:
    source = make(tmp_path)
    result = source.scored()
    path, _ = exported("hugging-face", source, result)
    dataset, data = load(path), cgscore.load(result).data()
    for at in (0, 5, N - 1):
        assert np.array_equal(np.asarray(dataset[at]["image"]), np.asarray(data.picture(at)))
    assert str(tmp_path) not in (path / "README.md").read_text()
    assert str(tmp_path).encode() not in (path / "data-00000-of-00001.arrow").read_bytes()


def test_texts_are_whole(tmp_path: Path) -> None:
    source = texts(tmp_path)
    result = source.scored()
    path, _ = exported("hugging-face", source, result)
    assert load(path)["text"][:] == list(cgscore.load(result).data().texts or [])


def test_the_card_holds_counts_and_nothing_of_the_data(tmp_path: Path) -> None:
    source = table(tmp_path)
    path, document = exported("hugging-face", source, source.scored())
    card = (path / "README.md").read_text()
    assert card.startswith("---\ntags:\n- cgscore\n")
    assert "90 examples in 3 classes; 4 labels look wrong" in card
    assert document["fingerprint"] in card
    assert not any(name in card for name in CLASSES)


def test_the_code_of_the_card_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = table(tmp_path)
    path, _ = exported("hugging-face", source, source.scored())
    load(path)  # without bars from here on
    code = (path / "README.md").read_text().split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(code.replace("FOLDER", str(path)), {})
    done = invoke("import", "scores.parquet", "corrected", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accepted"] == 4


def test_a_parquet_file_of_the_hub_and_codes_of_classes(tmp_path: Path) -> None:
    from datasets import ClassLabel, DatasetDict

    source = table(tmp_path)
    result = source.scored()
    path, _ = exported("hugging-face", source, result)
    names = sorted(CLASSES)
    dataset = load(path)
    codes = [names.index(source.truth[i]) if i in source.truth else None for i in range(N)]
    dataset = dataset.remove_columns("corrected_label").add_column("corrected_label", codes)
    dataset = dataset.cast_column("corrected_label", ClassLabel(names=names))
    dataset.to_parquet(str(tmp_path / "hub.parquet"))
    assert tool_of(tmp_path / "hub.parquet").name == "hugging-face"
    found = {correction.position: correction.label for correction in read(tmp_path / "hub.parquet")}
    assert found == source.truth
    DatasetDict({"train": dataset}).save_to_disk(str(tmp_path / "splits"))
    assert len(list(read(tmp_path / "splits"))) == len(source.truth)
    done = invoke("import", result.name, "hub.parquet", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["accepted"] == len(source.truth), done.stderr


def test_columns_of_every_type(tmp_path: Path) -> None:
    big = 2**62 + 1
    frame = pd.DataFrame(
        {
            "whole": np.full(40, big),
            "unsigned": np.full(40, 2**64 - 1, np.uint64),
            "number": np.linspace(0, 1, 40),
            "gaps": pd.array([1, None] * 20, dtype="Int64"),
            "truth": np.arange(40) % 3 == 0,
            "day": pd.date_range("2020-01-01", periods=40),
            "kind": pd.Categorical(["x", "y"] * 20),
            "cg": ["its own", None] * 20,
            "label": ["a", "b"] * 20,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    cgscore.score(str(tmp_path / "t.parquet"), ridge=0.1).save(tmp_path / "scores.parquet")
    for name in ("hugging-face", "label-studio", "argilla", "csv"):
        suffix = find_tool(name).suffix
        arguments = ("export", "scores.parquet", "--to", name, "-o", f"{name}{suffix}", "--all")
        done = invoke(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    dataset = load(tmp_path / "hugging-face")
    assert dataset[1]["whole"] == big
    assert dataset[1]["unsigned"] == 2**64 - 1
    assert (dataset[0]["gaps"], dataset[1]["gaps"]) == (1, None)
    assert dataset[0]["truth"] is True
    assert dataset[0]["day"].startswith("2020-01-01")
    assert (dataset[0]["column_cg"], dataset[1]["column_cg"]) == ("its own", None)
    (row,) = json.loads((tmp_path / "label-studio" / "tasks.json").read_text())[1:2]
    cells = row["data"]["row"]
    assert (cells["whole"], cells["gaps"], cells["truth"]) == (str(big), "", "False")
    table = pd.read_csv(tmp_path / "csv.csv", dtype=str)
    assert table["column_whole"][0] == str(big)


def test_truth_and_numbers_among_gaps_are_text(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "number": np.linspace(0, 1, 40),
            "truth": [True, None, False, True] * 10,
            "mixed": [1, "x", "y", None] * 10,
            "label": ["a", "b"] * 20,
        }
    )
    frame.drop(columns="mixed").to_csv(tmp_path / "t.csv", index=False)
    done = invoke("export", "t.csv", "--to", "hugging-face", "-o", "hf", "--all", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "hf")["truth"][:4] == ["True", None, "False", "True"]
    scores = cgscore.score(frame, label_column="label", ridge=0.1)
    captions = find_tool("hugging-face").captions(scores)
    issues = scores.label_issues()
    examples = Examples(scores, scores.data(), issues, np.arange(40), captions)
    write(examples, tmp_path / "out", ExportOptions(), ignore)
    assert load(tmp_path / "out")["mixed"][:4] == ["1", "x", "y", None]


def test_many_classes(tmp_path: Path) -> None:
    scores, issues = crowd(tmp_path)
    captions = find_tool("hugging-face").captions(scores)
    examples = Examples(scores, None, issues, np.arange(40), captions)
    write(examples, tmp_path / "out", ExportOptions(), ignore)
    dataset = load(tmp_path / "out")
    assert dataset.features["label"].names == captions.texts
    assert dataset["label"][:] == scores.codes()[:40].tolist()
