"""``cgscore issues``: list the labels that are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.console import output_console, print_error, print_json, print_written
from cgscore.cli.dataset_summary import print_source
from cgscore.cli.options import JsonOption, NoGuardOption
from cgscore.cli.output_files import check_output, write_table
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.suspects import SUSPECTS_SHOWN, print_issues
from cgscore.errors import CGScoreError, OptionError

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


@with_read_flags
def issues(
    source: Annotated[
        str, typer.Argument(help="A result of `cgscore score`, or a source as for `score`.")
    ],
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
            help="What decides: posterior, margin, or the paper's cg, partial or sign.",
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
            help="Flag as many labels as possible with this share of them expected to be wrong.",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--show", min=0, help="Number of suspects to show.")
    ] = SUSPECTS_SHOWN,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the labels that are probably wrong, worst first."""
    from cgscore.issues.table import check_detector, worst_first

    if output is not None:
        check_output(output, source, read.labels, data)
    check_detector(by, expected_noise, precision)
    if _is_result(source):
        scores = _load(source, read)
        if why and read.encoder is not None:
            scores.data(data, encoder=read.encoder)  # the scores then remember their data
            data = None
    else:
        scores = _score(source, read, as_json)
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
                "ridge": scores.meta["ridge"],
                "notes": scores.meta["notes"],
                "warnings": scores.meta["warnings"],
                "worst": shown.reset_index().to_dict("records"),
                "why": None if neighbours is None else neighbours.to_dict("records"),
                "note": note,
            }
        )
        return
    print_issues(output_console(), scores, table, shown, neighbours)
    if note is not None:
        print_error(f"note: {note}")
    if output is not None:
        print_written({str(output): f"{len(table):,} rows"})


def _is_result(path: str) -> bool:
    """Whether a file is a saved result; other Parquet files are sources."""
    if not (path.lower().endswith(".parquet") and Path(path).is_file()):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"cgscore" in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return True  # loading it raises an error that says what is wrong


def _load(path: str, read: ReadFlags) -> Scores:
    """A saved result; of the options of reading it may be given its encoder only."""
    import cgscore

    flags = [flag for flag in read.changed_flags() if flag != "--encoder"]
    if flags:
        raise OptionError(
            f"{flags[0]} says how a source is read, but {path} is a saved result, whose data were "
            f"read when they were scored. Leave {flags[0]} out, or give the source itself."
        )
    scores = cgscore.load(path)
    scores.check_encoder(read.encoder)
    return scores


def _score(source: str, read: ReadFlags, as_json: bool) -> Scores:
    """Scores of a source, with the ridge that finds wrong labels best."""
    import cgscore

    dataset = cgscore.read(source, **read.keywords())
    if not as_json:
        print_source(output_console(), dataset)
    scores = cgscore.score(dataset, ridge="auto")
    for note in scores.meta["notes"]:
        print_error(f"note: {note}")
    for warning in scores.meta["warnings"]:
        print_error(f"warning: {warning}")
    return scores


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
        return None, f"neighbours are left out: {error} Say where the data are: --source"
    suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
    table = neighbours(
        dataset,
        scores.codes(),
        suspects["position"].tolist(),
        suggested.tolist(),
        ridge=scores.meta["ridge"],
        kernel=scores.kernel,
        progress=reporter(None),
    )
    return table, None
