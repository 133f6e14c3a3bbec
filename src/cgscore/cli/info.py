"""``cgscore info``: describe a dataset, and estimate what scoring it would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import one_line, output_console, print_json, shortened
from cgscore.cli.costs import print_cost_table, print_encoding_cost
from cgscore.cli.dataset_summary import print_dataset
from cgscore.cli.options import JsonOption, LandmarksOption, RatioOption, RunsOption, TaskOption
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.errors import OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.data.features import Forecast
    from cgscore.data.inspection import Inspection
    from cgscore.methods.options import Options

CLASSES_SHOWN = 20
MAX_SIZE = 10**9
DEFAULT_SIZES = {"p": 784, "classes": 10}


@with_read_flags
def info(
    read: ReadFlags,
    source: Annotated[
        str | None, typer.Argument(help="A file, folder or name, as for `score`.")
    ] = None,
    simulate: Annotated[
        str | None,
        typer.Option("--simulate", help="Sizes instead of a source: n=60000,p=784,classes=10."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="Estimate for a cluster of this many single-threaded workers, each as fast as a "
            "core here.",
        ),
    ] = None,
    worker_memory: Annotated[
        str | None, typer.Option("--worker-memory", help="Memory of each worker, such as 16GB.")
    ] = None,
    ratio: RatioOption = 4.0,
    runs: RunsOption = None,
    landmarks: LandmarksOption = None,
    task: TaskOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Describe a dataset, and what scoring it would cost here."""
    from cgscore.methods.options import Options

    options = Options.checked(ratio=ratio, runs=runs, landmarks=landmarks, task=task)
    if (source is None) == (simulate is None):
        raise OptionError("Give a source, or --simulate n=...,p=...,classes=..., not both.")
    console = None if as_json else output_console()
    if source is not None:
        document = _describe(source, read, task, console)
    else:
        document = _simulated(simulate or "", console)
    document |= _estimates(document, options, workers, worker_memory)
    if console is None:
        print_json(document)
    else:
        print_encoding_cost(console, document.get("encoding"))
        print_cost_table(console, document, workers)


def _describe(source: str, read: ReadFlags, task: str, console: Console | None) -> dict[str, Any]:
    """The content of a source, for the JSON document; also printed if there is a console."""
    from cgscore.data.features import Encoding
    from cgscore.data.inspection import inspect
    from cgscore.data.readers.sample import Sample
    from cgscore.data.source import overview

    seen = overview(source, **read.keywords())
    dataset = seen.dataset if isinstance(seen, Sample) else seen
    encoding = Encoding.checked(read.encoder, read.scaling, "cpu", None)
    encoded = dataset.made_from is None and encoding.encodes(dataset)
    inspection = inspect(seen, encoded=encoded, task=task)
    forecast = encoding.forecast(dataset, inspection.n) if encoded else None
    fingerprint = dataset.fingerprint if forecast is None else forecast.fingerprint
    if forecast is not None:
        dataset = forecast.dataset
    if console is not None:
        print_dataset(console, dataset, task, inspection)
        _print_inspection(console, dataset, inspection)
    return {
        "source": dataset.source,
        "n": inspection.n,
        "p": dataset.shape[1],
        # that of a sample would be taken for that of the data
        "fingerprint": fingerprint if inspection.sampled is None else None,
        "sampled_rows": inspection.sampled,
        "preprocessing": dataset.preprocessing,
        "encoder": dataset.encoder,
        "encoding": None if forecast is None else _encoding(forecast, inspection.n),
        "task": inspection.task,
        "task_reason": inspection.task_reason,
        "classes": len(inspection.classes),
        "class_counts": inspection.classes,
        "class_names": dataset.class_names,
        "image_size": inspection.image_size,
        "copies": inspection.copies,
        "conflicting_copies": inspection.conflicts,
        "suspicions": inspection.suspicions,
        "notes": dataset.notes,
    }


def _encoding(forecast: Forecast, n: int) -> dict[str, Any]:
    """What encoding n examples costs, for the JSON document."""
    cost = forecast.cost
    return {
        "name": (forecast.dataset.encoder or {}).get("name"),
        "installed": cost is not None,
        "examples": n,
        "cached": 0 if cost is None else cost.cached,
        "timed": 0 if cost is None else cost.timed,
        "seconds": None if cost is None else cost.seconds,
    }


def _print_inspection(console: Console, dataset: Dataset, inspection: Inspection) -> None:
    """Print the classes, the rows that repeat, and what looks like a mistake."""
    if inspection.classes:
        names = dataset.class_names or {}
        ordered = sorted(inspection.classes.items(), key=lambda item: -item[1])
        text = ", ".join(
            f"{shortened(names.get(label, label))} {count:,}"
            for label, count in ordered[:CLASSES_SHOWN]
        )
        if len(ordered) > CLASSES_SHOWN:
            text += f", and {len(ordered) - CLASSES_SHOWN:,} more"
        console.print(f"classes   {text}", soft_wrap=True)
    if inspection.copies:
        console.print(
            f"repeats   {inspection.copies:,} rows are identical to earlier ones, "
            f"{inspection.conflicts:,} of them with another label"
            f"{'' if inspection.sampled is None else f' (in a sample of {inspection.sampled:,})'}"
        )
    for suspicion in inspection.suspicions:
        console.print(f"check     {one_line(suspicion)}", soft_wrap=True)


def _simulated(text: str, console: Console | None) -> dict[str, Any]:
    """The sizes of ``--simulate``, for the JSON document; also printed if there is a console."""
    sizes = _parse_sizes(text)
    n, p, k = sizes["n"], sizes["p"], sizes["classes"]
    if console is not None:
        console.print(f"simulated {n:,} examples with {p:,} numbers each in {k:,} classes")
    return {"n": n, "p": p, "classes": k}


def _parse_sizes(text: str) -> dict[str, int]:
    """``n``, ``p`` and ``classes`` of a text such as ``n=60000,p=784,classes=10``."""
    sizes = dict(DEFAULT_SIZES)
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in ("n", "p", "classes") or not (value.isascii() and value.isdecimal()):
            raise OptionError(
                f"--simulate {text}: expected something like n=60000,p=784,classes=10."
            )
        sizes[name] = int(value)
    if "n" not in sizes:
        raise OptionError(f"--simulate {text}: n is missing; expected something like n=60000.")
    if min(sizes.values()) < 1 or max(sizes.values()) > MAX_SIZE:
        raise OptionError(f"--simulate {text}: expected sizes from 1 to 10^9.")
    return sizes


def _estimates(
    document: dict[str, Any],
    options: Options,
    workers: int | None,
    worker_memory: str | None,
) -> dict[str, Any]:
    """Time and memory of every method for the sizes in a document."""
    from cgscore.execution.machine import available_memory, cores, parse_bytes, product_rate
    from cgscore.methods.auto import costs
    from cgscore.methods.cost import Sizes

    memory, rate = available_memory(), product_rate()
    bytes_per_worker = (
        memory if worker_memory is None else parse_bytes(worker_memory, "--worker-memory")
    )
    sizes = Sizes(document["n"], document["p"], document["classes"] or 1)
    estimates = costs(sizes, options, workers)
    return {
        "flops_per_second": rate,
        "available_memory": memory,
        "workers": workers,
        "methods": {
            name: {
                "tasks": cost.tasks,
                "flops": cost.flops,
                "seconds": cost.seconds(rate)
                if workers is None or name == "exact"
                else cost.seconds(rate / cores() * workers, cluster=workers),
                "bytes": cost.bytes,
                "fits": cost.bytes <= memory,
                "least_bytes": cost.min_bytes,
                "disk": cost.disk,
                "worker_bytes": cost.worker_bytes,
                "fits_worker": cost.worker_bytes <= bytes_per_worker,
                "bytes_moved": cost.traffic,
            }
            for name, cost in estimates.items()
        },
    }
