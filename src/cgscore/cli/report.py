"""``cgscore report``: write a self-contained page about a result or a source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cgscore.cli.console import output_console, print_json, print_written
from cgscore.cli.options import JsonOption, ScoredDataOption, TaskOption
from cgscore.cli.output_files import check_output
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.cli.verbosity import print_note, show_progress


@with_read_flags
def report(
    source: SourceOrResultArgument,
    read: ReadFlags,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The page to write: .html.")
    ] = Path("report.html"),
    data: ScoredDataOption = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Number of suspects to show.")] = 200,
    task: TaskOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained page with pictures and charts.

    It opens in any browser, and needs no network.
    """
    from cgscore.execution.machine import show_bytes

    check_output(output, source, read.labels, data, suffixes=(".html", ".htm"))
    scores = scored(source, read, task=task, console=None if as_json else output_console())
    dataset = None
    if data is not None or (read.encoder is not None and is_result(source)):
        dataset = scores.data(data, encoder=read.encoder)
    notes = scores.report(output, data=dataset, worst=worst, progress=show_progress())
    for note in notes:
        print_note(note)
    address = output.resolve().as_uri()
    if as_json:
        print_json({"output": str(output), "address": address, "notes": notes})
        return
    print_written({str(output): show_bytes(output.stat().st_size)})
    print(f"Open:     {address}")
