"""``cgscore export``: suspects as pre-annotations for the tool where the labels live."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.console import one_line, output_console, print_json, print_written
from cgscore.cli.options import JsonOption, NoGuardOption, ScoredDataOption, TaskOption
from cgscore.cli.output_files import check_not_input, check_output, saved_inputs
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.cli.verbosity import print_note, show_progress
from cgscore.errors import CGScoreError, OptionError

if TYPE_CHECKING:
    from cgscore.data import Dataset
    from cgscore.exchange.tool import Tool
    from cgscore.result.scores import Scores


@with_read_flags
def export(
    source: SourceOrResultArgument,
    read: ReadFlags,
    to: Annotated[
        str,
        typer.Option("--to", help="Where to: csv, label-studio, hugging-face, fiftyone, argilla."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File or new folder to write [default: named after the tool]."
        ),
    ] = None,
    data: ScoredDataOption = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--all", help="Export all examples, not the suspects alone [always: hugging-face]."
        ),
    ] = False,
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="Export at most this many examples.")
    ] = None,
    image_root: Annotated[
        Path | None,
        typer.Option(
            "--image-root", help="Paths of images are relative to this folder [default: SOURCE]."
        ),
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute-paths", help="Write absolute paths of images.")
    ] = False,
    copies: Annotated[
        bool, typer.Option("--copy-images", help="Copy images into the exported folder.")
    ] = False,
    task: TaskOption = "auto",
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Export suspected labels to the tool where they are corrected."""
    from cgscore.exchange.examples import Examples, chosen_positions
    from cgscore.exchange.registry import find_tool
    from cgscore.exchange.tool import ExportOptions
    from cgscore.execution.progress import reporter

    tool = find_tool(to)
    path = output or Path(f"suspects{tool.suffix}" if tool.suffix else f"{tool.name}-suspects")
    _check_path(tool, path, source, read.labels, data)
    options = ExportOptions(image_root, absolute, copies, not no_guard)
    console = None if as_json else output_console()
    scores = scored(source, read, ridge="auto", task=task, console=console)
    check_not_input("-o", path, *saved_inputs(scores))
    dataset = _data(scores, source, read, data)
    issues = scores.label_issues()
    positions = chosen_positions(issues, whole=whole or tool.whole, count=count)
    examples = Examples(scores, dataset, issues, positions, tool.captions(scores))
    with reporter(show_progress()).phase("writing", max(1, len(examples))) as advance:
        written = tool.write(examples, path, options, advance)
    result = source if is_result(source) else "scores.parquet"
    commands = [shlex.join(["cgscore", "import", result, tool.returned or str(path)])]
    if not is_result(source):
        commands.insert(0, shlex.join(["cgscore", "score", source, "-o", result]))
    if as_json:
        print_json(
            {
                "to": tool.name,
                "written": list(written),
                "examples": len(examples),
                "suspects": examples.suspects,
                "kind": examples.kind,
                "fingerprint": scores.meta["fingerprint"],
                "next": commands,
            }
        )
        return
    print(_answer(len(examples), examples.suspects, tool))
    print_written(written)
    print(f"Then:     {tool.steps}")
    for number, command in enumerate(commands):
        print(f"{'Next:' if not number else '':<10}{one_line(command)}")


def _check_path(tool: Tool, path: Path, *inputs: str | None) -> None:
    """Raise `OptionError` if the export cannot be written there."""
    if tool.suffix:
        check_output(path, *inputs, suffixes=(tool.suffix,))
        return
    if path.exists() or path.is_symlink():
        raise OptionError(f"-o {path} exists. Expected the name of a new folder.")
    if not path.parent.is_dir():
        raise OptionError(f"-o {path}: the folder {path.parent} does not exist.")


def _data(scores: Scores, source: str, read: ReadFlags, data: str | None) -> Dataset | None:
    """The scored data; None, with a note, if they are not where they were."""
    encoder = read.encoder if is_result(source) else None
    try:
        return scores.data(data, encoder=encoder)
    except CGScoreError as error:
        if data is not None or encoder is not None:
            raise
        print_note(f"only ids and labels are exported: {error}")
        return None


def _answer(count: int, suspects: int, tool: Tool) -> str:
    """What was exported, in words."""
    if not count:
        return "No label looks wrong, so there is nothing to correct."
    others = count - suspects
    parts = [f"{suspects:,} suspect{'s' * (suspects != 1)} with suggestion, score and reason"]
    if others:
        parts.append(f"{others:,} other example{'s' * (others != 1)}")
    return f"Exported {' and '.join(parts)} for {tool.title}."
