"""``cgscore import``: corrections that come back, into the log of the review and new scores."""

from __future__ import annotations

import shlex
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cgscore.cli.console import one_line, print_json, print_written, quiet_warnings
from cgscore.cli.options import JsonOption
from cgscore.cli.output_files import (
    check_not_input,
    check_output,
    saved_inputs,
    write_table,
)
from cgscore.cli.read_flags import allow_module_here
from cgscore.cli.verbosity import print_details, print_note, print_warning, show_progress
from cgscore.errors import CGScoreError, OptionError, SourceError

if TYPE_CHECKING:
    from cgscore.data import Dataset
    from cgscore.exchange.corrections import CheckedCorrections
    from cgscore.exchange.renewal import Recorded
    from cgscore.result.scores import Scores
    from cgscore.review import Review


def import_(
    result: Annotated[str, typer.Argument(help="The result that was exported, scores.parquet.")],
    file: Annotated[Path, typer.Argument(help="The file or folder that the tool wrote.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="The scored data, needed to score again with the corrections [default: the saved "
            "source].",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File for the new result, .parquet; RESULT is never overwritten [default: for "
            "scores.parquet, scores-corrected.parquet].",
        ),
    ] = None,
    labels_output: Annotated[
        Path | None,
        typer.Option(
            "--labels-to",
            help="File for all labels, with corrections, .csv or .parquet [default: the new "
            "result with .labels.csv].",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option("--decisions", help="Log of the review [default: RESULT.review]."),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", help="The tool, as for export --to [default: detected]."),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Skip corrections of unknown examples, with unknown labels or in conflict, and "
            "list them.",
        ),
    ] = False,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="The encoder of the result, if it has one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Import corrected labels, and write a new result with them.

    Every decision is added to the log of the review as well.
    """
    import cgscore
    from cgscore.exchange.corrections import check_corrections
    from cgscore.exchange.registry import find_tool, tool_of
    from cgscore.exchange.renewal import record, renewed
    from cgscore.review import Decisions, Review

    old = Path(result)
    new = output or old.with_name(f"{old.stem}-corrected.parquet")
    table = labels_output or new.with_name(f"{new.stem}.labels.csv")
    log = decisions or Path(f"{result}.review")
    _check_outputs(new, table, log, result, str(file), data)
    tool = tool_of(file) if origin is None else find_tool(origin, "--from")
    allow_module_here(encoder)
    with ExitStack() as stack:
        with quiet_warnings():
            scores = cgscore.load(result)
            print_details(scores.meta)
            _check_not_inputs(new, table, log, *saved_inputs(scores))
            captions = tool.captions(scores)
            checked = check_corrections(scores, tool.read(file), file, captions, skip_bad=skip_bad)
            if not checked.labels and not checked.refused:
                raise SourceError(f"{file} holds no corrected labels. {tool.steps}")
            dataset, reason = _data(scores, data, encoder)
            kept = stack.enter_context(closing(Decisions(log, scores.meta["fingerprint"])))
            review = Review(scores, dataset, kept)
            recorded = record(review, checked.labels)
            labels = review.labels()
            write_table(labels, table)
            written = {
                str(table): f"{len(labels):,} labels, {int(labels['changed'].sum()):,} changed"
            }
            after = None
            if dataset is not None:
                after = renewed(scores, dataset, labels["label"].to_numpy(), show_progress())
                after.save(new)
                written = {str(new): f"{len(after):,} rows"} | written
            flagged = [int(review.subject.flagged.sum())]
            if after is not None:
                flagged.append(int(after.label_issues()["is_label_issue"].sum()))
        for problem in checked.problems:
            print_note(f"left out: {problem}")
        if as_json:
            print_json(
                _document(tool.name, checked, recorded, review, flagged, after, reason, written)
            )
            return
        _print_answer(tool.title, checked, recorded, flagged)
        if after is None:
            print(f"Scores were not updated: {reason}")
        else:
            for warning in after.meta["warnings"]:
                print_warning(warning)
        print_written({**written, str(log): _decided(review)})
        command = shlex.join(["cgscore", "review", result if after is None else str(new)])
        print(f"Next:     {one_line(command)}")


def _check_outputs(new: Path, table: Path, log: Path, *inputs: str | None) -> None:
    """Raise `OptionError` if an output cannot be written, or is an input or another output."""
    check_output(new, suffixes=(".parquet",))
    check_output(table, flag="--labels-to")
    _check_not_inputs(new, table, log, *inputs)
    if len({path.absolute() for path in (new, table, log)}) < 3:
        raise OptionError("-o, --labels-to and --decisions must name different files.")


def _check_not_inputs(new: Path, table: Path, log: Path, *inputs: str | None) -> None:
    for flag, output in (("-o", new), ("--labels-to", table), ("--decisions", log)):
        check_not_input(flag, output, *inputs)


def _data(
    scores: Scores, data: str | None, encoder: str | None
) -> tuple[Dataset | None, str | None]:
    """The scored data, or None and the reason."""
    try:
        return scores.data(data, encoder=encoder), None
    except CGScoreError as error:
        if data is not None or encoder is not None:
            raise
        return None, str(error)


def _decided(review: Review) -> str:
    count = len(review.decisions.current())
    return f"{count:,} decision{'s' * (count != 1)}"


def _print_answer(
    title: str,
    checked: CheckedCorrections,
    recorded: Recorded,
    flagged: list[int],
) -> None:
    """Print what came back, and what follows from it."""
    new = recorded.accepted + recorded.kept + recorded.changed
    print(
        f"{new:,} decision{'s' * (new != 1)} from {title}: {recorded.accepted:,} suggested "
        f"label{'s' * (recorded.accepted != 1)} accepted, {recorded.changed:,} changed to another, "
        f"{recorded.kept:,} kept."
    )
    more = {
        f"{recorded.known:,} were in the log already": recorded.known,
        f"{recorded.replaced:,} replace earlier decisions": recorded.replaced,
        f"{checked.refused:,} do not fit the result and were left out": checked.refused,
    }
    if any(more.values()):
        print(f"{'; '.join(text for text, count in more.items() if count)}.")
    if len(flagged) > 1:
        print(f"{flagged[0]:,} labels were flagged before, {flagged[1]:,} are now.")


def _document(
    name: str,
    checked: CheckedCorrections,
    recorded: Recorded,
    review: Review,
    flagged: list[int],
    after: Scores | None,
    reason: str | None,
    written: dict[str, str],
) -> dict[str, Any]:
    return {
        "from": name,
        **vars(recorded),
        "left_out": checked.refused,
        "problems": checked.problems,
        "renewed": after is not None,
        "reason": reason,
        "suspects_before": flagged[0],
        "suspects": None if after is None else flagged[1],
        "fingerprint": None if after is None else after.meta["fingerprint"],
        "warnings": [] if after is None else after.meta["warnings"],
        "decisions": len(review.decisions.current()),
        "log": str(review.decisions.path),
        "written": list(written),
    }
