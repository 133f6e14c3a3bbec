"""``cgscore prune``: choose which examples to keep, and write them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import output_console, print_json, print_written
from cgscore.cli.options import JsonOption, NoGuardOption, ScoredDataOption, TaskOption
from cgscore.cli.output_files import (
    check_not_input,
    check_output,
    saved_inputs,
    write_table,
)
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.resume import how_to_resume
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.cli.verbosity import print_note
from cgscore.errors import CGScoreError, MemoryLimitError, OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores
    from cgscore.result.selection import Selection
    from cgscore.selection.expectation import Expectation

DEFAULT_OUTPUT = Path("kept.csv")
FALLBACK_ORDER = "stratified"  # of auto, where neither inputs nor a ranking are at hand


@with_read_flags
def prune(
    source: SourceOrResultArgument,
    read: ReadFlags,
    keep: Annotated[float, typer.Option("--keep", help="Share of all examples to keep.")],
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
            help="auto (drops suspects, then greedy), greedy (each time, the example that lowers "
            "the error of kernel regression most), low-first (keeps hard examples), high-first "
            "(keeps typical ones), window, stratified or random.",
        ),
    ] = "auto",
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
            help="Whether suspected label errors may be kept. By default they are dropped first; "
            "with --keep 1, nothing else is.",
        ),
    ] = False,
    mask: Annotated[
        bool,
        typer.Option(
            "--mask",
            help="Write all examples to -o, with true for those kept and false for the others.",
        ),
    ] = False,
    weights: Annotated[
        bool,
        typer.Option(
            "--weights",
            help="Add to -o how many examples each kept one stands for, for weighted training.",
        ),
    ] = False,
    rank_output: Annotated[
        Path | None,
        typer.Option(
            "--rank-to",
            help="Rank all examples and write the result with the ranking, a column `rank`, to "
            "this .parquet file: later choices from it need no data.",
        ),
    ] = None,
    landmarks: Annotated[
        int | None,
        typer.Option(
            "--landmarks",
            min=1,
            help="Number of landmarks (rank of the features) used to rank examples [default: "
            "1,000].",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Folder from which an interrupted ranking resumes."),
    ] = None,
    data_output: Annotated[
        Path | None,
        typer.Option(
            "--data-to",
            help="Write the kept part of the data: a file in the format of the source, a new "
            "folder (links to images, or Hugging Face), or .npz.",
        ),
    ] = None,
    copies: Annotated[
        bool,
        typer.Option(
            "--copy",
            help="With --data-to and a folder of images: copy the images instead of linking them.",
        ),
    ] = False,
    data: ScoredDataOption = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of random choices.")] = 0,
    task: TaskOption = "auto",
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Choose which examples to keep, and write them."""
    from cgscore.selection.export import write_filtered
    from cgscore.selection.orders import RANKED_ORDERS, check_selection

    check_selection(keep, order, offset, seed)
    if data_output is None and copies:
        raise OptionError("--copy needs --data-to.")
    if output is None and data_output is not None and (mask or weights):
        raise OptionError(f"{'--mask' if mask else '--weights'} needs -o.")
    if output is None and data_output is None:
        output = DEFAULT_OUTPUT
    if weights and output is not None and output.suffix.lower() == ".npy":
        raise OptionError("--weights is for a .csv or .parquet file, not for .npy.")
    scores = scored(source, read, task=task, console=None if as_json else output_console())
    encoder = read.encoder if is_result(source) else None
    _check_outputs(scores, source, data, output, data_output, rank_output, copies)
    suspects = _suspects(scores)
    drop_issues = suspects is not None and not keep_issues
    required = (
        *(data, data_output, rank_output, weights or None, landmarks, checkpoint),
        True if order == "window" and offset is None else None,
    )
    dataset, reason = _opened_data(
        scores, data, encoder, required=any(item is not None for item in required)
    )
    taken = order
    if order == "auto":
        taken = "auto" if drop_issues else "greedy"
        if dataset is None and "rank" not in scores.table:
            taken = FALLBACK_ORDER
            print_note(
                f"ranking needs the inputs; the order {FALLBACK_ORDER} is used instead. {reason}"
            )
    options: dict[str, Any] = {"seed": seed, "landmarks": landmarks, "checkpoint": checkpoint}
    ranked = taken in RANKED_ORDERS
    if rank_output is not None or (ranked and "rank" not in scores.table):
        count = round(keep * len(scores)) if rank_output is None else len(scores)
        _print_cost(scores, count, landmarks, seed, quiet=as_json or dataset is None)
    with how_to_resume(checkpoint):
        if rank_output is not None:
            scores.add_rank(drop_issues=drop_issues, **options)
            options = {"seed": seed}
        selection = scores.selection(
            keep, taken, not all_together, by=by, offset=offset, drop_issues=drop_issues, **options
        )
    positions = selection.positions
    expected, unknown = _expected(scores, positions, dataset, reason)
    values = scores.values(by)
    columns = {by: values}
    if "rank" in scores.table:
        columns["rank"] = scores.table["rank"].to_numpy()
    if weights:
        columns["weight"] = _all_weights(scores, positions)
    written: dict[str, str] = {}
    if data_output is not None and dataset is not None:
        size = write_filtered(dataset, positions, data_output, copy=copies)
        written[str(data_output)] = size
    if output is not None:
        _write_kept(scores, positions, output, columns, mask=mask, guard=not no_guard)
        written[str(output)] = f"{len(scores) if mask else len(positions):,} rows"
    if rank_output is not None:
        scores.save(rank_output)
        written[str(rank_output)] = f"{len(scores):,} rows with their rank"
    kept_suspects = 0 if suspects is None else int(suspects[positions].sum())
    if as_json:
        counts = scores.table["given_label"].iloc[positions].value_counts()
        print_json(
            {
                "written": list(written),
                "examples": len(scores),
                "wanted": selection.wanted,
                "kept": len(positions),
                "kept_by_class": counts.to_dict() if len(scores.classes) else None,
                "order": taken,
                "asked_order": order,
                "fallback": reason if taken == FALLBACK_ORDER != order else None,
                "useful": selection.useful,
                "offset": selection.offset,
                "windows": dict(selection.windows) or None,
                "by": by,
                "per_class": not all_together,
                "drop_issues": drop_issues,
                "suspects": None if suspects is None else int(suspects.sum()),
                "suspects_kept": kept_suspects,
                "expected": None if expected is None else vars(expected),
                "expected_unknown": unknown,
                "seed": seed,
            }
        )
        return
    console = output_console()
    _print_kept(console, scores, positions, taken, by, values)
    _print_choice(console, scores, selection)
    if suspects is not None and suspects.any():
        console.print(_suspects_text(int(suspects.sum()), kept_suspects, keep_issues))
    _print_expected(console, scores, expected, unknown)
    print_written(written)


def _opened_data(
    scores: Scores, data: str | None, encoder: str | None, *, required: bool
) -> tuple[Dataset | None, str | None]:
    """The scored data, or None and the reason where they are not required."""
    try:
        return scores.data(data, encoder=encoder), None
    except CGScoreError as error:
        if required:
            raise
        return None, str(error)


def _print_cost(
    scores: Scores, count: int, landmarks: int | None, seed: int, *, quiet: bool
) -> None:
    """Print what a ranking takes, where it is not done in a moment."""
    from cgscore.execution.machine import product_rate, show_bytes, show_seconds

    if quiet:
        return
    selector = scores.selector(landmarks=landmarks, seed=seed)
    cost = selector.cost(count)
    seconds = cost.flops / product_rate()
    if seconds > 2:
        output_console().print(
            f"ranking   {count:,} of {len(scores):,} examples in features of rank "
            f"{selector.landmarks:,}: about {show_seconds(seconds)} and {show_bytes(cost.bytes)}",
            soft_wrap=True,
        )


def _all_weights(scores: Scores, positions: NDArray[Any]) -> NDArray[Any]:
    """For every example how many it stands for; 0 for those that go."""
    import numpy as np

    weights = np.zeros(len(scores), np.intp)
    weights[positions] = scores.weights(positions)
    return weights


def _expected(
    scores: Scores, positions: NDArray[Any], dataset: Dataset | None, reason: str | None
) -> tuple[Expectation | None, str | None]:
    """What the choice may cost in accuracy, or None and why that is not known."""
    if dataset is None:
        return None, reason
    try:
        return scores.expectation(positions), None
    except MemoryLimitError as error:
        return None, str(error)


def _print_choice(console: Console, scores: Scores, selection: Selection) -> None:
    """Print what a user should know about how the examples were chosen."""
    windows, offset = selection.windows, selection.offset
    if offset is not None and offset in windows:
        measure = "accuracy" if len(scores.classes) else "of the variance"
        console.print(
            f"  window   starts at {offset:.0%} of the order: kernel regression on it reaches "
            f"{windows[offset]:.1%} {measure} (worst window: {min(windows.values()):.1%})"
        )
    if selection.useful is not None:
        console.print(
            f"  ranking  after {selection.useful:,} examples no further one lowers the error; from "
            "there on, those that raise it least come first"
        )
    if len(selection.positions) < selection.wanted:
        console.print(
            f"  fewer    {selection.wanted:,} were requested, but only {len(selection.pool):,} are "
            "unsuspected (--keep-issues keeps suspects, too)"
        )


def _print_expected(
    console: Console, scores: Scores, expected: Expectation | None, unknown: str | None
) -> None:
    """Print what the choice is expected to cost."""
    if expected is None:
        console.print(f"  expected cost in accuracy unknown: {unknown}", soft_wrap=True)
        return
    measure = "accuracy" if len(scores.classes) else "of the variance"
    console.print(
        f"  expected {expected.kept:.1%} {measure} with the kept examples, {expected.all:.1%} with "
        f"all (leave-one-out kernel regression of rank {expected.rank:,})"
    )


def _suspects(scores: Scores) -> NDArray[Any] | None:
    """Whether each label is suspected to be wrong; None where labels cannot be judged."""
    if not scores.judged:
        return None
    return scores.label_issues()["is_label_issue"].to_numpy()


def _suspects_text(count: int, kept: int, keep_issues: bool) -> str:
    labels = f"{count:,} suspected label{'s' if count > 1 else ''}"
    if keep_issues:
        return (
            f"  suspects {kept:,} of {labels} {'is' if kept == 1 else 'are'} kept; without "
            "--keep-issues they are dropped first"
        )
    return f"  suspects {labels} dropped first (--keep-issues treats them like the others)"


def _check_outputs(
    scores: Scores,
    source: str,
    data: str | None,
    output: Path | None,
    data_output: Path | None,
    rank_output: Path | None,
    copies: bool,
) -> None:
    """Raise `OptionError` if an output cannot be written, or would replace an input."""
    from cgscore.selection.export import check_target

    saved_source = scores.meta["source"]
    inputs = (source, data, *saved_inputs(scores))
    if output is not None:
        check_output(output, *inputs, suffixes=(".csv", ".parquet", ".npy"))
    if rank_output is not None:
        check_output(rank_output, *inputs, suffixes=(".parquet",), flag="--rank-to")
        if rank_output.resolve() in [path.resolve() for path in (output, data_output) if path]:
            raise OptionError("--rank-to names the same file as -o or --data-to.")
    if data_output is not None:
        check_target(data or saved_source, data_output, copy=copies)
        check_not_input("--data-to", data_output, *inputs)
        if output is not None and data_output.resolve() == output.resolve():
            raise OptionError("-o and --data-to name the same file.")


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
    """Print how many examples are kept of how many classes, and the range of their scores."""
    count, total = len(positions), len(scores)
    text = f"{count:,} of {total:,} examples are kept ({count / total:.1%}), order {order}"
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
