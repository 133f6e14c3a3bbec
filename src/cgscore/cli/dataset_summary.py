"""Printing of a dataset, in one line and its notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cgscore.cli.console import one_line, shortened
from cgscore.errors import LabelError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.data.inspection import Inspection
    from cgscore.labels import Labels


def print_dataset(
    console: Console,
    dataset: Dataset,
    task: str = "auto",
    inspection: Inspection | None = None,
) -> None:
    """Print the source, size, classes, preprocessing and notes of a dataset.

    If the dataset is a sample, its size and classes are those of the `inspection`.
    """
    print_source(console, dataset, task, inspection)
    if dataset.preprocessing != "none":
        console.print(f"inputs    {dataset.preprocessing}", soft_wrap=True)
    for note in dataset.notes:
        console.print(f"note      {one_line(note)}", soft_wrap=True)


def print_source(
    console: Console,
    dataset: Dataset,
    task: str = "auto",
    inspection: Inspection | None = None,
) -> None:
    """Print the first line: source, size, encoder and classes of a dataset."""
    sampled = inspection if inspection is not None and inspection.sampled is not None else None
    n = len(dataset) if sampled is None else sampled.n
    text = f"{one_line(dataset.source)}   {n:,} {_kind(dataset)}"
    labels = None if sampled is not None else _labels(dataset, task)
    if sampled is not None and sampled.classes:
        text += f" {_classes(dataset, sampled.classes)}"
    elif labels is not None and labels.task == "classification":
        counts = zip(labels.classes.tolist(), labels.counts().tolist(), strict=True)
        text += f" {_classes(dataset, dict(counts))}"
    elif labels is not None:
        text += f", {_target(labels.values)}"
    console.print(text, soft_wrap=True)
    if sampled is not None and sampled.task is not None and sampled.task_reason is not None:
        print_task(console, sampled.task, sampled.task_reason)
    elif labels is not None and labels.reason is not None:
        print_task(console, labels.task, labels.reason)


def print_task(console: Console, task: str, reason: str) -> None:
    """Print what labels are taken for, and why; nothing about text and booleans."""
    if reason.endswith(("text", "booleans")):
        return
    other = {"classification": "regression", "regression": "classification"}[task]
    text = f"task      {task}: {one_line(reason)} (if that is wrong: --task {other})"
    console.print(text, soft_wrap=True)


def _kind(dataset: Dataset) -> str:
    """The kind of the examples, and how many numbers describe each."""
    p = dataset.shape[1]
    if dataset.image:
        height, width, *channels = dataset.X.shape[1:]
        return f"images of {width} x {height} pixels, {'colour' if channels else 'grey'},"
    if dataset.texts is not None:
        return f"texts{_encoder(dataset)}, {p:,} numbers each,"
    if dataset.drawable:
        return f"images{_encoder(dataset)}, {p:,} numbers each,"
    return f"examples{_encoder(dataset)} with {p:,} numbers each"


def _encoder(dataset: Dataset) -> str:
    """The name and version of the encoder, if there is one."""
    if dataset.encoder is None:
        return ""
    name, version = dataset.encoder["name"], dataset.encoder["version"]
    return f" by {one_line(str(name))}" + ("" if version is None else f" {version}")


def _labels(dataset: Dataset, task: str) -> Labels | None:
    """The labels; None if there are none, or if scoring will refuse them."""
    from cgscore.labels import as_labels

    if dataset.y is None:
        return None
    try:
        return as_labels(dataset.y, len(dataset), task, dataset.label_name)
    except LabelError:
        return None


def _target(values: NDArray[Any]) -> str:
    """The range of numeric targets."""
    import numpy as np

    low, middle, high = np.quantile(values, [0, 0.5, 1])
    return f"target {low:,.6g} to {high:,.6g} (median {middle:,.6g})"


def _classes(dataset: Dataset, counts: Mapping[Any, int]) -> str:
    """The number of classes, and the smallest of them."""
    smallest = min(counts, key=counts.__getitem__)
    name = (dataset.class_names or {}).get(smallest, smallest)
    return f"in {len(counts):,} classes (smallest: {shortened(name)}, {counts[smallest]:,})"
