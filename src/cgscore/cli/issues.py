"""``cgscore issues``: list the labels that are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import output_console, print_json, print_written
from cgscore.cli.options import JsonOption, NoGuardOption, TaskOption
from cgscore.cli.origins import origin_records, print_origins
from cgscore.cli.output_files import check_not_input, check_output, saved_inputs, write_table
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.reasons import print_reasons
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.cli.suspects import SUSPECTS_SHOWN, print_conflicts, print_findings, print_issues
from cgscore.cli.verbosity import print_note, show_progress
from cgscore.errors import CGScoreError

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


@with_read_flags
def issues(
    source: SourceOrResultArgument,
    read: ReadFlags,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File for all examples, worst first: .csv or .parquet."
        ),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Show the most similar examples of the given and of the suggested class, each "
            "with its share in the prediction.",
        ),
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="For --why: the scored data, if they have moved [default: the saved source].",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="How labels are flagged: posterior (more likely wrong than right), margin (the "
            "prediction differs), or the paper's cg, partial (the highest scores) or sign (a "
            "positive partial score).",
        ),
    ] = "posterior",
    expected_noise: Annotated[
        float | None,
        typer.Option("--expected-noise", help="Flag this share (below 1) or number of labels."),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            help="Flag the worst labels, as many as keep the share of wrong ones among them this "
            "high; none where that cannot be promised.",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--show", min=0, help="Number of suspects to show.")
    ] = SUSPECTS_SHOWN,
    task: TaskOption = "auto",
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the labels that are probably wrong, worst first."""
    from cgscore.issues.table import check_detector, worst_first

    if output is not None:
        check_output(output, source, read.labels, data)
    check_detector(by, expected_noise, precision)
    scores = scored(
        source, read, ridge="auto", task=task, console=None if as_json else output_console()
    )
    if output is not None:
        check_not_input("-o", output, *saved_inputs(scores))
    if why and read.encoder is not None and is_result(source):
        scores.data(data, encoder=read.encoder)  # the scores then remember their data
        data = None
    table = scores.label_issues(by=by, expected_noise=expected_noise, precision=precision)
    if output is not None:
        ordered = table.reset_index().sort_values("label_score", kind="stable")
        write_table(ordered, output, guard=not no_guard)
    suspects = worst_first(table)
    shown = suspects.head(count)
    neighbours, note = _neighbours(scores, shown, data) if why else (None, None)
    if as_json:
        print_json(
            {
                "output": None if output is None else str(output),
                "suspects": len(suspects),
                **{str(key): value for key, value in table.attrs.items()},
                "ridge": scores.judging_ridge,
                "notes": scores.meta["notes"],
                "warnings": scores.meta["warnings"],
                "worst": shown.reset_index().to_dict("records"),
                "conflict_groups": _conflict_groups(table),
                **origin_records(scores),
                "why": None if neighbours is None else neighbours.to_dict("records"),
                "note": note,
            }
        )
        return
    console = output_console()
    if neighbours is None or not len(shown):
        print_issues(console, scores, table, shown)
    else:
        print_findings(console, scores, table)
        print_reasons(console, scores, scores.data(data), shown, neighbours)
        print_conflicts(console, scores, table)
    print_origins(console, scores)
    if note is not None:
        print_note(note)
    if output is not None:
        print_written({str(output): f"{len(table):,} rows"})


def _conflict_groups(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The groups of identical inputs with different labels, each with its members."""
    if "conflict_group" not in table:
        return []
    members = table[table["conflict_group"].notna()].reset_index()
    return [
        {
            "group": int(number),
            "undecidable": bool((group["kind"] == "undecidable").any()),
            "members": group[["id", "given_label", "is_label_issue"]].to_dict("records"),
        }
        for number, group in members.groupby("conflict_group")
    ]


def _neighbours(
    scores: Scores, suspects: pd.DataFrame, data: str | None
) -> tuple[pd.DataFrame | None, str | None]:
    """The most similar examples of each suspect, or None and the reason."""
    import numpy as np

    from cgscore.execution.progress import reporter
    from cgscore.issues.neighbours import neighbours

    try:
        dataset = scores.data(data)
    except CGScoreError as error:
        if data is not None:
            raise
        return None, f"neighbours are left out: {error}"
    codes = suggested = None
    if len(scores.classes):
        codes = scores.codes()
        suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
    table = neighbours(
        dataset,
        suspects["position"].tolist(),
        codes,
        suggested,
        ridge=scores.judging_ridge,
        kernel=scores.kernel,
        progress=reporter(show_progress()),
    )
    return table, None
