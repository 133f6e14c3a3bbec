"""``cgscore next``: which unlabelled examples to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.console import output_console, print_json, print_written, shortened
from cgscore.cli.options import JsonOption, NoGuardOption, ScoredDataOption
from cgscore.cli.output_files import check_not_input, check_output, saved_inputs, write_table
from cgscore.cli.read_flags import allow_module_here
from cgscore.cli.verbosity import print_note

if TYPE_CHECKING:
    from cgscore.data import Dataset

SHOWN = 10  # examples


def next(
    pool: Annotated[
        str,
        typer.Argument(
            help="Unlabelled examples: a source as for `score`; labels in it are not used."
        ),
    ],
    like: Annotated[
        str,
        typer.Option(
            "--like", help="The saved result of the labelled examples, such as scores.parquet."
        ),
    ],
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="How many examples to label.")
    ] = 100,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="File for the chosen examples, most useful first: .csv or .parquet.",
        ),
    ] = Path("next.csv"),
    data: ScoredDataOption = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="The encoder of the result, if it has one.")
    ] = None,
    landmarks: Annotated[
        int,
        typer.Option(
            "--landmarks",
            min=1,
            help="Number of landmarks (rank of the features) used to choose examples.",
        ),
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the landmarks.")] = 0,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Choose which unlabelled examples to label next."""
    import pandas as pd

    import cgscore
    from cgscore.data.unlabelled import read_pool
    from cgscore.result.label_next import label_next

    check_output(output, pool, like, data)
    allow_module_here(encoder)
    scores = cgscore.load(like)
    check_not_input("-o", output, *saved_inputs(scores))
    labelled = scores.data(data, encoder=encoder)
    unlabelled, X = read_pool(pool, labelled, labelled.options)
    for note in unlabelled.notes:
        print_note(note)
    chosen = label_next(
        scores, X, unlabelled.X, min(budget, len(unlabelled)), landmarks=landmarks, seed=seed
    )
    table = pd.DataFrame(
        {
            "position": chosen.order,
            "id": unlabelled.ids[chosen.order],
            "gain": chosen.gains,
        }
    )
    write_table(table, output, guard=not no_guard)
    if as_json:
        print_json(
            {
                "written": [str(output)],
                "pool": len(unlabelled),
                "labelled": len(scores),
                "budget": budget,
                "chosen": len(table),
                "seed": seed,
            }
        )
        return
    _print_chosen(unlabelled, table, len(scores))
    print_written({str(output): f"{len(table):,} rows"})


def _print_chosen(pool: Dataset, table: object, labelled: int) -> None:
    """Print how many were chosen, and the first of them."""
    import pandas as pd

    assert isinstance(table, pd.DataFrame)  # noqa: S101  pandas is imported late
    console = output_console()
    console.print(
        f"{len(table):,} of {len(pool):,} examples to label next, given {labelled:,} labelled ones",
        soft_wrap=True,
    )
    for row in table.head(SHOWN).itertuples(index=False):
        console.print(f"  {shortened(row.id)}")
