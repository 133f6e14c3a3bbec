"""Argilla: what the real package makes of our folder, and what comes back."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np

import cgscore
from tests.command import invoke
from tests.exchange.data import SOURCES, pictures
from tests.exchange.peers import run_with_tools
from tests.exchange.test_round_trip import exported

# Settings ask for a client when they are made; none of them talks to a server.
PROGRAM = """
import json, sys
from pathlib import Path
from unittest.mock import MagicMock
import argilla as rg
from argilla._models import DatasetModel
from argilla.records._io import JsonIO

rg.Argilla._default_client = MagicMock()
for folder in map(Path, sys.argv[1:]):
    settings = rg.Settings.from_json(folder / "export" / ".argilla" / "settings.json")
    DatasetModel(**json.loads((folder / "export" / ".argilla" / "dataset.json").read_text()))
    settings.validate()
    records = JsonIO._records_from_json(folder / "export" / "records.json")
    question = settings.questions["label"]
    names = {field.name for field in settings.fields}
    for record in records:
        assert set(record.fields) == names, (record.fields, names)
        (suggestion,) = record.suggestions
        assert isinstance(question, rg.TextQuestion) or suggestion.value in question.labels
        assert 0 <= suggestion.score <= 1
        assert suggestion.agent == "cgscore"
    first = records[0]
    chosen = first.suggestions["label"].value
    user = "6afc8638-0000-4000-8000-000000000001"
    first.responses.add(rg.Response("label", chosen, user_id=user, status="submitted"))
    JsonIO.to_json(records, folder / "back.json")
    print(len(records))
"""


def test_the_real_package_reads_records_and_settings(tmp_path: Path) -> None:
    expected = {}
    for kind, make in SOURCES.items():
        folder = tmp_path / kind
        folder.mkdir()
        source = make(folder)
        _, document = exported("argilla", source, source.scored())
        expected[folder] = document["examples"]
    counts = run_with_tools(PROGRAM, *expected).split()
    assert list(map(int, counts)) == list(expected.values())
    for folder in expected:
        records = json.loads((folder / "back.json").read_text())
        records[0]["status"] = "completed"  # as a server says after enough were submitted
        (folder / "back.json").write_text(json.dumps(records))
        done = invoke("import", "scores.parquet", "back.json", "--json", folder=folder)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["from"] == "argilla"
        assert answer["accepted"] + answer["changed"] == 1


def test_pictures_are_inside_the_records(tmp_path: Path) -> None:
    from PIL import Image

    source = pictures(tmp_path)
    result = source.scored()
    path, _ = exported("argilla", source, result)
    data = cgscore.load(result).data()
    for record in json.loads((path / "records.json").read_text()):
        head, packed = record["fields"]["image"].split(",")
        assert head == "data:image/png;base64"
        picture = Image.open(io.BytesIO(base64.b64decode(packed)))
        at = record["metadata"]["cgscore_position"]
        assert np.array_equal(np.asarray(picture), np.asarray(data.picture(at)))
