"""JSON lines, and lists of objects."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.data.readers.json_lines import write_json
from cgscore.errors import CGScoreError, LabelError

ROWS = [
    {"a": 1, "b": 2.5, "colour": "red", "label": "x"},
    {"a": 2, "colour": "blue", "label": "y", "ok": True},
    {"a": 5, "b": None, "colour": "réd", "label": "x"},
    {"a": 9, "b": 4, "colour": "blue", "label": "y"},
]
FRAME = pd.DataFrame(ROWS)


def write(path: Path, indent: int | None = None) -> Path:
    if path.name.startswith("list"):
        text = json.dumps(ROWS, indent=indent, ensure_ascii=False)
    else:
        text = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    "name", ["t.jsonl", "t.ndjson", "t.JSONL.gz", "t.json", "list.json", "list.json.gz"]
)
def test_the_same_table_in_every_form(name: str, tmp_path: Path) -> None:
    data = cgscore.read(write(tmp_path / name))
    expected = cgscore.read(FRAME)
    np.testing.assert_allclose(data.X, expected.X)
    assert data.y is not None
    assert data.y.tolist() == ["x", "y", "x", "y"]
    assert data.notes == expected.notes


def test_lists_of_numbers_are_the_inputs(tmp_path: Path) -> None:
    lines = [{"vector": [i, i + 1.5], "label": i % 2} for i in range(6)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    data = cgscore.read(tmp_path / "t.jsonl")
    assert data.X.tolist() == [row["vector"] for row in lines]


def test_several_labels_are_refused(tmp_path: Path) -> None:
    lines = [{"a": i, "label": ["x", "y"]} for i in range(6)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(LabelError, match="One label per example is expected"):
        cgscore.read(tmp_path / "t.jsonl")
    lines[2]["label"] = "x"  # a text among lists
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(LabelError, match="One label per example is expected"):
        cgscore.read(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", '{"a": 1, "label": 0}\n[1, 2]\n', "line 2 holds a list. Expected an object"),
        ("t.jsonl", '{"a": 1}\n\n{"a": \n', r"line 3 is not JSON \(Expecting value"),
        ("t.jsonl", '{"a": 1} {"a": 2}', "line 1 holds more than one value"),
        ("t.jsonl", "\n\n", "has no rows"),
        ("t.jsonl", "{}\n{}\n", "have no keys"),
        ("t.json", "[]", "has no rows"),
        ("t.json", '[{"a": 1}, 3]', r"element 1 \(counted from 0\) holds a number"),
        ("t.json", '[{"a": 1}, {"a": 2}', "its list has no end"),
        ("t.json", '[{"a": 1}] x', "something after its list"),
        ("t.json", '{\n"a": 1}', "line 1 is not JSON .*one list of objects"),
        ("t.jsonl", '{"a": 1, "b": 0}\n{"a": 2, "b": 1}', "label_column='b'"),
        ("t.jsonl", '{"a": 1, "label": 0}\n{"a": "x", "label": 1}\n{"a": 3, "label": 1}', "row 1"),
    ],
)
def test_files_with_mistakes(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(CGScoreError, match=message):
        cgscore.read(tmp_path / name)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.json", "list.json", "list2.json"])
def test_a_part_keeps_the_text(name: str, tmp_path: Path) -> None:
    source = write(tmp_path / name, indent=1 if name == "list2.json" else None)
    part = tmp_path / f"part-{name}"
    data = cgscore.read(source)
    assert write_json(data, np.array([0, 2]), part, False) == "2 rows"
    content = part.read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    kept: Any
    kept = json.loads(text) if "list" in name else [json.loads(row) for row in text.splitlines()]
    assert kept == [ROWS[0], ROWS[2]]
    assert "é" in text  # not escaped, as it was not
