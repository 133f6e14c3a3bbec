"""What is printed of a dataset, in one line and its notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cgscore.cli.console import one_line, shortened

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.data import Dataset


def print_dataset(console: Console, dataset: Dataset, task: str = "classification") -> None:
    """Print the source, size, classes, preprocessing and notes of a dataset."""
    text = f"{one_line(dataset.source)}   {len(dataset):,} {_kind(dataset)}"
    if task == "classification" and dataset.y is not None:
        text += f" {_classes(dataset)}"
    console.print(text, soft_wrap=True)
    if dataset.preprocessing != "none":
        console.print(f"inputs    {dataset.preprocessing}", soft_wrap=True)
    for note in dataset.notes:
        console.print(f"note      {one_line(note)}", soft_wrap=True)


def _kind(dataset: Dataset) -> str:
    """What the examples are, and how many numbers describe each."""
    p = dataset.shape[1]
    if dataset.image:
        height, width, *channels = dataset.X.shape[1:]
        return f"images of {width} x {height} pixels, {'colour' if channels else 'grey'},"
    if dataset.texts is not None:
        return f"texts, {p:,} numbers each,"
    if dataset.drawable:
        return f"images, {p:,} numbers each,"
    return f"examples with {p:,} numbers each"


def _classes(dataset: Dataset) -> str:
    """The number of classes, and the smallest of them."""
    import numpy as np

    labels, counts = np.unique(np.asarray(dataset.y), return_counts=True)
    smallest = int(np.argmin(counts))
    name = (dataset.class_names or {}).get(labels.tolist()[smallest], labels[smallest])
    return f"in {len(labels):,} classes (smallest: {shortened(name)}, {counts[smallest]:,})"
