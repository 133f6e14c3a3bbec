"""The command line: parse, call, print.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 2 a
mistake in the input or the call, 1 a fault of ours, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from cgscore import __version__
from cgscore.cli.printing import (
    WORST,
    complain,
    one_line,
    open_streams,
    output_console,
    print_audit,
    print_costs,
    print_findings,
    print_inspection,
    print_issues,
    print_json,
    print_kept,
    print_methods,
    print_source,
    print_suspects,
    show_size,
    stop_printing,
)
from cgscore.errors import CGScoreError, CGScoreWarning, OptionError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.result.scores import Scores

P = ParamSpec("P")
T = TypeVar("T")

app = typer.Typer(
    name="cgscore",
    help="What each example of a labelled dataset is worth, without training a model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A file (.csv, .tsv, .parquet, .feather, .npz, .npy, IDX), a folder (of class folders "
        "of images, IDX files, CIFAR batches, a saved Hugging Face dataset), or sklearn:digits."
    ),
]
#: How a source is read: what `cgscore.read` takes, with the type and default of each flag.
READING: dict[str, tuple[Any, Any]] = {
    "labels": (
        Annotated[
            str | None,
            typer.Option(help="File with the labels: .npy, or text with one label a line."),
        ],
        None,
    ),
    "label_column": (
        Annotated[
            str | None, typer.Option(help="Column of a table with the labels [label or target].")
        ],
        None,
    ),
    "image_column": (
        Annotated[str | None, typer.Option(help="Column of a table with encoded images.")],
        None,
    ),
    "text_column": (
        Annotated[
            str | None,
            typer.Option(help="Column of a table with the texts [found by how it looks]."),
        ],
        None,
    ),
    "id_column": (
        Annotated[str | None, typer.Option(help="Column of a table that names the rows [id].")],
        None,
    ),
    "max_columns": (
        Annotated[
            int | None, typer.Option(min=1, help="Most columns of a table in a file [50,000].")
        ],
        None,
    ),
    "split": (
        Annotated[str | None, typer.Option(help="Part to read where there are several [train].")],
        None,
    ),
    "resize": (
        Annotated[str | None, typer.Option(help="Bring images to one size: 32 or 64x48.")],
        None,
    ),
    "skip_bad": (
        Annotated[bool, typer.Option("--skip-bad", help="Leave unreadable images out and go on.")],
        False,
    ),
    "preprocess": (
        Annotated[
            str,
            typer.Option(
                help="auto, none, or table: standardise, encode text one-hot, add a constant "
                "column.",
            ),
        ],
        "auto",
    ),
    "encoder": (
        Annotated[
            str | None,
            typer.Option(
                help="What makes features: efficientnet-lite0 of images, minilm or tfidf of "
                "texts, auto, transformers:NAME-OR-FOLDER, MODULE:FUNCTION, or a .npz file.",
            ),
        ],
        None,
    ),
    "scaling": (
        Annotated[
            str, typer.Option(help="Of all features together: none, centre, standardise, whiten.")
        ],
        "none",
    ),
}
EncoderOption = Annotated[
    str | None,
    typer.Option(
        "--encoder", help="The one of the result, said again if it is MODULE:FUNCTION or a hub's."
    ),
]
RatioOption = Annotated[
    float, typer.Option("--ratio", help="For subsample: others drawn for each of a class.")
]
RunsOption = Annotated[
    int | None,
    typer.Option(
        "--runs", min=1, help="For subsample [the paper's rule] and partition [2]: repetitions."
    ),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory-limit", help="Most memory to use, such as 4GB.")
]
NoGuardOption = Annotated[
    bool,
    typer.Option(
        "--no-guard",
        help="For .csv: write text cells that spreadsheets would take for formulas as they are.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]


def main() -> None:
    """Run the command line."""
    open_streams()
    warnings.showwarning = lambda message, *_: complain(f"warning: {message}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may hold what a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="cgscore")


def _guarded(command: Callable[P, T]) -> Callable[P, T]:
    """A command whose expected errors end in one message and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except BrokenPipeError:  # whoever reads us has enough
            stop_printing()
            raise typer.Exit(0) from None
        except CGScoreError as error:
            complain(f"error: {error}")
            raise typer.Exit(2) from None
        except MemoryError as error:
            complain(f"error: out of memory ({error}). Score fewer examples.")
            raise typer.Exit(2) from None
        except OSError as error:
            complain(f"error: cannot write: {error.strerror or error}.")
            stop_printing()
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            complain("interrupted; nothing was written.")
            raise typer.Exit(130) from None

    return run


def _reading(command: Callable[..., T]) -> Callable[..., T]:
    """A command that takes every flag of `READING`, and gets them as the dictionary `how`."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for name, one in signature.parameters.items() if name != "how"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in READING.items()
    ]
    all_of_them = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *added)]

    @functools.wraps(command)
    def run(**given: Any) -> T:
        how = {name: given.pop(name) for name in READING}
        _look_here(how["encoder"])
        with _warnings_aside():  # what they say is in the notes, which are printed
            return command(**given, how=how)

    run.__signature__ = signature.replace(parameters=all_of_them)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in all_of_them}
    return run


def _look_here(encoder: str | None) -> None:
    """Let a MODULE of one's own be found in the folder where the command is given.

    It comes last: what lies there, by chance or not, must not take the place of a package.
    """
    from cgscore.data.encoders.registry import is_own

    if encoder is not None and is_own(encoder):
        with contextlib.suppress(OSError):  # the folder is gone
            sys.path.append(os.getcwd())


@contextmanager
def _resumable(checkpoint: Path | None) -> Iterator[None]:
    """Say how to go on when the work inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None:
            complain("With --checkpoint FOLDER an interrupted run can go on where it was.")
        else:
            complain(
                f"Finished work is kept in {checkpoint}. To go on, run the same command again:\n"
                f"  {shlex.join(['cgscore', *sys.argv[1:]])}"
            )
        raise


@contextmanager
def _warnings_aside() -> Iterator[None]:
    """Leave warnings to the result's metadata, from which they are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CGScoreWarning)
        yield


def _version(asked: bool) -> None:
    if asked:
        print(f"cgscore {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
@_guarded
@_reading
def score(
    source: SourceArgument,
    how: dict[str, Any],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Where to write: .parquet (whole result) or .csv."),
    ] = Path("scores.parquet"),
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, exact, iterative (nearly exact, audited), subsample (the paper's "
            "estimator) or partition (random blocks, for very large data).",
        ),
    ] = "auto",
    target: Annotated[
        float | None,
        typer.Option("--target", help="Rank correlation that an iterative run must show."),
    ] = None,
    ridge: Annotated[
        str,
        typer.Option(
            "--ridge",
            help="Added to the kernel's diagonal; 0 is the paper's, auto finds wrong labels best.",
        ),
    ] = "0",
    ratio: RatioOption = 4.0,
    runs: RunsOption = None,
    task: Annotated[
        str, typer.Option("--task", help="classification or regression.")
    ] = "classification",
    duplicates: Annotated[
        str, typer.Option("--duplicates", help="Identical rows: merge or error.")
    ] = "merge",
    memory_limit: MemoryOption = None,
    dtype: Annotated[
        str,
        typer.Option("--dtype", help="float64, or float32: half the memory and time, less exact."),
    ] = "float64",
    device: Annotated[
        str, typer.Option("--device", help="cpu, or cuda or mps for the iterative method.")
    ] = "cpu",
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Folder for finished work; an interrupted run started again goes on from there.",
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Dask scheduler to use: tcp://HOST:PORT.")
    ] = None,
    scheduler_file: Annotated[
        Path | None, typer.Option("--scheduler-file", help="File in which its address stands.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Start so many local Dask workers, and use them."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="For methods that draw at random.")
    ] = 0,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score every example and write the result."""
    import cgscore
    from cgscore.api import check_numbers, check_options

    _refuse_output(output, source, how["labels"])
    strength = _ridge(ridge)
    check_options(method=method, ridge=strength, task=task, dtype=dtype, duplicates=duplicates)
    check_numbers(ratio=ratio, runs=runs, seed=seed)
    _refuse_clusters(cluster, scheduler_file, workers)
    dataset = cgscore.read(source, device=device, **how)
    console = output_console()
    if not as_json:
        print_source(console, dataset, task)
        print_costs(console, *dataset.shape, _class_count(dataset, task))
    if checkpoint is not None:
        complain(
            f"checkpoint {checkpoint}: if this run is interrupted, the same command goes on from "
            "there."
        )
    with (
        _resumable(checkpoint),
        _client(console, as_json, cluster, scheduler_file, workers) as client,
    ):
        scores = cgscore.score(
            dataset,
            method=method,
            ridge=strength,
            target=target,
            ratio=ratio,
            runs=runs,
            client=client,
            task=task,
            dtype=dtype,
            seed=seed,
            memory_limit=memory_limit,
            device=device,
            checkpoint=checkpoint,
            duplicates=duplicates,
        )
    if output.suffix.lower() == ".csv":
        scores.to_csv(output, guard=not no_guard)
    else:
        scores.save(output)
    for note in scores.meta["warnings"]:
        complain(f"warning: {note}")
    if as_json:
        print_json({"output": str(output), "complexity": scores.complexity, **scores.meta})
        return
    console.print(f"scores    {len(scores):,} rows in {one_line(str(output))}", soft_wrap=True)
    print_audit(console, scores)
    if checkpoint is not None:
        console.print(
            f"kept      {one_line(str(checkpoint))} serves {_use_of(scores.meta['method'])}; "
            "remove it if there will be none",
            soft_wrap=True,
        )
    console.print()
    print_findings(console, scores)
    if output.suffix.lower() == ".parquet":
        name = shlex.quote(str(output))
        console.print(
            f"Next:  cgscore report {one_line(name)}     see them\n"
            f"       cgscore review {one_line(name)}     fix them",
            soft_wrap=True,
        )


def _ridge(text: str) -> float | str:
    """A number, or what was given."""
    try:
        return float(text)
    except ValueError:
        return text


@app.command()
@_guarded
@_reading
def issues(
    source: Annotated[
        str, typer.Argument(help="A result of `cgscore score`, or a source as for score.")
    ],
    how: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write all verdicts, worst first: .csv or .parquet."),
    ] = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Show the most similar examples of both classes, and shares."),
    ] = False,
    data: Annotated[
        str | None, typer.Option("--source", help="The scored data, for --why [the saved source].")
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
        typer.Option("--precision", help="Flag as many as keep this share expected to be wrong."),
    ] = None,
    count: Annotated[int, typer.Option("--show", min=0, help="Suspects shown.")] = WORST,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say which labels are probably wrong, worst first."""
    import cgscore
    from cgscore.issues.table import check_detector, worst_first

    if output is not None:
        _refuse_output(output, source, how["labels"], data)
    check_detector(by, expected_noise, precision)
    if _is_result(source):
        encoder = how.pop("encoder")  # says that a result's own may be loaded
        _refuse_reading(source, how)
        scores = cgscore.load(source)
        scores.check_encoder(encoder)
        if why and encoder is not None:
            scores.data(data, encoder=encoder)
            data = None
    else:
        scores = cgscore.score(cgscore.read(source, **how), ridge="auto")
        for text in scores.meta["notes"]:
            complain(f"note: {text}")
        for text in scores.meta["warnings"]:
            complain(f"warning: {text}")
    found = scores.label_issues(by=by, expected_noise=expected_noise, precision=precision)
    if output is not None:
        ordered = found.reset_index().sort_values("label_score", kind="stable")
        _write_table(ordered, output, guard=not no_guard)
    suspects = worst_first(found)
    told, note = _why(scores, suspects.head(count), data) if why else (None, None)
    if as_json:
        print_json(
            {
                "output": None if output is None else str(output),
                "suspects": len(suspects),
                **{str(key): value for key, value in found.attrs.items()},
                "ridge": scores.meta["ridge"],
                "notes": scores.meta["notes"],
                "warnings": scores.meta["warnings"],
                "worst": suspects.head(count).reset_index().to_dict("records"),
                "why": None if told is None else told.to_dict("records"),
                "note": note,
            }
        )
        return
    print_issues(output_console(), scores, found, suspects.head(count), told)
    if note is not None:
        complain(f"note: {note}")
    if output is not None:
        print(f"Written:  {one_line(str(output))}, {len(found):,} rows")


@app.command()
@_guarded
def prune(
    result: Annotated[str, typer.Argument(help="A result of `cgscore score`.")],
    keep: Annotated[float, typer.Option("--keep", help="Share of the examples that stay.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="What stays: .csv or .parquet with position, id, label and score, or .npy with "
            "positions [kept.csv].",
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            help="low-first (keeps the hard), high-first (keeps the typical), window, stratified "
            "or random.",
        ),
    ] = "low-first",
    offset: Annotated[
        float | None,
        typer.Option(
            "--offset",
            help="Where the window starts, as a share [found by kernel regression on the data].",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", help="The score: a column of the result, or label_score.")
    ] = "cg",
    together: Annotated[
        bool, typer.Option("--global", help="Sort all together, not the same share of every class.")
    ] = False,
    drop_issues: Annotated[
        bool,
        typer.Option("--drop-issues", help="Suspected label errors go first; --keep 1: only they."),
    ] = False,
    mask: Annotated[
        bool,
        typer.Option("--mask", help="Write all examples, with a column (or array) of yes and no."),
    ] = False,
    filtered: Annotated[
        Path | None,
        typer.Option(
            "--data-to",
            help="Write what stays of the data: a file of the source's format, a new folder "
            "(images as links, Hugging Face), or .npz.",
        ),
    ] = None,
    copies: Annotated[
        bool, typer.Option("--copy", help="Copies instead of links in a folder of images.")
    ] = False,
    data: Annotated[
        str | None, typer.Option("--source", help="The scored data [the saved source].")
    ] = None,
    encoder: EncoderOption = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="For whatever is drawn.")] = 0,
    no_guard: NoGuardOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say which examples to keep, and write what stays of the data."""
    import cgscore
    from cgscore.selection.export import check_target, write_filtered
    from cgscore.selection.orders import check_selection

    check_selection(keep, order, offset, seed)
    _look_here(encoder)
    if filtered is None and copies:
        raise OptionError("--copy is for --data-to, which is not given.")
    if output is None and filtered is not None and mask:
        raise OptionError("--mask is for -o, which is not given.")
    if output is None and filtered is None:
        output = Path("kept.csv")
    with _warnings_aside():
        scores = cgscore.load(result)
        scores.check_encoder(encoder)
        source = scores.meta["source"]
        inputs = (result, data, source, scores.meta["read_options"].get("labels"))
        if output is not None:
            _refuse_output(output, *inputs, kinds=(".csv", ".parquet", ".npy"))
        if filtered is not None:
            check_target(data or source, filtered, copy=copies)
            _refuse_same(filtered, "--data-to", *inputs)
            if output is not None and filtered.resolve() == output.resolve():
                raise OptionError("-o and --data-to name the same file.")
        how: dict[str, Any] = {"by": by, "drop_issues": drop_issues, "seed": seed}
        chosen: dict[float, float] = {}
        dataset = None
        if filtered is not None or (order == "window" and offset is None):
            dataset = _data(scores, data, encoder)
        if order == "window" and offset is None:
            chosen = scores.windows(keep, not together, data=dataset, **how)
            offset = max(chosen, key=lambda one: chosen[one])
        kept = scores.keep(keep, order, not together, offset=offset, **how)
        values = scores.values(by)
        hint = scores.label_issues().attrs["hint"] if drop_issues else None
    written: dict[str, str] = {}
    if filtered is not None and dataset is not None:
        written[str(filtered)] = write_filtered(dataset, kept, filtered, copy=copies)
    if output is not None:
        _write_kept(scores, kept, output, {by: values}, mask=mask, guard=not no_guard)
        written[str(output)] = f"{len(scores) if mask else len(kept):,} rows"
    if as_json:
        counts = scores.table["given_label"].iloc[kept].value_counts()
        print_json(
            {
                "written": list(written),
                "examples": len(scores),
                "kept": len(kept),
                "kept_by_class": counts.to_dict() if len(scores.classes) else None,
                "order": order,
                "offset": offset,
                "windows": chosen or None,
                "by": by,
                "per_class": not together,
                "drop_issues": drop_issues,
                "hint": hint,
                "seed": seed,
            }
        )
        return
    console = output_console()
    print_kept(console, scores, kept, order, by, values)
    if chosen and offset is not None:
        console.print(
            f"  window   starts at {offset:.0%} of the order: kernel regression on it "
            f"reaches {chosen[offset]:.1%} (others: {min(chosen.values()):.1%} and more)"
        )
    if hint:
        complain(f"note: {hint}")
    for name, size in written.items():
        print(f"Written:  {one_line(name)}, {size}")


def _data(scores: Scores, data: str | None, encoder: str | None) -> Dataset:
    """The scored data, or the flag that says where they are."""
    try:
        return scores.data(data, encoder=encoder)
    except CGScoreError as error:
        if data is not None:
            raise
        raise OptionError(f"{error} At the command line: --source") from error


def _write_kept(
    scores: Scores,
    kept: Any,
    output: Path,
    values: dict[str, Any],
    *,
    mask: bool,
    guard: bool,
) -> None:
    """Positions, ids, labels and scores of what stays, or yes and no for all."""
    import numpy as np

    from cgscore.execution.files import replace_file

    stays = np.isin(np.arange(len(scores)), kept)
    if output.suffix.lower() == ".npy":
        replace_file(output, lambda file: np.save(file, stays if mask else kept))
        return
    table = scores.table[["id", "given_label"]].assign(**values)
    table.insert(0, "position", np.arange(len(scores)))
    _write_table(table.assign(keep=stays) if mask else table.iloc[kept], output, guard=guard)


@app.command()
@_guarded
def report(
    result: Annotated[str, typer.Argument(help="A result of `cgscore score`.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The page.")] = Path("report.html"),
    data: Annotated[
        str | None, typer.Option("--source", help="The scored data [the saved source].")
    ] = None,
    encoder: EncoderOption = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Suspects shown.")] = 200,
    as_json: JsonOption = False,
) -> None:
    """Write one page with pictures and charts that opens anywhere, without a network."""
    import cgscore

    _refuse_output(output, result, data, kinds=(".html", ".htm"))
    _look_here(encoder)
    with _warnings_aside():
        scores = cgscore.load(result)
        dataset = None if data is None and encoder is None else scores.data(data, encoder=encoder)
        notes = scores.report(output, data=dataset, worst=worst)
    for note in notes:
        complain(f"note: {note}")
    address = output.resolve().as_uri()
    if as_json:
        print_json({"output": str(output), "address": address, "notes": notes})
        return
    print(f"Written:  {one_line(str(output))}, {show_size(output)}\nOpen:     {address}")


@app.command()
@_guarded
def review(
    result: Annotated[str, typer.Argument(help="A result of `cgscore score`.")],
    data: Annotated[
        str | None, typer.Option("--source", help="The scored data [the saved source].")
    ] = None,
    encoder: EncoderOption = None,
    decisions: Annotated[
        Path | None, typer.Option("--decisions", help="Where decisions are kept [RESULT.review].")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it.")] = True,
    labels: Annotated[
        Path | None,
        typer.Option("--labels-to", help="Write corrected labels (.csv or .parquet) and stop."),
    ] = None,
    changes: Annotated[
        Path | None, typer.Option("--changes-to", help="Write what was changed, and stop.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder-to", help="Make a new image folder of corrected classes, and stop."),
    ] = None,
    copies: Annotated[
        bool, typer.Option("--copy", help="Copies instead of links in that folder.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Go through suspected labels in a browser and correct them; the originals stay untouched."""
    import cgscore

    for output in (labels, changes):
        if output is not None:
            _refuse_output(output, result, data)
    _look_here(encoder)
    if labels is not None and labels == changes:
        raise OptionError("--labels-to and --changes-to name the same file.")
    if copies and folder is None:
        raise OptionError("--copy is for --folder-to, which is not given.")
    try:
        from cgscore.review import Decisions, Review
    except ModuleNotFoundError as error:
        raise OptionError(
            'Reviewing needs fastapi and uvicorn. Install them: pip install "cgscore[review]"'
        ) from error
    with _warnings_aside():
        scores = cgscore.load(result)
        dataset = None
        try:
            dataset = scores.data(data, encoder=encoder)
        except CGScoreError as error:
            if data is not None or folder is not None or encoder is not None:
                raise
            complain(f"note: pictures and neighbours are left out: {error} Say --source")
        file = decisions or Path(f"{result}.review")
        going = Review(scores, dataset, Decisions(file, scores.meta["fingerprint"]))
    written: dict[str, str] = {}
    for table, output in ((going.labels, labels), (going.changes, changes)):
        if output is not None:
            found = table()
            _write_table(found, output)
            written[str(output)] = f"{len(found):,} rows"
    if folder is not None and dataset is not None:
        from cgscore.selection.image_links import new_folder

        labels_now = going.labels()["label"].tolist()
        count = new_folder(dataset, range(len(dataset)), labels_now, folder, copy=copies)
        written[str(folder)] = f"{count:,} {'copies' if copies else 'links'}"
    if not written:
        from cgscore.review.server import serve

        serve(going, port=port, browser=browser, as_json=as_json)
    elif as_json:
        print_json({"written": list(written), "progress": going.progress()})
    else:
        for name, size in written.items():
            print(f"Written:  {one_line(name)}, {size}")


def _refuse_reading(result: str, how: dict[str, Any]) -> None:
    """Say that options of reading have no place beside a saved result."""
    for name, value in how.items():
        if value != READING[name][1]:
            raise OptionError(
                f"--{name.replace('_', '-')} says how a source is read, and {result} is a saved "
                "result: it was read when it was scored, and is read so again where --source says."
            )


def _is_result(path: str) -> bool:
    """Whether a file is a saved result; other Parquet files are sources."""
    if not (path.lower().endswith(".parquet") and Path(path).is_file()):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"cgscore" in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return True  # then reading it says what is wrong


def _write_table(table: pd.DataFrame, output: Path, *, guard: bool = True) -> None:
    from cgscore.data.csv_writer import write_csv
    from cgscore.execution.files import replace_file

    table.attrs = {}
    if output.suffix.lower() == ".csv":
        write_csv(table, output, guard=guard)
    else:
        replace_file(output, lambda file: table.to_parquet(file, index=False))


def _why(
    scores: Scores, suspects: pd.DataFrame, data: str | None
) -> tuple[pd.DataFrame | None, str | None]:
    """Neighbours of suspects, or why there are none."""
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
    told = neighbours(
        dataset,
        scores.codes(),
        suspects["position"].tolist(),
        suggested.tolist(),
        ridge=scores.meta["ridge"],
        progress=reporter(None),
    )
    return told, None


def _use_of(method: str) -> str:
    """What a finished checkpoint is still good for."""
    if method == "exact":
        return "other labels of the same inputs"
    return "the same run again" if method == "iterative" else "more runs"


def _refuse_clusters(*given: object) -> None:
    if sum(one is not None for one in given) > 1:
        raise OptionError("Give one of --cluster, --scheduler-file and --workers, not several.")


@contextmanager
def _client(
    console: Console,
    as_json: bool,
    cluster: str | None,
    scheduler_file: Path | None,
    workers: int | None,
) -> Iterator[Any]:
    """The Dask client that the options ask for, or none."""
    if cluster is None and scheduler_file is None and workers is None:
        yield None
        return
    try:
        from cgscore.execution.dask import connected
    except ModuleNotFoundError as error:
        raise OptionError(
            'Clusters need dask.distributed. Install it: pip install "cgscore[dask]"'
        ) from error
    file = None if scheduler_file is None else str(scheduler_file)
    with connected(cluster, file, workers) as client:
        if not as_json:
            found = client.scheduler_info(n_workers=-1)
            text = f"{len(found['workers'])} workers at {found['address']}"
            console.print(f"cluster   {one_line(text)}")
        yield client


@app.command()
@_guarded
@_reading
def features(
    source: SourceArgument,
    how: dict[str, Any],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Where to write: .npz with X, y and ids.")
    ] = Path("features.npz"),
    device: Annotated[
        str, typer.Option("--device", help="Where the encoder computes: cpu, cuda, mps.")
    ] = "cpu",
    as_json: JsonOption = False,
) -> None:
    """Write what an encoder makes of images or texts, to be scored or used elsewhere.

    Without --encoder images are encoded with efficientnet-lite0, and texts with minilm or, if it is
    not installed, with tfidf.
    """
    import numpy as np

    import cgscore
    from cgscore.execution.machine import show_seconds
    from cgscore.selection.export import write_arrays

    _refuse_output(output, source, how["labels"], how["encoder"], kinds=(".npz",))
    start = time.perf_counter()
    dataset = cgscore.read(source, device=device, **{**how, "encoder": how["encoder"] or "auto"})
    seconds = time.perf_counter() - start
    console = output_console()
    written = write_arrays(dataset, np.arange(len(dataset)), output)
    if as_json:
        print_json(
            {
                "output": str(output),
                "source": dataset.source,
                "n": len(dataset),
                "p": dataset.shape[1],
                "encoder": dataset.options.get("encoder"),
                "scaling": dataset.options.get("scaling", "none"),
                "fingerprint": dataset.fingerprint,
                "seconds": seconds,
                "notes": dataset.notes,
            }
        )
        return
    print_source(console, dataset, "classification")
    console.print(f"Written:  {one_line(str(output))}, {written}, in {show_seconds(seconds)}")
    name = shlex.quote(str(output))
    if dataset.y is None:
        name += " --labels FILE"
    console.print(f"Next:     cgscore score {one_line(name)}", soft_wrap=True)


@app.command()
@_guarded
@_reading
def info(
    how: dict[str, Any],
    source: Annotated[str | None, typer.Argument(help="As for score.")] = None,
    simulate: Annotated[
        str | None,
        typer.Option("--simulate", help="Sizes instead of a source: n=60000,p=784,classes=10."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Single-threaded workers of a cluster, each like a core here."
        ),
    ] = None,
    worker_memory: Annotated[
        str | None, typer.Option("--worker-memory", help="Memory of each worker, such as 16GB.")
    ] = None,
    ratio: RatioOption = 4.0,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the data are and what scoring them would cost here."""
    import cgscore
    from cgscore.api import check_numbers
    from cgscore.data.inspection import inspect
    from cgscore.execution.machine import available_memory, cores, parse_bytes, product_rate
    from cgscore.methods.auto import costs

    check_numbers(ratio=ratio, runs=runs, seed=0)
    if (source is None) == (simulate is None):
        raise OptionError("Give a source, or --simulate n=...,p=...,classes=..., not both.")
    document: dict[str, Any] = {}
    console = output_console()
    if source is not None:
        dataset = cgscore.read(source, **how)
        n, p = dataset.shape
        found = inspect(dataset)
        document |= {
            "source": dataset.source,
            "n": n,
            "p": p,
            "fingerprint": dataset.fingerprint,
            "preprocessing": dataset.preprocessing,
            "classes": len(found.classes),
            "class_counts": found.classes,
            "class_names": dataset.class_names,
            "image_size": found.image_size,
            "copies": found.copies,
            "conflicting_copies": found.conflicts,
            "suspicions": found.suspicions,
            "notes": dataset.notes,
        }
        if not as_json:
            print_inspection(console, dataset, found)
    else:
        n, p, k = _sizes(simulate or "")
        document |= {"n": n, "p": p, "classes": k}
        if not as_json:
            console.print(f"simulated {n:,} examples with {p:,} numbers each in {k:,} classes")
    k = document["classes"] or 1
    rate, memory = product_rate(), available_memory()
    each = memory if worker_memory is None else parse_bytes(worker_memory, "--worker-memory")
    found_costs = costs(n, p, k, workers=workers, ratio=ratio, runs=runs)
    speed = {
        name: rate if workers is None or name == "exact" else rate / cores() * workers
        for name in found_costs
    }
    document |= {
        "flops_per_second": rate,
        "available_memory": memory,
        "workers": workers,
        "methods": {
            name: {
                "tasks": cost.tasks,
                "flops": cost.flops,
                "seconds": cost.seconds(speed[name]),
                "bytes": cost.bytes,
                "fits": cost.bytes <= memory,
                "least_bytes": cost.least,
                "disk": cost.disk,
                "worker_bytes": cost.worker_bytes,
                "fits_worker": cost.worker_bytes <= each,
                "bytes_moved": cost.moved,
            }
            for name, cost in found_costs.items()
        },
    }
    if as_json:
        print_json(document)
        return
    print_methods(console, document, workers)


@app.command()
@_guarded
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the result.")] = Path(
        "cgscore-demo"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which labels are flipped.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find flipped labels among scikit-learn's digits: the whole job in a few seconds."""
    from cgscore.cli import demo_job as job

    console = output_console()
    if not as_json:
        console.print(
            "digits    1,797 images of 8 x 8 pixels in 10 classes\n"
            f"task      find the {job.SHARE:.0%} of the labels that were flipped at random"
        )
    with _warnings_aside():
        done = job.run(seed)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"-o {output}: cannot make this folder ({error.strerror}).") from error
    path, page = output / "scores.parquet", output / "report.html"
    done.scores.save(path)
    done.scores.report(page)
    if as_json:
        print_json(
            {
                "output": str(path),
                "report": str(page),
                "flipped": done.flipped,
                "suspects": len(done.suspects),
                "found": done.found,
                "precision": done.precision,
                "recall": done.recall,
                "suggestions_right": done.right,
                **done.scores.meta,
            }
        )
        return
    meta, count = done.scores.meta, len(done.suspects)
    seconds = meta["timings"]["total"]
    console.print(
        f"method    exact, ridge {meta['ridge']:.2g}: no model is trained; {seconds:.1f} s\n"
        "\n"
        f"About {done.estimated:.0f} labels look wrong (95 %: {done.interval[0]:.0f} to "
        f"{done.interval[1]:.0f}); {count} are flagged.\n"
        f"{done.flipped} labels were flipped, and {done.found} of them are among the {count}:\n"
        f"precision {done.precision:.1%}, recall {done.recall:.1%}. "
        f"The suggested label is right for {done.right}.\n"
        "\n"
        f"The {WORST} worst:"
    )
    print_suspects(console, done.scores, done.suspects.head(WORST))
    console.print()
    console.print(f"Written:  {one_line(str(path))}", soft_wrap=True)
    console.print(f"Look:     {page.resolve().as_uri()}", soft_wrap=True)
    console.print("Next:     cgscore issues YOUR-DATA.csv --label-column NAME")


def _refuse_output(
    output: Path, *inputs: str | None, kinds: tuple[str, ...] = (".parquet", ".csv")
) -> None:
    """Refuse a place that cannot be written to, before the work that would be lost."""
    if output.suffix.lower() not in kinds:
        raise OptionError(f"-o {output}: expected a name that ends in {' or '.join(kinds)}.")
    if not output.parent.is_dir():
        raise OptionError(f"-o {output}: the folder {output.parent} does not exist.")
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise OptionError(f"-o {output} is a folder, or in one that cannot be written to.")
    _refuse_same(output, "-o", *inputs)


def _refuse_same(output: Path, flag: str, *inputs: str | None) -> None:
    """Refuse to write over what is read."""
    for name in inputs:
        if name is not None and output.exists() and Path(name).exists() and output.samefile(name):
            raise OptionError(f"{flag} {output} is the input itself. Choose another name.")


def _class_count(dataset: Dataset, task: str) -> int:
    import numpy as np

    return len(np.unique(np.asarray(dataset.y, dtype=str))) if task == "classification" else 1


def _sizes(text: str) -> tuple[int, int, int]:
    """n, p and classes of ``--simulate``."""
    found = {"p": 784, "classes": 10}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name.strip() not in ("n", "p", "classes") or not (
            value.strip().isascii() and value.strip().isdecimal()
        ):
            raise OptionError(
                f"--simulate {text}: expected something like n=60000,p=784,classes=10."
            )
        found[name.strip()] = int(value)
    if "n" not in found or min(found.values()) < 1 or max(found.values()) > 10**9:
        raise OptionError(f"--simulate {text}: expected sizes from 1 to 10^9, n among them.")
    return found["n"], found["p"], found["classes"]


@app.command()
@_guarded
def paper(
    name: Annotated[
        str | None, typer.Argument(help="A figure or table: see --list.", show_default=False)
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            help="desk: hours on two cores, networks and their data made small; paper: everything "
            "as in the paper, for machines with accelerators.",
        ),
    ] = "desk",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for results [results/paper]."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them, and a page of all.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Print the names and stop.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(help="The page [reproduction.md in the output; else in docs]."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with fashion-mnist, cifar10, cscores ... [CGSCORE_DATA].",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(help="Folder for finished parts, from which a run goes on [the cache]."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Trainings side by side [one per core].")
    ] = None,
    device: Annotated[str, typer.Option(help="Of torch: cpu, cuda, ...")] = "cpu",
    as_json: JsonOption = False,
) -> None:
    """Make a figure or table of the paper: numbers as JSON, PNG and SVG, Markdown."""
    from cgscore_paper.items import ITEMS, do, do_all, module
    from cgscore_paper.plans import Plan

    if listed:
        for one in ITEMS:
            print(one)
        return
    plan = Plan.named(preset, seed)
    if (name is None) == (not every):
        raise OptionError("Give one name or --all. The names: cgscore paper --list")
    if name is not None:
        module(name)
    folder = output or Path("results/paper")
    work = _paper_work(data, cells, folder, jobs, device)
    console = output_console()

    def told(done: Any) -> None:
        if not as_json:
            console.print(f"{done.name:<12}{done.seconds:8,.0f} s  {one_line(done.title)}")

    with _warnings_aside():
        if every:
            target = page or (Path("docs") if output is None else output) / "reproduction.md"
            found = do_all(work, plan, folder, target, told=told)
        else:
            found = [do(str(name), work, plan, folder)]
            told(found[0])
    if as_json:
        print_json({"output": str(folder), "items": {one.name: one.seconds for one in found}})
        return
    console.print(f"Written:  {one_line(str(folder))}", soft_wrap=True)
    if every:
        console.print(f"          {one_line(str(target))}", soft_wrap=True)


def _paper_work(
    data: Path | None, cells: Path | None, output: Path, jobs: int | None, device: str
) -> Any:
    """Where the experiments of the paper find their data and keep what is done."""
    from cgscore.execution.files import cache_folder
    from cgscore.execution.progress import reporter
    from cgscore_paper.cells import Work

    named = data or (Path(os.environ["CGSCORE_DATA"]) if "CGSCORE_DATA" in os.environ else None)
    if named is None:
        raise OptionError(
            "Where are the datasets? Say --data FOLDER, or set CGSCORE_DATA: a folder with "
            "fashion-mnist, cifar10 and cscores in it."
        )
    if not named.is_dir():
        raise OptionError(f"--data {named}: there is no such folder.")
    cache = cache_folder()
    place = cells or (output / "cells" if cache is None else cache / "paper")
    return Work(
        place, named, device=device, jobs=jobs or os.cpu_count() or 1, progress=reporter(None)
    )
