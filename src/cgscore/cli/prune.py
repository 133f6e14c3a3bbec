"""``cgscore prune``: choose which examples to keep, and write them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import output_console, print_json, print_written
from cgscore.cli.options import JsonOption, NoGuardOption, ScoredDataOption, TaskOption
from cgscore.cli.output_files import check_not_input, check_output, write_table
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.errors import CGScoreError, OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

DEFAULT_OUTPUT = Path("kept.csv")


@with_read_flags
def prune(
    source: SourceOrResultArgument,
    read: ReadFlags,
    keep: Annotated[float, typer.Option("--keep", help="Share of the examples to keep.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File for the kept examples: .csv or .parquet with position, id, label and "
            f"score, or .npy with positions [default: {DEFAULT_OUTPUT}, without --data-to].",
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            help="Order of removal: low-first (keeps hard examples), high-first (keeps typical "
            "ones), window, stratified or random.",
        ),
    ] = "low-first",
    offset: Annotated[
        float | None,
        typer.Option(
            "--offset",
            help="Where the window starts, as a share of the order [default: chosen by kernel "
            "regression on the data].",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", help="Score to sort by: a column of the result, or label_score.")
    ] = "cg",
    all_together: Annotated[
        bool,
        typer.Option(
            "--global", help="Sort all classes together, instead of keeping the same share of each."
        ),
    ] = False,
    keep_issues: Annotated[
        bool,
        typer.Option(
            "--keep-issues/--drop-issues",
            help="Whether suspected label errors may stay. By default they are dropped first; with "
            "--keep 1, nothing else is.",
        ),
    ] = False,
    mask: Annotated[
        bool,
        typer.Option(
            "--mask",
            help="In -o, list all examples, with true or false for whether each is kept.",
        ),
    ] = False,
    data_output: Annotated[
        Path | None,
        typer.Option(
            "--data-to",
            help="Write the kept part of the data: a file in the format of the source, a new "
            "folder (links to images, or Hugging Face), or .npz.",
        ),
    ] = None,
    copies: Annotated[
        bool, typer.Option("--copy", help="Copy images to that folder instead of linking them.")
    ] = False,
    data: ScoredDataOption = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of random choices.")] = 0,
    task: TaskOption = "auto",
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Choose which examples to keep, and write them."""
    from cgscore.selection.export import write_filtered
    from cgscore.selection.orders import check_selection

    check_selection(keep, order, offset, seed)
    if data_output is None and copies:
        raise OptionError("--copy is for --data-to, which is not given.")
    if output is None and data_output is not None and mask:
        raise OptionError("--mask is for -o, which is not given.")
    if output is None and data_output is None:
        output = DEFAULT_OUTPUT
    scores = scored(source, read, task=task, console=None if as_json else output_console())
    encoder = read.encoder if is_result(source) else None
    _check_outputs(scores, source, data, output, data_output, copies)
    suspects = _suspects(scores)
    drop_issues = suspects is not None and not keep_issues
    options: dict[str, Any] = {"by": by, "drop_issues": drop_issues, "seed": seed}
    choose_window = order == "window" and offset is None
    dataset = None
    if data_output is not None or choose_window:
        dataset = _scored_data(scores, data, encoder)
    windows: dict[float, float] = {}
    if choose_window:
        windows = scores.windows(keep, not all_together, data=dataset, **options)
        offset = max(windows, key=lambda start: windows[start])
    positions = scores.keep(keep, order, not all_together, offset=offset, **options)
    values = scores.values(by)
    kept_suspects = 0 if suspects is None else int(suspects[positions].sum())
    written: dict[str, str] = {}
    if data_output is not None and dataset is not None:
        size = write_filtered(dataset, positions, data_output, copy=copies)
        written[str(data_output)] = size
    if output is not None:
        _write_kept(scores, positions, output, {by: values}, mask=mask, guard=not no_guard)
        written[str(output)] = f"{len(scores) if mask else len(positions):,} rows"
    if as_json:
        counts = scores.table["given_label"].iloc[positions].value_counts()
        print_json(
            {
                "written": list(written),
                "examples": len(scores),
                "kept": len(positions),
                "kept_by_class": counts.to_dict() if len(scores.classes) else None,
                "order": order,
                "offset": offset,
                "windows": windows or None,
                "by": by,
                "per_class": not all_together,
                "drop_issues": drop_issues,
                "suspects": None if suspects is None else int(suspects.sum()),
                "suspects_kept": kept_suspects,
                "seed": seed,
            }
        )
        return
    console = output_console()
    _print_kept(console, scores, positions, order, by, values)
    if offset in windows:
        measure = "accuracy" if len(scores.classes) else "of the variance"
        console.print(
            f"  window   starts at {offset:.0%} of the order: kernel regression on it reaches "
            f"{windows[offset]:.1%} {measure} (worst window: {min(windows.values()):.1%})"
        )
    if suspects is not None and suspects.any():
        console.print(_suspects_text(int(suspects.sum()), kept_suspects, keep_issues))
    print_written(written)


def _suspects(scores: Scores) -> NDArray[Any] | None:
    """Whether each label is suspected to be wrong; None where labels cannot be judged."""
    if not scores.judged:
        return None
    return scores.label_issues()["is_label_issue"].to_numpy()


def _suspects_text(count: int, stay: int, keep_issues: bool) -> str:
    labels = f"{count:,} suspected label{'s' if count > 1 else ''}"
    if keep_issues:
        return f"  suspects {stay:,} of {labels} stay; without --keep-issues they are dropped first"
    if stay:
        return f"  suspects of {labels}, {stay:,} stay: the share to keep needs them"
    return f"  suspects {labels} dropped first (--keep-issues treats them like the others)"


def _check_outputs(
    scores: Scores,
    source: str,
    data: str | None,
    output: Path | None,
    data_output: Path | None,
    copies: bool,
) -> None:
    """Raise `OptionError` if an output cannot be written, or would replace an input."""
    from cgscore.selection.export import check_target

    saved_source = scores.meta["source"]
    inputs = (source, data, saved_source, scores.meta["read_options"].get("labels"))
    if output is not None:
        check_output(output, *inputs, suffixes=(".csv", ".parquet", ".npy"))
    if data_output is not None:
        check_target(data or saved_source, data_output, copy=copies)
        check_not_input("--data-to", data_output, *inputs)
        if output is not None and data_output.resolve() == output.resolve():
            raise OptionError("-o and --data-to name the same file.")


def _scored_data(scores: Scores, data: str | None, encoder: str | None) -> Dataset:
    """The scored data; an error about the saved source names the flag for another one."""
    try:
        return scores.data(data, encoder=encoder)
    except CGScoreError as error:
        if data is not None:
            raise
        raise OptionError(f"{error} At the command line: --source") from error


def _write_kept(
    scores: Scores,
    positions: NDArray[Any],
    output: Path,
    values: dict[str, Any],
    *,
    mask: bool,
    guard: bool,
) -> None:
    """Write position, id, label and score of the kept examples, or of all with a mask."""
    import numpy as np

    from cgscore.execution.files import replace_file

    is_kept = np.isin(np.arange(len(scores)), positions)
    if output.suffix.lower() == ".npy":
        replace_file(output, lambda file: np.save(file, is_kept if mask else positions))
        return
    table = scores.table[["id", "given_label"]].assign(**values)
    table.insert(0, "position", np.arange(len(scores)))
    rows = table.assign(keep=is_kept) if mask else table.iloc[positions]
    write_table(rows, output, guard=guard)


def _print_kept(
    console: Console,
    scores: Scores,
    positions: NDArray[Any],
    order: str,
    by: str,
    values: NDArray[Any],
) -> None:
    """Print how many examples stay of how many classes, and the range of their scores."""
    count, total = len(positions), len(scores)
    text = f"{count:,} of {total:,} examples stay ({count / total:.1%}), {order}"
    if len(scores.classes):
        counts = scores.table["given_label"].iloc[positions].value_counts()
        text += f", from {len(counts)} of {len(scores.classes)} classes: {counts.min():,} to "
        text += f"{counts.max():,} of each"
    console.print(text, soft_wrap=True)
    removed = scores.table.index.difference(positions)
    for name, rows in (("kept", positions), ("removed", removed)):
        if len(rows):
            group = values[rows]
            console.print(
                f"  {name:<8} {by} {group.min():.3g} to {group.max():.3g}, mean {group.mean():.3g}"
            )
