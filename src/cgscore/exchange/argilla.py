"""Argilla: a dataset folder with suggestions, as ``Dataset.to_disk`` writes it; responses back.

What comes back is such a folder, or the file of ``dataset.records.to_json``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cgscore.errors import SourceError
from cgscore.exchange.documents import check_object, json_file, json_objects, looks_like
from cgscore.exchange.examples import Example, Examples
from cgscore.exchange.tool import ID, POSITION, STAMP, Correction, ExportOptions, Tool
from cgscore.execution.files import new_folder
from cgscore.execution.progress import Advance

RECORDS, SETTINGS, DATASET = "records.json", ".argilla/settings.json", ".argilla/dataset.json"
QUESTION = "label"
NAME = "cgscore-suspects"
IMAGE_SIDE = 512  # pixels; pictures are inside the records, as their server reads no files
_FIELDS = {"image": "image", "text": "text", "table": "row", "name": "name"}


def write(
    examples: Examples, path: Path, options: ExportOptions, advance: Advance
) -> dict[str, str]:
    """Write a new folder with records, settings and the description of the dataset."""
    with new_folder(path) as folder:
        (folder / ".argilla").mkdir(parents=True)
        _write_json(folder / SETTINGS, settings(examples))
        _write_json(folder / DATASET, {"name": NAME, "allow_extra_metadata": True})
        with (folder / RECORDS).open("w", encoding="utf-8") as file:
            mark = "["
            for example in examples:
                record = _record(examples, example)
                file.write(f"{mark}\n{json.dumps(record, ensure_ascii=False, allow_nan=False)}")
                mark = ","
                advance(1)
            file.write(("" if len(examples) else mark) + "\n]\n")
    return {str(path): f"{len(examples):,} records"}


def settings(examples: Examples) -> dict[str, Any]:
    """The fields that people see, and the question they answer."""
    content = _FIELDS[examples.kind]
    kind: dict[str, Any] = {"type": "text", "use_markdown": False}
    question: dict[str, Any] = dict(kind)
    if not examples.regression:
        options = [{"text": text, "value": text} for text in examples.captions.texts]
        question = {"type": "label_selection", "options": options, "visible_options": None}
    return {
        "guidelines": "Choose the right label. The suggestion comes from cgscore.",
        "questions": [_property(QUESTION, question, required=True)],
        "fields": [
            _property(content, {"type": "image"} if content == "image" else kind, required=False),
            _property("reason", kind, required=True),
        ],
        "vectors": [],
        "metadata": [_number("label_score"), _number("cg")],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def read(path: Path) -> Iterator[Correction]:
    """The responses of completed records.

    Their file does not say which responses are drafts, but a record is completed by those that were
    submitted.
    """
    file = path / RECORDS if path.is_dir() else path
    for where, record in json_objects(file, RECORDS):
        where = where.replace("element", "record")
        metadata = check_object(file, where, "metadata", record.get("metadata", {}))
        responses = check_object(file, where, "responses", record.get("responses", {}))
        answers = responses.get(QUESTION, [])
        if not isinstance(answers, list):
            raise SourceError(f"{file}: {where}: its responses are not a list.")
        if record.get("status", "completed") != "completed":
            continue
        for answer in answers:
            value = check_object(file, where, "response", answer).get("value")
            yield Correction(
                where=where,
                stamp=metadata.get(STAMP),
                position=metadata.get(POSITION),
                id=metadata.get(ID),
                label=value,
            )


def _record(examples: Examples, example: Example) -> dict[str, Any]:
    reason = example.reason or f"Labelled {example.given}."
    metadata = {
        "label_score": example.label_score,
        "cg": example.cg,
        POSITION: example.position,
        ID: example.id,
        STAMP: examples.stamp,
    }
    suggestions = {}
    if example.suggested is not None:
        value = repr(example.suggested) if examples.regression else example.suggested
        suggestion = {"value": value, "score": example.confidence, "agent": "cgscore"}
        suggestions[QUESTION] = {**suggestion, "type": "model"}
    return {
        "id": f"cgscore-{example.position}",
        "fields": {_FIELDS[examples.kind]: _content(examples, example), "reason": reason},
        "metadata": {name: value for name, value in metadata.items() if value is not None},
        "suggestions": suggestions,
        "responses": {},
        "vectors": {},
    }


def _content(examples: Examples, example: Example) -> str:
    if examples.kind == "image" and examples.dataset is not None:
        png = examples.dataset.thumbnail(example.position, IMAGE_SIDE)
        return f"data:image/png;base64,{base64.b64encode(png).decode()}"
    if examples.kind == "text":
        return examples.text(example.position)
    if examples.kind == "table":
        cells = examples.cells(example.position)
        return "\n".join(f"{name}: {cell}" for name, cell in cells.items())
    return example.id


def _property(name: str, kind: dict[str, Any], *, required: bool) -> dict[str, Any]:
    entry = {"name": name, "title": name, "description": None, "required": required}
    return {**entry, "settings": kind, "type": kind["type"]}


def _number(name: str) -> dict[str, Any]:
    kind = {"type": "float", "min": None, "max": None, "visible_for_annotators": True}
    return {"name": name, "title": name, "settings": kind, "visible_for_annotators": True}


def _write_json(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8")


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return (path / RECORDS).exists()
    return json_file(path) and looks_like(path, "responses")


TOOL = Tool(
    name="argilla",
    title="Argilla",
    write=write,
    read=read,
    recognises=_recognises,
    suffix="",
    steps="Load it with argilla.Dataset.from_disk, label, and write dataset.to_disk.",
    returned="corrected",
)
