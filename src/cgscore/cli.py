"""The command line: parse, call, print.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 2 a
mistake in the input or the call, 1 a fault of ours, 130 interrupted.
"""

from __future__ import annotations

import functools
import io
import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from cgscore import __version__
from cgscore.errors import CGScoreError, CGScoreWarning, OptionError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.data.inspection import Inspection
    from cgscore.result import Scores

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

WORST = 10  # suspects shown
WIDTH = 40  # characters of an id or label shown

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A file (.csv, .tsv, .parquet, .feather, .npz, .npy, IDX), a folder (of class folders "
        "of images, IDX files, CIFAR batches, a saved Hugging Face dataset), or sklearn:digits."
    ),
]
LabelsOption = Annotated[
    str | None,
    typer.Option("--labels", help="File with the labels: .npy, or text with one label a line."),
]
LabelColumnOption = Annotated[
    str | None,
    typer.Option("--label-column", help="Column of a table with the labels [label or target]."),
]
ImageColumnOption = Annotated[
    str | None,
    typer.Option("--image-column", help="Column of a table with encoded images."),
]
SplitOption = Annotated[
    str | None, typer.Option("--split", help="Part to read where there are several [train].")
]
ResizeOption = Annotated[
    str | None, typer.Option("--resize", help="Bring images to one size: 32 or 64x48.")
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="Leave unreadable images out and go on.")
]
IdColumnOption = Annotated[
    str | None, typer.Option("--id-column", help="Column of a table that names the rows [id].")
]
PreprocessOption = Annotated[
    str,
    typer.Option(
        "--preprocess",
        help="auto, none, or table: standardise, encode text one-hot, add a constant column.",
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
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]


def main() -> None:
    """Run the command line."""
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
            _stop_printing()
            raise typer.Exit(0) from None
        except CGScoreError as error:
            _complain(f"error: {error}")
            raise typer.Exit(2) from None
        except MemoryError as error:
            _complain(f"error: out of memory ({error}). Score fewer examples.")
            raise typer.Exit(2) from None
        except OSError as error:
            _complain(f"error: cannot write: {error.strerror or error}.")
            _stop_printing()
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            _complain("interrupted; nothing was written.")
            raise typer.Exit(130) from None

    return run


def _stop_printing() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    print("".join(_printable(mark) for mark in text), file=sys.stderr)


def _printable(mark: str) -> str:
    """Characters that could steer a terminal are shown as escapes."""
    return mark if mark.isprintable() or mark == "\n" else mark.encode("unicode_escape").decode()


def shown(value: Any) -> str:
    """An id or label for a terminal: on one line, of bounded width, with nothing hidden in it."""
    text = _one_line(str(value))
    return text if len(text) <= WIDTH else f"{text[: WIDTH // 2]}…{text[1 - WIDTH // 2 :]}"


@contextmanager
def _resumable(checkpoint: Path | None) -> Iterator[None]:
    """Say how to go on when the work inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None:
            _complain("With --checkpoint FOLDER an interrupted run can go on where it was.")
        else:
            _complain(
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


def _console() -> Console:
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Go on without printing: the result is still to be written."""
            _stop_printing()

    # piped output has no width to fit into
    width = None if sys.stdout.isatty() else 200
    return Output(highlight=False, markup=False, emoji=False, width=width)


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(_plain(document), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """A value as JSON knows it; infinite and missing numbers become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


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
def score(
    source: SourceArgument,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Where to write: .parquet (whole result) or .csv."),
    ] = Path("scores.parquet"),
    labels: LabelsOption = None,
    label_column: LabelColumnOption = None,
    image_column: ImageColumnOption = None,
    id_column: IdColumnOption = None,
    split: SplitOption = None,
    resize: ResizeOption = None,
    skip_bad: SkipBadOption = False,
    preprocess: PreprocessOption = "auto",
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
    as_json: JsonOption = False,
) -> None:
    """Score every example and write the result."""
    import cgscore
    from cgscore.api import check_numbers, check_options

    _refuse_output(output, source, labels)
    strength = _ridge(ridge)
    check_options(method=method, ridge=strength, task=task, dtype=dtype, duplicates=duplicates)
    check_numbers(ratio=ratio, runs=runs, seed=seed)
    _refuse_clusters(cluster, scheduler_file, workers)
    dataset = cgscore.read(
        source,
        labels=labels,
        label_column=label_column,
        image_column=image_column,
        id_column=id_column,
        split=split,
        resize=resize,
        skip_bad=skip_bad,
        preprocess=preprocess,
    )
    console = _console()
    if not as_json:
        _print_source(console, dataset, task)
        _print_costs(console, *dataset.shape, _class_count(dataset, task))
    if checkpoint is not None:
        _complain(
            f"checkpoint {checkpoint}: if this run is interrupted, the same command goes on from "
            "there."
        )
    with (
        _warnings_aside(),
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
        scores.to_csv(output)
    else:
        scores.save(output)
    for note in scores.meta["warnings"]:
        _complain(f"warning: {note}")
    if as_json:
        _print_json({"output": str(output), "complexity": scores.complexity, **scores.meta})
        return
    console.print(f"scores    {len(scores):,} rows in {_one_line(str(output))}", soft_wrap=True)
    _print_audit(console, scores)
    if checkpoint is not None:
        console.print(
            f"kept      {_one_line(str(checkpoint))} serves {_use_of(scores.meta['method'])}; "
            "remove it if there will be none",
            soft_wrap=True,
        )
    console.print()
    _print_findings(console, scores)


def _ridge(text: str) -> float | str:
    """A number, or what was given."""
    try:
        return float(text)
    except ValueError:
        return text


@app.command()
@_guarded
def issues(
    source: Annotated[
        str, typer.Argument(help="A result of `cgscore score`, or a source as for score.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write all verdicts: .csv or .parquet.")
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
    labels: LabelsOption = None,
    label_column: LabelColumnOption = None,
    image_column: ImageColumnOption = None,
    id_column: IdColumnOption = None,
    split: SplitOption = None,
    resize: ResizeOption = None,
    skip_bad: SkipBadOption = False,
    preprocess: PreprocessOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Say which labels are probably wrong, worst first."""
    import cgscore

    if output is not None:
        _refuse_output(output, source, labels, data)
    options = {
        "labels": labels,
        "label_column": label_column,
        "image_column": image_column,
        "id_column": id_column,
        "split": split,
        "resize": resize,
        "skip_bad": skip_bad,
        "preprocess": preprocess,
    }
    with _warnings_aside():
        if _is_result(source):
            scores = cgscore.load(source)
        else:
            scores = cgscore.score(cgscore.read(source, **options), ridge="auto")  # type: ignore[arg-type]
    found = scores.label_issues(by=by, expected_noise=expected_noise, precision=precision)
    if output is not None:
        _write_table(found.reset_index(), output)
    suspects = _worst_first(found)
    told, note = _why(scores, suspects.head(count), data) if why else (None, None)
    if as_json:
        _print_json(
            {
                "output": None if output is None else str(output),
                "suspects": len(suspects),
                **{str(key): value for key, value in found.attrs.items()},
                "ridge": scores.meta["ridge"],
                "worst": suspects.head(count).reset_index().to_dict("records"),
                "why": None if told is None else told.to_dict("records"),
                "note": note,
            }
        )
        return
    _print_issues(_console(), scores, found, suspects.head(count), told)
    if note is not None:
        _complain(f"note: {note}")
    if output is not None:
        print(f"Written:  {_one_line(str(output))}, {len(found):,} rows")


def _worst_first(found: pd.DataFrame) -> pd.DataFrame:
    """Flagged rows by label score, with their positions; ids may repeat."""
    placed: pd.DataFrame = found.assign(position=range(len(found)))
    marked: pd.DataFrame = placed[placed["is_label_issue"]]
    return marked.sort_values("label_score", kind="stable")


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


def _write_table(table: pd.DataFrame, output: Path) -> None:
    from cgscore.result import replace_file

    table.attrs = {}
    if output.suffix.lower() == ".csv":
        replace_file(output, lambda file: table.to_csv(file, index=False))
    else:
        replace_file(output, lambda file: table.to_parquet(file, index=False))


def _why(
    scores: Scores, suspects: pd.DataFrame, data: str | None
) -> tuple[pd.DataFrame | None, str | None]:
    """Neighbours of suspects, or why there are none."""
    import numpy as np

    from cgscore.execution.progress import reporter
    from cgscore.why import neighbours

    try:
        dataset = scores.data(data)
    except CGScoreError as error:
        if data is not None:
            raise
        return None, f"neighbours are left out: {error} Say where the data are: --source"
    suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
    told = neighbours(
        dataset,
        scores.own(),
        suspects["position"].tolist(),
        suggested.tolist(),
        ridge=scores.meta["ridge"],
        progress=reporter(None),
    )
    return told, None


def _print_issues(
    console: Console,
    scores: Scores,
    found: pd.DataFrame,
    suspects: pd.DataFrame,
    told: pd.DataFrame | None = None,
) -> None:
    """The verdict in words, then suspects as a table."""
    attrs = found.attrs
    low, high = attrs["interval"]
    marked = int(found["is_label_issue"].sum())
    console.print(
        f"About {attrs['estimated_wrong']:,.0f} of {len(found):,} labels look wrong (95 %: "
        f"{low:,.0f} to {high:,.0f}); {marked:,} are flagged (by {attrs['by']}, ridge "
        f"{scores.meta['ridge']:.3g})."
    )
    kinds = found["kind"].value_counts()
    others = [f"{n:,} {kind}" for kind, n in kinds.items() if kind not in ("", "wrong label")]
    if others:
        console.print(f"Also: {', '.join(others)}.")
    if attrs["hint"]:
        console.print(attrs["hint"], soft_wrap=True)
    if len(suspects):
        console.print("The worst:")
        _print_suspects(console, scores, suspects, told)


def _print_suspects(
    console: Console, scores: Scores, suspects: pd.DataFrame, told: pd.DataFrame | None = None
) -> None:
    """A table of suspects; with the true label if that is known, with neighbours if told."""
    from rich.table import Table

    names = scores.meta["class_names"]
    called = dict(zip(scores.classes.tolist(), names or scores.classes.tolist(), strict=True))
    columns = {
        "given_label": "given",
        "predicted_label": "suggested",
        "true_label": "true",
        "confidence": "sure",
        "runner_up": "runner-up",
        "cg": "CG",
    }
    wanted = [name for name in columns if name in suspects.columns]
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column("id", no_wrap=True)
    for name in wanted:
        right = name in ("confidence", "cg")
        drawn.add_column(columns[name], justify="right" if right else "left", no_wrap=True)
    if told is not None:
        drawn.add_column("like the given / like the suggested (share)", no_wrap=True)
    for label, row in suspects.iterrows():
        cells = [shown(label)]
        for name in wanted:
            if name in ("confidence", "cg"):
                cells.append(f"{row[name]:.0%}" if name == "confidence" else f"{row[name]:.2f}")
            else:
                cells.append(shown(called.get(row[name], row[name])))
        if told is not None:
            mine = told[told["position"] == row["position"]]
            sides = [
                ", ".join(
                    f"{shown(near)} ({share:.1%})"
                    for near, share in zip(part["neighbour"], part["share"], strict=True)
                )
                for part in (mine[mine["side"] == side] for side in ("given", "suggested"))
            ]
            cells.append(" / ".join(sides))
        drawn.add_row(*cells)
    console.print(drawn)


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
            console.print(f"cluster   {_one_line(text)}")
        yield client


@app.command()
@_guarded
def info(
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
    labels: LabelsOption = None,
    label_column: LabelColumnOption = None,
    image_column: ImageColumnOption = None,
    id_column: IdColumnOption = None,
    split: SplitOption = None,
    resize: ResizeOption = None,
    skip_bad: SkipBadOption = False,
    preprocess: PreprocessOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Say what the data are and what scoring them would cost here."""
    import cgscore
    from cgscore.api import check_numbers
    from cgscore.data.inspection import inspect
    from cgscore.execution.machine import available_memory, cores, parse_bytes, product_rate
    from cgscore.solvers.choice import costs

    check_numbers(ratio=ratio, runs=runs, seed=0)
    if (source is None) == (simulate is None):
        raise OptionError("Give a source, or --simulate n=...,p=...,classes=..., not both.")
    document: dict[str, Any] = {}
    console = _console()
    if source is not None:
        dataset = cgscore.read(
            source,
            labels=labels,
            label_column=label_column,
            image_column=image_column,
            id_column=id_column,
            split=split,
            resize=resize,
            skip_bad=skip_bad,
            preprocess=preprocess,
        )
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
            _print_inspection(console, dataset, found)
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
        _print_json(document)
        return
    _print_methods(console, document, workers)


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
    from cgscore import demo as job

    console = _console()
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
    path = output / "scores.parquet"
    done.scores.save(path)
    if as_json:
        _print_json(
            {
                "output": str(path),
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
    _print_suspects(console, done.scores, done.suspects.head(WORST))
    console.print()
    console.print(f"Written:  {_one_line(str(path))}", soft_wrap=True)
    console.print("Next:     cgscore issues YOUR-DATA.csv --label-column NAME")


def _refuse_output(output: Path, *inputs: str | None) -> None:
    """Refuse a place that cannot be written to, before the work that would be lost."""
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise OptionError(f"-o {output}: expected a name that ends in .parquet or .csv.")
    if not output.parent.is_dir():
        raise OptionError(f"-o {output}: the folder {output.parent} does not exist.")
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise OptionError(f"-o {output} is a folder, or in one that cannot be written to.")
    for name in inputs:
        if name is not None and output.exists() and Path(name).exists() and output.samefile(name):
            raise OptionError(f"-o {output} is the input itself. Choose another name.")


def _print_source(console: Console, dataset: Dataset, task: str) -> None:
    import numpy as np

    n, p = dataset.shape
    what = f"examples with {p:,} numbers each"
    if dataset.image:
        height, width, *depth = dataset.X.shape[1:]
        what = f"images of {width} x {height} pixels, {'colour' if depth else 'grey'},"
    text = f"{_one_line(dataset.source)}   {n:,} {what}"
    if task == "classification" and dataset.y is not None:
        labels, counts = np.unique(dataset.y, return_counts=True)
        least = int(np.argmin(counts))
        name = (dataset.class_names or {}).get(labels.tolist()[least], labels[least])
        text += f" in {len(labels):,} classes (smallest: {shown(name)}, {counts[least]:,})"
    console.print(text, soft_wrap=True)
    if dataset.preprocessing != "none":
        console.print(f"columns   {dataset.preprocessing}", soft_wrap=True)
    for note in dataset.notes:
        console.print(f"note      {_one_line(note)}", soft_wrap=True)


def _print_inspection(console: Console, dataset: Dataset, found: Inspection) -> None:
    _print_source(console, dataset, "classification")
    if found.classes:
        names = dataset.class_names or {}
        ordered = sorted(found.classes.items(), key=lambda one: -one[1])
        parts = [f"{shown(names.get(label, label))} {count:,}" for label, count in ordered[:20]]
        more = f", and {len(ordered) - 20:,} more" if len(ordered) > 20 else ""
        console.print(f"classes   {', '.join(parts)}{more}", soft_wrap=True)
    if found.copies:
        console.print(
            f"repeats   {found.copies:,} rows are identical to earlier ones, "
            f"{found.conflicts:,} of them with another label"
        )
    for suspicion in found.suspicions:
        console.print(f"check     {_one_line(suspicion)}", soft_wrap=True)


def _one_line(text: str) -> str:
    return "".join(_printable(mark) for mark in text.replace("\n", "\\n"))


def _class_count(dataset: Dataset, task: str) -> int:
    import numpy as np

    return len(np.unique(np.asarray(dataset.y, dtype=str))) if task == "classification" else 1


def _print_costs(console: Console, n: int, p: int, k: int) -> None:
    """What each method would take; one line if a glance is enough."""
    from cgscore.execution.machine import (
        available_memory,
        product_rate,
        show_bytes,
        show_seconds,
    )
    from cgscore.solvers.choice import SMALL, costs

    memory, rate = available_memory(), product_rate()
    title = "method"
    found = costs(n, p, k)
    large = all(found[name].bytes > memory for name in ("exact", "iterative"))
    for name, cost in found.items():
        if name == "subsample" or (name == "partition" and not large):
            continue  # those whom they serve ask for them
        text = f"{name}: about {show_seconds(cost.seconds(rate))} and {show_bytes(cost.bytes)}"
        if cost.bytes > memory:
            text += f", more than the {show_bytes(memory)} available here"
            if cost.least <= memory and cost.disk:
                text += f": works from disk ({show_bytes(cost.disk)})"
            elif cost.least <= memory:
                text += ": works, but forms the kernel matrix for every product"
        console.print(f"{title:<9} {text}", soft_wrap=True)
        title = ""
        if n <= SMALL:
            break


def _print_methods(console: Console, document: dict[str, Any], workers: int | None) -> None:
    """A table of what each method takes, here or on a cluster."""
    from rich.table import Table

    from cgscore.execution.machine import cores, show_bytes, show_seconds

    rate = document["flops_per_second"]
    where = f"on {workers:,} workers" if workers else "here"
    console.print(
        f"speed     {rate / 1e9:.0f} GFLOP/s in matrix products on {cores()} cores, measured now"
    )
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    memory = "each worker" if workers else "memory"
    for name in ("method", "tasks", "flops", memory, *(["moved"] if workers else []), where):
        drawn.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    drawn.add_column("")
    for name, cost in document["methods"].items():
        cells = [name, f"{cost['tasks']:,}", f"{cost['flops']:.2g}"]
        note = ""
        if workers:
            cells += [show_bytes(cost["worker_bytes"]), show_bytes(cost["bytes_moved"])]
            note = "" if cost["fits_worker"] else "does not fit"
            if name == "exact":
                cells[-1], note = "-", "; ".join(filter(None, ["on one machine", note]))
        else:
            cells.append(show_bytes(cost["bytes"]))
            if not cost["fits"]:
                note = "does not fit"
                if cost["least_bytes"] <= document["available_memory"] and cost["disk"]:
                    note = f"from disk: {show_bytes(cost['disk'])}"
        drawn.add_row(*cells, show_seconds(cost["seconds"]), note)
    console.print(drawn)


def _print_audit(console: Console, scores: Scores) -> None:
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


def _print_findings(console: Console, scores: Scores) -> None:
    for line in repr(scores).splitlines()[1:]:
        if not line.startswith("  audit"):  # shown in full before
            console.print(line.strip())
    if not len(scores.classes):
        return
    if not scores.table["margin"].notna().any():  # too few runs: the warnings say so
        return
    found = scores.label_issues()
    _print_issues(console, scores, found, _worst_first(found).head(WORST))


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
