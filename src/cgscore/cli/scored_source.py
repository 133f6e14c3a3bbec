"""What a command is about: a saved result, or a source that is scored first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cgscore.cli.dataset_summary import print_source
from cgscore.cli.read_flags import ReadFlags
from cgscore.cli.verbosity import print_details, print_note, print_warning, show_progress
from cgscore.errors import OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from cgscore.result.scores import Scores

SourceOrResultArgument = Annotated[
    str, typer.Argument(help="A result of `cgscore score`, or a source as for `score`.")
]


def scored(
    source: str,
    read: ReadFlags,
    *,
    ridge: float | str = 0.0,
    task: str = "auto",
    console: Console | None = None,
) -> Scores:
    """The scores of a result, or of a source; notes and warnings are printed.

    Parameters
    ----------
    source : str
        A saved result or a source.
    read : ReadFlags
        How the source is read. For a result only ``--encoder`` may be given, and must be its own.
    ridge : float or "auto"
        With which a source is scored.
    task : str
        Of a source; for a result it must be its own, or ``auto``.
    console : Console, optional
        Where to print what was read from a source.
    """
    import cgscore

    if is_result(source):
        return _load(source, read, task)
    dataset = cgscore.read(source, progress=show_progress(), **read.keywords())
    if console is not None:
        print_source(console, dataset, task)
    scores = cgscore.score(dataset, ridge=ridge, task=task, progress=show_progress())
    for note in scores.meta["notes"]:
        print_note(note)
    for warning in scores.meta["warnings"]:
        print_warning(warning)
    print_details(scores.meta)
    return scores


def is_result(path: str) -> bool:
    """Whether a file is a saved result; other Parquet files are sources."""
    if not (path.lower().endswith(".parquet") and Path(path).is_file()):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"cgscore" in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return True  # loading it raises an error that says what is wrong


def _load(path: str, read: ReadFlags, task: str) -> Scores:
    import cgscore

    flags = [flag for flag in read.changed_flags() if flag != "--encoder"]
    if flags:
        raise OptionError(
            f"{flags[0]} says how a source is read, but {path} is a saved result, whose data were "
            f"read when they were scored. Leave {flags[0]} out, or give the source itself."
        )
    scores = cgscore.load(path)
    if task not in ("auto", scores.meta["task"]):
        raise OptionError(
            f"--task {task}: {path} is a saved result of a {scores.meta['task']}. Score the "
            "source again to change that."
        )
    scores.check_encoder(read.encoder)
    print_details(scores.meta)
    return scores
