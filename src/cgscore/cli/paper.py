"""``cgscore paper``: make the figures and tables of the paper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.console import one_line, output_console, print_json, quiet_warnings
from cgscore.cli.options import JsonOption
from cgscore.cli.verbosity import show_progress
from cgscore.errors import OptionError

if TYPE_CHECKING:
    from cgscore_paper.cells import Work
    from cgscore_paper.results import Written

DEFAULT_FOLDER = Path("results/paper")


def paper(
    name: Annotated[
        str | None,
        typer.Argument(help="A figure or table; --list prints the names.", show_default=False),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            help="desk (small networks and less data: hours on two cores), full (all examples and "
            "a small network, drawn from what python -m cgscore_paper.background has finished) or "
            "paper (everything as in the paper: for machines with accelerators).",
        ),
    ] = "desk",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help=f"Folder for the results [default: {DEFAULT_FOLDER}]."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Make all of them, and a page that shows them.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="Print the names and exit.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="The page of --all [default: reproduction.md in the folder of -o, or in docs]."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with fashion-mnist, cifar10, cscores, ... [default: the environment "
            "variable CGSCORE_DATA].",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(
            help="Folder for finished parts, from which an interrupted run resumes [default: the "
            "cache]."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Trainings at the same time [default: one per core]."),
    ] = None,
    device: Annotated[str, typer.Option(help="Device of torch: cpu, cuda, ...")] = "cpu",
    as_json: JsonOption = False,
) -> None:
    """Make a figure or table of the paper.

    It is written as JSON, PNG, SVG and Markdown.
    """
    from cgscore_paper.items import ITEMS, do, do_all, module
    from cgscore_paper.plans import Plan

    if listed:
        if as_json:
            print_json({"items": list(ITEMS)})
        else:
            print(*ITEMS, sep="\n")
        return
    plan = Plan.named(preset, seed)
    if (name is None) == (not every):
        raise OptionError("Give one name or --all. The names: cgscore paper --list")
    if name is not None:
        module(name)
    folder = output or DEFAULT_FOLDER
    work = _work(data, cells, folder, jobs, device)
    console = output_console()

    def print_item(item: Written) -> None:
        if not as_json:
            console.print(f"{item.name:<12}{item.seconds:8,.0f} s  {one_line(item.title)}")

    with quiet_warnings():
        if name is None:
            page = page or (output or Path("docs")) / "reproduction.md"
            items = do_all(work, plan, folder, page, on_item=print_item)
        else:
            items = [do(name, work, plan, folder)]
            print_item(items[0])
    if as_json:
        print_json({"output": str(folder), "items": {item.name: item.seconds for item in items}})
        return
    console.print(f"Written:  {one_line(str(folder))}", soft_wrap=True)
    if every:
        console.print(f"          {one_line(str(page))}", soft_wrap=True)


def _work(
    data: Path | None, cells: Path | None, output: Path, jobs: int | None, device: str
) -> Work:
    """Where the experiments find their data, store finished parts and run."""
    from cgscore.execution.files import cache_folder
    from cgscore.execution.progress import reporter
    from cgscore_paper.cells import Work

    if data is None and "CGSCORE_DATA" in os.environ:
        data = Path(os.environ["CGSCORE_DATA"])
    if data is None:
        raise OptionError(
            "The folder of the datasets is missing. Give --data FOLDER, or set CGSCORE_DATA: a "
            "folder that contains fashion-mnist, cifar10 and cscores."
        )
    if not data.is_dir():
        raise OptionError(f"--data {data}: there is no such folder.")
    if cells is None:
        cache = cache_folder()
        cells = output / "cells" if cache is None else cache / "paper"
    progress = reporter(show_progress())
    return Work(cells, data, device=device, jobs=jobs or os.cpu_count() or 1, progress=progress)
