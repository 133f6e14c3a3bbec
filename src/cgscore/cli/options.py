"""Arguments and flags that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from cgscore.method_names import SUMMARIES


def method_help() -> str:
    """Help of ``--method``: every method, with a few words about it."""
    described = "; ".join(f"{name}: {summary}" for name, summary in SUMMARIES.items())
    return f"auto chooses by size, memory and time. {described}."


SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A file (.csv, .tsv, .xlsx, .parquet, .feather, .json, .jsonl, .arff, .npz, .npy or "
        "IDX), a folder (class folders of images, IDX files, CIFAR batches or a saved Hugging Face "
        "dataset), or a dataset of scikit-learn such as sklearn:digits."
    ),
]
ScoredDataOption = Annotated[
    str | None,
    typer.Option(
        "--source", help="The scored data, if they have moved [default: the saved source]."
    ),
]
RatioOption = Annotated[
    float,
    typer.Option(
        "--ratio",
        help="For subsample: examples of other classes drawn for each example of a class.",
    ),
]
RunsOption = Annotated[
    int | None,
    typer.Option(
        "--runs",
        min=1,
        help="Repetitions of subsample [default: the paper's rule] or partition [default: 2].",
    ),
]
LandmarksOption = Annotated[
    int | None,
    typer.Option("--landmarks", min=1, help="Number of landmarks of lowrank [default: 4000]."),
]
KeepPredictionsOption = Annotated[
    bool | None,
    typer.Option(
        "--keep-predictions/--no-keep-predictions",
        help="For lowrank: keep the predictions for every class [default: up to 2e8 of them].",
    ),
]
NoGuardOption = Annotated[
    bool,
    typer.Option(
        "--no-guard",
        help="For .csv: write text cells as they are, even if spreadsheets would take them for "
        "formulas.",
    ),
]
TaskOption = Annotated[
    str,
    typer.Option(
        "--task",
        help="Whether labels are classes or numbers: classification, regression, or auto "
        "(numbers if they have fractions, or many values).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]
