"""``cgscore review``: correct suspected labels in a browser, and write the corrections."""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import print_json, print_written
from cgscore.cli.options import JsonOption, ScoredDataOption, TaskOption
from cgscore.cli.output_files import check_not_input, check_output, saved_inputs, write_table
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.scored_source import SourceOrResultArgument, is_result, scored
from cgscore.cli.verbosity import print_note
from cgscore.errors import CGScoreError, OptionError

if TYPE_CHECKING:
    from cgscore.data import Dataset
    from cgscore.review import Review
    from cgscore.review.merging import Merged


@with_read_flags
def review(
    source: SourceOrResultArgument,
    read: ReadFlags,
    data: ScoredDataOption = None,
    decisions: Annotated[
        Path | None,
        typer.Option("--decisions", help="File for the decisions [default: SOURCE.review]."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Your name, saved with every decision.")
    ] = None,
    reviewer_error: Annotated[
        float,
        typer.Option(
            "--reviewer-error",
            min=0,
            max=0.5,
            help="Expected share of wrong decisions, for the page's estimate of how many labels "
            "are right.",
        ),
    ] = 0.0,
    merge_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--merge",
            help="Add the decisions of another file, list disagreements and exit; may be given "
            "several times.",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live/--no-live", help="Whether to update the order of suspects as you decide."
        ),
    ] = True,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 is any free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
    labels_output: Annotated[
        Path | None,
        typer.Option(
            "--labels-to",
            help="Write all labels, with corrections, to a .csv or .parquet file and exit.",
        ),
    ] = None,
    changes_output: Annotated[
        Path | None,
        typer.Option(
            "--changes-to",
            help="Write only the changed labels to a .csv or .parquet file and exit.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder-to", help="Write a new folder of images, by corrected class, and exit."
        ),
    ] = None,
    copies: Annotated[
        bool,
        typer.Option("--copy", help="With --folder-to: copy the images instead of linking them."),
    ] = False,
    task: TaskOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Review suspected labels in a browser, and correct them.

    Your data are not changed: decisions go to a file of their own.
    """
    for flag, output in (("--labels-to", labels_output), ("--changes-to", changes_output)):
        if output is not None:
            check_output(output, source, read.labels, data, flag=flag)
    if labels_output is not None and labels_output == changes_output:
        raise OptionError("--labels-to and --changes-to name the same file.")
    if copies and folder is None:
        raise OptionError("--copy needs --folder-to.")
    if labels_output is None and changes_output is None and folder is None and not merge_files:
        _check_server()
    needs_data = data is not None or folder is not None or read.encoder is not None
    session = _open_review(source, read, task, data, decisions, reviewer, needs_data=needs_data)
    with contextlib.closing(session.decisions):
        session.reviewer_error = reviewer_error
        merged = _merge(session, merge_files or [])
        for flag, output in (("--labels-to", labels_output), ("--changes-to", changes_output)):
            if output is not None:
                check_not_input(flag, output, *saved_inputs(session.scores))
                _check_same_data(flag, output, session)
        written = _write_tables(session, labels_output, changes_output)
        if folder is not None and session.dataset is not None:
            written[str(folder)] = _write_folder(session, session.dataset, folder, copies)
        if not written and merged is None:
            from cgscore.review.server import serve

            serve(session, port=port, browser=browser, live=live, as_json=as_json)
        elif as_json:
            more = {} if merged is None else {"merged": _merge_document(session, merged)}
            print_json({"written": list(written), "progress": session.progress(), **more})
        else:
            if merged is not None:
                _print_merged(session, merged)
            if written:
                print_written(written)


def _merge(session: Review, files: list[Path]) -> Merged | None:
    """Merge the decisions of other files into those of a review; None without files."""
    from cgscore.review import Decisions
    from cgscore.review.merging import merge

    if not files:
        return None
    for file in files:
        if not file.is_file():
            raise OptionError(f"--merge {file}: there is no such file.")
    others: dict[str, Decisions] = {}
    with contextlib.ExitStack() as stack:
        for file in files:
            opened = Decisions(file, session.scores.meta["fingerprint"])
            stack.callback(opened.close)
            opened.expect(session.given, session.subject.count)
            name = file.stem if file.stem not in others else f"{file.stem} {len(others) + 1}"
            others[name] = opened
        return merge(session.decisions, others)


def _merge_document(session: Review, merged: Merged) -> dict[str, Any]:
    """What was merged, for programs."""
    return {
        "added": merged.added,
        "agreed": merged.agreed,
        "disagreements": [
            {"id": str(identity), "labels": labels}
            for identity, labels in _disagreements(session, merged)
        ],
    }


def _disagreements(session: Review, merged: Merged) -> list[tuple[Any, dict[str, str]]]:
    """The id of every example that reviewers disagree on, and the label that each chose."""
    names, ids = session.subject.names, session.scores.table["id"]

    def label(value: float) -> str:
        return names[int(value)] if names else f"{value:.6g}"

    return [
        (
            ids.iloc[position],
            {str(v.reviewer): label(v.label) for v in votes if v.action != "skip"},
        )
        for position, votes in sorted(merged.disagreements.items())
    ]


def _print_merged(session: Review, merged: Merged) -> None:
    """Print how many decisions were added, and every disagreement."""
    print(
        f"Merged:   {merged.added:,} decisions added to {session.decisions.path}; reviewers agree "
        f"on {merged.agreed:,} examples and disagree on {len(merged.disagreements):,}"
    )
    for identity, labels in _disagreements(session, merged):
        chosen = ", ".join(f"{_printable(who)}: {_printable(what)}" for who, what in labels.items())
        print(f"  {_printable(str(identity))}  {chosen}")
    if merged.disagreements:
        print(
            "These examples are undecided again. To decide on them, run the same command without "
            "--merge."
        )


def _printable(text: str) -> str:
    """A text without what a terminal would take for a command."""
    return "".join(mark if mark.isprintable() else "?" for mark in text)[:200]


def _check_server() -> None:
    """Raise `OptionError` if the packages of the web application are missing."""
    try:
        import_module("cgscore.review.server")
    except ModuleNotFoundError as error:
        raise OptionError(
            'Reviewing needs fastapi and uvicorn. Install them: pip install "cgscore[review]"'
        ) from error


def _open_review(
    source: str,
    read: ReadFlags,
    task: str,
    data: str | None,
    decisions: Path | None,
    reviewer: str | None,
    *,
    needs_data: bool,
) -> Review:
    """The review of a result or source; without its data, if they are missing and not needed."""
    from cgscore.review import Decisions, Review

    scores = scored(source, read, ridge="auto", task=task)
    encoder = read.encoder if is_result(source) else None
    dataset = None
    try:
        dataset = scores.data(data, encoder=encoder)
    except CGScoreError as error:
        if needs_data:
            raise
        print_note(f"pictures and neighbours are left out: {error}")
    name = source.removeprefix("sklearn:").rstrip(f"/{os.sep}")  # a folder may end in either
    file = decisions or Path(f"{name}.review")
    kept = Decisions(file, scores.meta["fingerprint"], reviewer=reviewer)
    return Review(scores, dataset, kept)


def _check_same_data(flag: str, output: Path, session: Review) -> None:
    """Raise `OptionError` if a file that exists is about other examples than those reviewed."""
    import pandas as pd

    if not output.exists():
        return
    read = pd.read_csv if output.suffix.lower() == ".csv" else pd.read_parquet
    try:
        ids = set(read(output)["id"].astype(str))
    except Exception as error:  # whatever the file is, it is not an export
        raise OptionError(
            f"{flag} {output} exists, and is not a table of labels ({type(error).__name__}). "
            "Choose another name, or delete it."
        ) from error
    if not ids <= {str(name) for name in session.scores.table["id"]}:
        raise OptionError(
            f"{flag} {output} exists, and has labels of other examples. Choose another name, or "
            "delete it."
        )


def _write_tables(session: Review, labels: Path | None, changes: Path | None) -> dict[str, str]:
    """Write the tables that are wanted; each file with its number of rows."""
    written = {}
    for table, output in ((session.labels, labels), (session.changes, changes)):
        if output is not None:
            rows = table()
            write_table(rows, output)
            written[str(output)] = f"{len(rows):,} rows"
    return written


def _write_folder(session: Review, dataset: Dataset, folder: Path, copies: bool) -> str:
    """Write a new folder of images by corrected class; the number of images in words."""
    from cgscore.data.readers.image_links import new_folder

    labels = session.labels()["label"].tolist()
    count = new_folder(dataset, range(len(dataset)), labels, folder, copy=copies)
    return f"{count:,} {'copies' if copies else 'links'}"
