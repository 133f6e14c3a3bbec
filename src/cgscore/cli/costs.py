"""Printing of the cost of each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.methods.cost import Cost


def print_costs(console: Console, n: int, p: int, k: int) -> None:
    """Print the time and memory of the methods that ``auto`` chooses from, a line each.

    For few examples that is the exact method only.
    """
    from cgscore.execution.machine import available_memory, product_rate
    from cgscore.methods.auto import MAX_SMALL_N, costs
    from cgscore.methods.cost import Sizes
    from cgscore.methods.options import Options

    memory, rate = available_memory(), product_rate()
    estimates = costs(Sizes(n, p, k), Options.checked())
    names = ["exact"] if n <= MAX_SMALL_N else ["exact", "iterative"]
    if n > MAX_SMALL_N and all(estimates[name].bytes > memory for name in names):
        names += ["lowrank", "partition"]
    for name, title in zip(names, ["method", "", "", ""], strict=False):
        text = _cost_in_words(estimates[name], rate, memory)
        console.print(f"{title:<9} {name}: {text}", soft_wrap=True)


def _cost_in_words(cost: Cost, rate: float, memory: int) -> str:
    from cgscore.execution.machine import show_bytes

    time = _show_estimate(cost.seconds(rate))
    about = "" if time.startswith("<") else "about "
    text = f"{about}{time} and {show_bytes(cost.bytes)}"
    if cost.bytes > memory:
        text += f", more than the {show_bytes(memory)} available here"
        if cost.min_bytes <= memory:
            if cost.disk:
                text += f"; will work from disk ({show_bytes(cost.disk)})"
            elif cost.tasks > 1:
                text += "; will run fewer tasks at a time"
            else:
                text += "; will compute the kernel matrix again for every product"
    return text


def _show_estimate(seconds: float) -> str:
    """An estimated time; nothing takes none."""
    from cgscore.execution.machine import show_seconds

    return "< 0.1 s" if seconds < 0.05 else show_seconds(seconds)


def print_encoding_cost(console: Console, encoding: dict[str, Any] | None) -> None:
    """Print what encoding costs before anything is scored, if there is an encoder.

    Parameters
    ----------
    console : Console
        Where to print.
    encoding : dict or None
        The part ``encoding`` of the document of ``cgscore info --json``.
    """
    from cgscore.execution.machine import show_seconds

    if encoding is None:
        return
    name = encoding["name"]
    if encoding["seconds"] is None:
        console.print(f"encoding  {name} is not installed", soft_wrap=True)
        return
    n, cached = encoding["examples"], encoding["cached"]
    if cached == n:
        console.print(f"encoding  no cost: the features by {name} are in the cache", soft_wrap=True)
        return
    there = f", {cached:,} are in the cache" if cached else ""
    console.print(
        f"encoding  about {show_seconds(encoding['seconds'])} by {name} for {n - cached:,} examples"
        f"{there}: an estimate from {encoding['timed']:,} examples, in addition to the method",
        soft_wrap=True,
    )


def print_cost_table(console: Console, document: dict[str, Any], workers: int | None) -> None:
    """Print a table of what each method needs, on this machine or on a cluster.

    Parameters
    ----------
    console : Console
        Where to print.
    document : dict
        The document of ``cgscore info --json``.
    workers : int or None
        Workers of the cluster; None is this machine.
    """
    from rich.table import Table

    from cgscore.execution.machine import cores

    speed = document["flops_per_second"] / 1e9
    console.print(
        f"speed     {speed:.0f} GFLOP/s in matrix products on {cores()} cores, measured now"
    )
    resources = ("each worker", "moved") if workers else ("memory",)
    place = f"on {workers:,} workers" if workers else "here"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("method", "tasks", "flops", *resources, place):
        table.add_column(title, justify="left" if title == "method" else "right", no_wrap=True)
    table.add_column("")
    for name, cost in document["methods"].items():
        if workers:
            *sizes, note = _worker_cells(name, cost)
        else:
            *sizes, note = _machine_cells(cost, document["available_memory"])
        cells = [name, f"{cost['tasks']:,}", f"{cost['flops']:.2g}", *sizes]
        table.add_row(*cells, _show_estimate(cost["seconds"]), note)
    console.print(table)


def _machine_cells(cost: dict[str, Any], memory: int) -> tuple[str, str]:
    """Memory, and a note if it is more than there is."""
    from cgscore.execution.machine import show_bytes

    note = ""
    if not cost["fits"]:
        note = "does not fit"
        if cost["least_bytes"] <= memory and cost["disk"]:
            note = f"from disk: {show_bytes(cost['disk'])}"
    return show_bytes(cost["bytes"]), note


def _worker_cells(name: str, cost: dict[str, Any]) -> tuple[str, str, str]:
    """Memory of each worker, bytes moved between workers, and a note."""
    from cgscore.execution.machine import show_bytes

    memory = show_bytes(cost["worker_bytes"])
    note = "" if cost["fits_worker"] else "does not fit"
    if name == "exact":
        return memory, "-", "; ".join(filter(None, ["on one machine", note]))
    return memory, show_bytes(cost["bytes_moved"]), note
