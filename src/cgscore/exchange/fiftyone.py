"""FiftyOne: a dataset folder with given and suggested labels; samples with corrections back.

The folder holds samples as FiftyOne's own ``Sample.to_dict`` gives them, which is its type
``fiftyone.types.LegacyFiftyOneDataset``: the newer one describes a database. What comes back is
an export of either type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cgscore.errors import OptionError, SourceError
from cgscore.exchange.documents import check_object, json_document
from cgscore.exchange.examples import Example, Examples
from cgscore.exchange.pictures import Pictures
from cgscore.exchange.tool import ID, POSITION, STAMP, Correction, ExportOptions, Tool
from cgscore.execution.files import new_folder
from cgscore.execution.progress import Advance

SAMPLES, METADATA = "samples.json", "metadata.json"
CORRECTED, GIVEN, SUGGESTED = "corrected_label", "given_label", "suggested_label"
ACCEPT, KEEP = "accept", "keep"  # tags by which people decide


def write(
    examples: Examples, path: Path, options: ExportOptions, advance: Advance
) -> dict[str, str]:
    """Write a new folder with samples and metadata, and with copies of pictures."""
    if examples.kind != "image" or examples.dataset is None:
        raise OptionError(
            "FiftyOne is for images, but these examples are not images, or their data cannot be "
            "found. "
            "Export to label-studio, argilla, hugging-face or csv."
        )
    with new_folder(path) as folder:
        folder.mkdir()
        pictures = Pictures(examples.dataset, folder, options)
        with (folder / SAMPLES).open("w", encoding="utf-8") as file:
            mark = '{"samples": ['
            for example in examples:
                sample = _sample(examples, example, pictures.path(example.position))
                file.write(f"{mark}\n{json.dumps(sample, ensure_ascii=False, allow_nan=False)}")
                mark = ","
                advance(1)
            file.write(("" if len(examples) else mark) + "\n]}\n")
        metadata = {"name": "cgscore", "media_type": "image", "info": {STAMP: examples.stamp}}
        (folder / METADATA).write_text(json.dumps(metadata, indent=2), encoding="utf-8")
    written = {str(path): f"{len(examples):,} samples"}
    if pictures.copied:
        written[str(path / "images")] = f"{len(examples):,} pictures"
    return written


def read(path: Path) -> Iterator[Correction]:
    """The samples that have a corrected label, or a tag that accepts or keeps one."""
    file = path / SAMPLES if path.is_dir() else path
    document = check_object(file, "the file", "it", json_document(file))
    samples = document.get("samples")
    if not isinstance(samples, list):
        raise SourceError(
            f"{file} has no list of samples. Export as fiftyone.types.FiftyOneDataset."
        )
    for number, entry in enumerate(samples):
        where = f"sample {number:,}"
        sample = check_object(file, where, "it", entry)
        for label in _labels(file, where, sample):
            yield Correction(
                where=where,
                stamp=sample.get(STAMP),
                position=sample.get(POSITION),
                id=sample.get(ID),
                label=label,
            )


def _labels(path: Path, where: str, sample: dict[str, Any]) -> Iterator[Any]:
    """The label that was chosen; what was filled in counts more than tags."""
    corrected = _value(sample.get(CORRECTED))
    if corrected not in (None, ""):
        yield corrected
        return
    tags = sample.get("tags") or []
    if not isinstance(tags, list):
        raise SourceError(f"{path}: {where}: its tags are not a list.")
    for tag, field in ((ACCEPT, SUGGESTED), (KEEP, GIVEN)):
        if tag in tags:
            yield _value(sample.get(field))


def _value(field: Any) -> Any:
    """A label as such, or that of a classification or regression."""
    if not isinstance(field, dict):
        return field
    return field.get("label", field.get("value"))


def _sample(examples: Examples, example: Example, path: str) -> dict[str, Any]:
    return {
        "filepath": path,
        "tags": ["suspect"] if example.is_label_issue else [],
        GIVEN: _label(examples, example.given),
        SUGGESTED: _label(examples, example.suggested, example.confidence),
        CORRECTED: None,
        "label_score": example.label_score,
        "cg": example.cg,
        "reason": example.reason,
        POSITION: example.position,
        ID: example.id,
        STAMP: examples.stamp,
    }


def _label(
    examples: Examples, value: str | float | None, confidence: float | None = None
) -> dict[str, Any] | None:
    if value is None:
        return None
    label: dict[str, Any] = {"_cls": "Classification", "tags": [], "label": value}
    if examples.regression:
        label = {"_cls": "Regression", "tags": [], "value": value}
    return label if confidence is None else {**label, "confidence": confidence}


def _recognises(path: Path) -> bool:
    return (path / SAMPLES).exists() if path.is_dir() else path.name == SAMPLES


TOOL = Tool(
    name="fiftyone",
    title="FiftyOne",
    write=write,
    read=read,
    recognises=_recognises,
    suffix="",
    steps=f"Tag samples {ACCEPT} or {KEEP}, or set {CORRECTED}; export as FiftyOneDataset.",
    returned="corrected",
)
