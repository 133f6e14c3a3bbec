"""``cgscore score``: score every example of a source and write the result."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.cluster import check_cluster_options, cluster_client
from cgscore.cli.console import one_line, output_console, print_json
from cgscore.cli.costs import print_costs
from cgscore.cli.dataset_summary import print_dataset
from cgscore.cli.options import (
    JsonOption,
    KeepPredictionsOption,
    LandmarksOption,
    NoGuardOption,
    RatioOption,
    RunsOption,
    SourceArgument,
    TaskOption,
    method_help,
)
from cgscore.cli.origins import print_groups, print_origins
from cgscore.cli.output_files import check_output
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.resume import how_to_resume
from cgscore.cli.suspects import SUSPECTS_SHOWN, print_issues
from cgscore.cli.verbosity import print_details, print_note, print_warning, show_progress
from cgscore.methods import METHODS, SUMMARIES

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores


@with_read_flags
def score(
    source: SourceArgument,
    read: ReadFlags,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File to write: .parquet (the whole result) or .csv."),
    ] = Path("scores.parquet"),
    method: Annotated[str, typer.Option("--method", help=method_help())] = "auto",
    target: Annotated[
        float | None,
        typer.Option(
            "--target", help="Rank correlation with the exact score that iterative must reach."
        ),
    ] = None,
    ridge: Annotated[
        str,
        typer.Option(
            "--ridge",
            help="Added to the diagonal of the kernel: 0 as in the paper, another number, or auto, "
            "the one with the least leave-one-out error on a sample, which suits finding wrong "
            "labels.",
        ),
    ] = "0",
    ratio: RatioOption = 4.0,
    runs: RunsOption = None,
    landmarks: LandmarksOption = None,
    keep_predictions: KeepPredictionsOption = None,
    kernel: Annotated[
        str,
        typer.Option("--kernel", help="relu is the paper's; relu-ntk-3 is an experiment."),
    ] = "relu",
    task: TaskOption = "auto",
    duplicates: Annotated[
        str,
        typer.Option(
            "--duplicates",
            help="Identical rows: merge (at ridge 0, score them as one) or error (refuse them).",
        ),
    ] = "merge",
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            help="Memory to use beside the data, such as 4GB [default: what is free].",
        ),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype", help="float64, or float32 (half the memory and time, less accurate)."
        ),
    ] = "float64",
    device: Annotated[
        str,
        typer.Option("--device", help="cpu; cuda or mps for encoders and the iterative method."),
    ] = "cpu",
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Folder for finished work; an interrupted run that is started again resumes from "
            "it.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Address of a Dask scheduler to use: tcp://HOST:PORT."),
    ] = None,
    scheduler_file: Annotated[
        Path | None,
        typer.Option("--scheduler-file", help="File with the address of a Dask scheduler to use."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Number of local Dask workers to start and use."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the methods that draw at random.")
    ] = 0,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge/--no-judge",
            help="With ridge 0, solve again with the automatic ridge to judge labels; --no-judge "
            "judges them at ridge 0.",
        ),
    ] = True,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score every example and write the result."""
    import cgscore
    from cgscore.methods.options import Options, check_choice

    check_output(output, source, read.labels)
    ridge_value = _number_or_text(ridge)
    check_choice("method", method, ("auto", *SUMMARIES))
    Options.checked(
        ridge=ridge_value,
        kernel=kernel,
        task=task,
        dtype=dtype,
        duplicates=duplicates,
        ratio=ratio,
        runs=runs,
        landmarks=landmarks,
        seed=seed,
    )
    check_cluster_options(cluster, scheduler_file, workers)
    dataset = cgscore.read(source, device=device, progress=show_progress(), **read.keywords())
    console = output_console()
    if not as_json:
        print_dataset(console, dataset, task)
        print_costs(console, *dataset.shape, _class_count(dataset, task))
    if checkpoint is not None:
        print_note(
            f"if this run is interrupted, run the same command again: it resumes from {checkpoint}."
        )
    with (
        how_to_resume(checkpoint),
        cluster_client(
            cluster, scheduler_file, workers, console=None if as_json else console
        ) as client,
    ):
        scores = cgscore.score(
            dataset,
            method=method,
            ridge=ridge_value,
            kernel=kernel,
            target=target,
            ratio=ratio,
            runs=runs,
            landmarks=landmarks,
            keep_predictions=keep_predictions,
            client=client,
            task=task,
            dtype=dtype,
            seed=seed,
            memory_limit=memory_limit,
            device=device,
            checkpoint=checkpoint,
            duplicates=duplicates,
            judge=judge,
            progress=show_progress(),
        )
    if output.suffix.lower() == ".csv":
        scores.to_csv(output, guard=not no_guard)
    else:
        scores.save(output)
    for warning in scores.meta["warnings"]:
        print_warning(warning)
    print_details(scores.meta)
    if as_json:
        print_json({"output": str(output), "complexity": scores.complexity, **scores.meta})
        return
    _print_result(console, scores, output, checkpoint)


def _number_or_text(text: str) -> float | str:
    """The number that a text holds, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _class_count(dataset: Dataset, task: str) -> int:
    """The number of classes; 1 for regression, and where there are no labels yet."""
    from cgscore.labels import as_labels

    if dataset.y is None:
        return 1
    return max(1, len(as_labels(dataset.y, len(dataset), task, dataset.label_name).classes))


def _print_result(console: Console, scores: Scores, output: Path, checkpoint: Path | None) -> None:
    """Print what was written, how accurate it is, the findings, and the next commands."""
    console.print(f"scores    {len(scores):,} rows in {one_line(str(output))}", soft_wrap=True)
    _print_method(console, scores)
    if checkpoint is not None:
        console.print(
            f"saved     {one_line(str(checkpoint))} can be used again for "
            f"{METHODS[scores.meta['method']].keeps}; delete it if you do not need it",
            soft_wrap=True,
        )
    console.print()
    suspects = _print_findings(console, scores)
    if "groups" in scores.meta:
        print_groups(console, scores.groups())
    elif "group" in scores.table:
        print_note("the value of each group needs exact scores: add --method exact.")
    if output.suffix.lower() == ".parquet":
        name = one_line(shlex.quote(str(output)))
        next_commands = [f"cgscore report {name}     look at the data"]
        if suspects:
            next_commands = [
                f"cgscore report {name}     look at the suspects",
                f"cgscore review {name}     correct them",
            ]
        console.print("Next:  " + "\n       ".join(next_commands), soft_wrap=True)


def _print_method(console: Console, scores: Scores) -> None:
    """Print why the method was chosen, and what its audit measured."""
    choice, audit = scores.meta["choice"], scores.meta["audit"]
    if choice is not None:
        console.print(f"chosen    {choice['method']}: {choice['why']}")
    if audit is not None:
        low, high = audit["rank_correlation_interval"]
        errors = ", ".join(
            f"{name} {audit[name]['median_error']:.1%}"
            for name in ("cg", "partial", "margin")
            if name in audit
        )
        console.print(
            f"audit     rank correlation with the exact score {audit['rank_correlation']:.4f} "
            f"(95 %: {low:.4f} to {high:.4f}), from {audit['examples']} examples;\n"
            f"          median errors: {errors}",
            soft_wrap=True,
        )
        if "top_percent" in audit:
            low, high = audit["top_percent_interval"]
            console.print(
                f"          {audit['top_percent']:.1%} of the true top 1 % by cg are in the "
                f"estimated top 1 % (95 %: {low:.1%} to {high:.1%})",
                soft_wrap=True,
            )


def _print_findings(console: Console, scores: Scores) -> int:
    """Print the summary of the scores, then the suspects; the number of these."""
    for line in repr(scores).splitlines()[1:]:
        if not line.startswith("  audit"):  # already printed, with more detail
            console.print(line.strip())
    if not scores.judged:  # of which a warning is printed
        return 0
    issues = scores.find_issues()
    print_issues(console, scores, issues.table, issues.worst_first().head(SUSPECTS_SHOWN))
    print_origins(console, scores)
    return issues.summary.flagged
