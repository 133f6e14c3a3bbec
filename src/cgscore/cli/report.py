"""``cgscore report``: write a self-contained page about a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cgscore.cli.console import print_error, print_json, print_written, quiet_warnings
from cgscore.cli.options import JsonOption, ResultArgument, ResultEncoderOption, ScoredDataOption
from cgscore.cli.output_files import check_output
from cgscore.cli.read_flags import allow_module_here


def report(
    result: ResultArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The page to write: .html.")
    ] = Path("report.html"),
    data: ScoredDataOption = None,
    encoder: ResultEncoderOption = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Number of suspects to show.")] = 200,
    as_json: JsonOption = False,
) -> None:
    """Write a self-contained page with pictures and charts that opens in any browser."""
    import cgscore
    from cgscore.execution.machine import show_bytes

    check_output(output, result, data, suffixes=(".html", ".htm"))
    allow_module_here(encoder)
    with quiet_warnings():
        scores = cgscore.load(result)
        dataset = None if data is None and encoder is None else scores.data(data, encoder=encoder)
        notes = scores.report(output, data=dataset, worst=worst)
    for note in notes:
        print_error(f"note: {note}")
    address = output.resolve().as_uri()
    if as_json:
        print_json({"output": str(output), "address": address, "notes": notes})
        return
    print_written({str(output): show_bytes(output.stat().st_size)})
    print(f"Open:     {address}")
