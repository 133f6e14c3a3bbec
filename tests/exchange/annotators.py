"""What people do in each tool, as far as files show it: choose labels, and export again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

#: ``annotate(exported, choices)``: the file that comes back after these labels were chosen.
Annotate = Callable[[Path, Mapping[int, Any]], Path]


def in_spreadsheet(exported: Path, choices: Mapping[int, Any]) -> Path:
    frame = pd.read_csv(exported, dtype=str, keep_default_na=False)
    labels = {str(at): str(label) for at, label in choices.items()}
    frame["corrected_label"] = [labels.get(at, "") for at in frame["cgscore_position"]]
    frame.to_csv(exported, index=False)
    return exported


def in_label_studio(exported: Path, choices: Mapping[int, Any]) -> Path:
    """The export JSON of a project: two agreeing annotations, one skipped, one without a label."""
    tasks = json.loads((exported / "tasks.json").read_text(encoding="utf-8"))
    for number, task in enumerate(tasks):
        at = task["data"]["cgscore_position"]
        (region,) = task["predictions"][0]["result"]
        kind = region["type"]
        label = choices.get(at)
        value = {kind: label if kind == "number" else [label]}
        chosen = [{**region, "id": "x1", "origin": "manual", "value": value}]
        note = {"from_name": "note", "to_name": "x", "type": "textarea", "value": {"text": ["?"]}}
        task["id"] = number
        task["annotations"] = [
            {"id": 1, "was_cancelled": True, "result": [{**region, "value": {kind: ["nothing"]}}]},
            {"id": 2, "was_cancelled": False, "result": [note]},
            *({"id": 3 + i, "result": chosen} for i in range(2) if label is not None),
        ]
    path = exported.with_name("project.json")
    path.write_text(json.dumps(tasks, indent=2), encoding="utf-8")
    return path


def in_hugging_face(exported: Path, choices: Mapping[int, Any]) -> Path:
    """The dataset of the real package, with a column filled in."""
    from datasets import disable_progress_bars, load_from_disk

    disable_progress_bars()
    dataset = load_from_disk(str(exported))

    def correct(row: dict[str, Any]) -> dict[str, Any]:
        return {"corrected_label": choices.get(row["cgscore_position"])}

    path = exported.with_name("corrected")
    dataset.map(correct, load_from_cache_file=False).save_to_disk(str(path))
    return path


def in_fiftyone(exported: Path, choices: Mapping[int, Any]) -> Path:
    """An export of FiftyOne: a sample is tagged, others have a corrected label."""
    document = json.loads((exported / "samples.json").read_text(encoding="utf-8"))
    for number, sample in enumerate(document["samples"]):
        label = choices.get(sample["cgscore_position"])
        sample["_id"] = {"$oid": f"{number:024x}"}
        if label is not None and sample["suggested_label"]["label"] == label and number % 2:
            sample["tags"].append("accept")
        elif label is not None:
            sample["corrected_label"] = {"_cls": "Classification", "label": label}
    path = exported.with_name("corrected")
    path.mkdir()
    (path / "samples.json").write_text(json.dumps(document), encoding="utf-8")
    return path


def in_argilla(exported: Path, choices: Mapping[int, Any]) -> Path:
    """The file of ``to_json``: completed records with responses, and a draft."""
    records = json.loads((exported / "records.json").read_text(encoding="utf-8"))
    for record in records:
        label = choices.get(record["metadata"]["cgscore_position"])
        value = label if label is None or isinstance(label, str) else repr(label)
        user = {"user_id": "6afc8638-0000-4000-8000-000000000001"}
        done = {"value": value, **user} if label is not None else {"value": "a draft", **user}
        record["responses"] = {"label": [done]}
        record["status"] = "pending" if label is None else "completed"
    path = exported.with_name("corrected")
    path.mkdir()
    (path / "records.json").write_text(json.dumps(records), encoding="utf-8")
    return path


ANNOTATE: dict[str, Annotate] = {
    "csv": in_spreadsheet,
    "label-studio": in_label_studio,
    "hugging-face": in_hugging_face,
    "fiftyone": in_fiftyone,
    "argilla": in_argilla,
}
