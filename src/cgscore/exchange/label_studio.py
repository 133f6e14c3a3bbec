"""Label Studio: tasks with predictions and a labelling configuration; its JSON exports back.

The format of tasks and predictions: https://labelstud.io/guide/predictions. What comes back is the
export ``JSON`` or ``JSON_MIN`` of a project.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from cgscore.errors import SourceError
from cgscore.exchange.documents import check_object, json_file, json_objects, looks_like
from cgscore.exchange.examples import Example, Examples
from cgscore.exchange.pictures import Pictures, local_url
from cgscore.exchange.tool import ID, POSITION, STAMP, Correction, ExportOptions, Tool
from cgscore.execution.files import new_folder
from cgscore.execution.progress import Advance

TASKS, CONFIGURATION = "tasks.json", "labelling_config.xml"
CONTROL = "label"  # name of the control whose value is the label
REASON = "cgscore_reason"
MODEL = "cgscore"
MAX_BUTTONS = 20  # classes that are shown as buttons; more are a list to search in

#: Name of the shown object, which is also the field of the task, and its tag.
_OBJECTS = {
    "image": ("image", "Image"),
    "text": ("text", "Text"),
    "table": ("row", "Table"),
    "name": ("name", "Text"),
}


def write(
    examples: Examples, path: Path, options: ExportOptions, advance: Advance
) -> dict[str, str]:
    """Write a new folder with the tasks and the configuration, and with copies of pictures."""
    with new_folder(path) as folder:
        folder.mkdir()
        pictures = None
        if examples.kind == "image" and examples.dataset is not None:
            pictures = Pictures(examples.dataset, folder, options)
        configuration = labelling_configuration(examples)
        (folder / CONFIGURATION).write_text(configuration, encoding="utf-8")
        with (folder / TASKS).open("w", encoding="utf-8") as file:
            mark = "[\n"
            for example in examples:
                task = _task(examples, example, pictures)
                file.write(mark + json.dumps(task, ensure_ascii=False, allow_nan=False))
                mark = ",\n"
                advance(1)
            file.write("[]\n" if mark == "[\n" else "\n]\n")
    written = {str(path / TASKS): f"{len(examples):,} tasks", str(path / CONFIGURATION): "to paste"}
    if pictures is not None and pictures.copied:
        written[str(path / "images")] = f"{len(examples):,} pictures"
    return written


def labelling_configuration(examples: Examples) -> str:
    """The labelling configuration: the example, why it is suspected, and the classes.

    All texts from the data are escaped.
    """
    name, tag = _OBJECTS[examples.kind]
    lines = [
        "<View>",
        f'  <Header value="${REASON}"/>',
        f'  <{tag} name="{name}" value="${name}"/>',
    ]
    if examples.regression:
        step = quoteattr(_step(examples))
        lines.append(f'  <Number name="{CONTROL}" toName="{name}" step={step} required="true"/>')
        return "\n".join([*lines, "</View>", ""])
    texts = examples.captions.texts
    layout = "select" if len(texts) > MAX_BUTTONS else "vertical"
    lines += [
        f'  <Choices name="{CONTROL}" toName="{name}" choice="single" required="true" '
        f'layout="{layout}">',
        *(f"    <Choice value={quoteattr(text)}/>" for text in texts),
        "  </Choices>",
        "</View>",
        "",
    ]
    return "\n".join(lines)


def read(path: Path) -> Iterator[Correction]:
    """The labels of the annotations of a project that was exported as JSON or JSON_MIN."""
    for where, task in json_objects(path, TASKS):
        where = where.replace("element", "task")
        if "data" in task or "annotations" in task:
            yield from _of_task(path, where, task)
        else:
            yield from _of_flat_task(where, task)


def _of_task(path: Path, where: str, task: dict[str, Any]) -> Iterator[Correction]:
    """Of a task in the format JSON: annotations that were submitted, each with its regions."""
    data = check_object(path, where, "data", task.get("data"))
    annotations = task.get("annotations", [])
    if not isinstance(annotations, list):
        raise SourceError(f"{path}: {where}: its annotations are not a list.")
    for number, annotation in enumerate(annotations):
        place = f"{where}, annotation {number}"
        content = check_object(path, place, "annotation", annotation)
        if content.get("was_cancelled") is True:
            continue
        regions = content.get("result", [])
        if not isinstance(regions, list):
            raise SourceError(f"{path}: {place}: its result is not a list.")
        for region in regions:
            region = check_object(path, place, "region", region)
            if region.get("from_name") != CONTROL:
                continue
            value = check_object(path, place, "value", region.get("value"))
            yield _correction(place, data, _label(value))


def _of_flat_task(where: str, task: dict[str, Any]) -> Iterator[Correction]:
    """Of a task in the format JSON_MIN: the label is a field of its own."""
    label = task.get(CONTROL)
    if label is None or label in ("", []):
        return
    if isinstance(label, dict):
        label = _label(label)
    for value in label if isinstance(label, list) else [label]:
        yield _correction(where, task, _label(value) if isinstance(value, dict) else value)


def _label(value: dict[str, Any]) -> Any:
    """The chosen class or number of a region; all of them if there are several."""
    choices = value.get("choices", value.get("number"))
    return choices[0] if isinstance(choices, list) and len(choices) == 1 else choices


def _correction(where: str, data: dict[str, Any], label: Any) -> Correction:
    return Correction(where, data.get(STAMP), data.get(POSITION), data.get(ID), label)


def _task(examples: Examples, example: Example, pictures: Pictures | None) -> dict[str, Any]:
    name, _ = _OBJECTS[examples.kind]
    data: dict[str, Any] = {
        name: _content(examples, example, pictures),
        REASON: example.reason or f"Labelled {example.given}.",
        "cgscore_given_label": example.given,
        "cgscore_suggested_label": example.suggested,
        "cgscore_label_score": example.label_score,
        "cgscore_cg": example.cg,
        POSITION: example.position,
        ID: example.id,
        STAMP: examples.stamp,
    }
    task: dict[str, Any] = {"data": data}
    if example.suggested is not None:
        kind = "number" if examples.regression else "choices"
        value = {kind: example.suggested if examples.regression else [example.suggested]}
        region = {"from_name": CONTROL, "to_name": name, "type": kind, "value": value}
        task["predictions"] = [
            {"model_version": MODEL, "score": example.confidence, "result": [region]}
        ]
    return task


def _content(examples: Examples, example: Example, pictures: Pictures | None) -> Any:
    if pictures is not None:
        return local_url(pictures.path(example.position))
    if examples.kind == "text":
        return examples.text(example.position)
    if examples.kind == "table":
        return examples.cells(example.position)
    return example.id


def _step(examples: Examples) -> str:
    """The step of a field for numbers: a hundredth of their spread, as a power of ten."""
    spread = float(np.std(examples.scores.table["given_label"].to_numpy(np.float64)))
    if not spread > 0:
        return "1"
    exponent = max(-12, min(12, math.floor(math.log10(spread)) - 2))
    return f"{10.0**exponent:.{max(0, -exponent)}f}"


def _recognises(path: Path) -> bool:
    """Whether a JSON file has tasks: with annotations, or, in JSON_MIN, with their data alone."""
    if path.is_dir() or not json_file(path):
        return False
    others = looks_like(path, "responses", "samples")
    return looks_like(path, "annotations") or (looks_like(path, STAMP) and not others)


TOOL = Tool(
    name="label-studio",
    title="Label Studio",
    write=write,
    read=read,
    recognises=_recognises,
    suffix="",
    steps=f"Make a project with {CONFIGURATION}, import {TASKS}, label, and export as JSON.",
    returned="project.json",
    replaced={"$": "＄"},  # $name stands for a field of the task, wherever it is
)
