"""The flags of commands that read a source, each with its help.

Values are checked where `cgscore.read` makes `cgscore.data.readers.options.ReadOptions` of them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import Field, asdict, dataclass, fields, replace
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from cgscore.cli.console import quiet_warnings

T = TypeVar("T")


@dataclass(frozen=True)
class ReadFlags:
    """Keywords of `cgscore.read`; every field is a flag of the commands that read a source."""

    labels: Annotated[
        str | None,
        typer.Option(help="File with the labels: .npy, or text with one label per line."),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(help="Column of a table with the labels [default: label or target]."),
    ] = None
    image_column: Annotated[
        str | None, typer.Option(help="Column of a table with encoded images.")
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option(help="Column of a table with the texts [default: detected]."),
    ] = None
    id_column: Annotated[
        str | None, typer.Option(help="Column of a table that names the rows [default: id].")
    ] = None
    max_columns: Annotated[
        int | None,
        typer.Option(min=1, help="Largest number of columns of a table [default: 50,000]."),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column of a table to leave out; may be given several times."),
    ] = None
    source_column: Annotated[
        str | None,
        typer.Option(
            help="Column of a table that says who provided the label; not used as an input."
        ),
    ] = None
    group_column: Annotated[
        str | None,
        typer.Option(help="Column of a table that names the group or batch; not used as an input."),
    ] = None
    annotator_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns with the labels of one annotator each, separated by commas or given "
            "several times; or the one column that says who gave the label of a row.",
        ),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(help="Split to read, if the source has several [default: train]."),
    ] = None
    resize: Annotated[
        str | None, typer.Option(help="Resize all images to one size, such as 32 or 64x48.")
    ] = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip images that cannot be read.")
    ] = False
    preprocess: Annotated[
        str,
        typer.Option(
            help="auto, none, or table (standardise numbers, encode text columns one-hot, add a "
            "constant column).",
        ),
    ] = "auto"
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Compute features: efficientnet-lite0 for images, minilm or tfidf for texts, "
            "auto, transformers:NAME-OR-FOLDER, MODULE:FUNCTION, or a .npz file of features; "
            "pixels takes images as they are [default: photographs and texts are encoded].",
        ),
    ] = None
    scaling: Annotated[
        str, typer.Option(help="Scaling of the features: none, centre, standardise or whiten.")
    ] = "none"

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of `cgscore.read`."""
        return asdict(self)

    def changed_flags(self) -> list[str]:
        """Flags whose values are not the defaults."""
        return [
            f"--{field.name.replace('_', '-')}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]


@functools.cache
def _annotated_fields() -> list[tuple[Field[Any], Any]]:
    """The fields of `ReadFlags`, each with its type and flag; evaluated once."""
    annotations = get_type_hints(ReadFlags, include_extras=True)
    return [(field, annotations[field.name]) for field in fields(ReadFlags)]


def with_read_flags(command: Callable[..., T]) -> Callable[..., T]:
    """A command with a flag for every field of `ReadFlags` in place of its argument `read`.

    Warnings are silenced: what they say is in the notes of the dataset and the metadata of the
    result, which commands print.
    """
    signature = inspect.signature(command, eval_str=True)
    command_parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name != "read"
    ]
    flags = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=annotation,
        )
        for field, annotation in _annotated_fields()
    ]

    @functools.wraps(command)
    def run(**arguments: Any) -> T:
        read = ReadFlags(**{flag.name: arguments.pop(flag.name) for flag in flags})
        annotators = [name for text in read.annotator_columns or () for name in text.split(",")]
        # typer gives an empty list for none
        read = replace(read, drop=read.drop or None, annotator_columns=annotators or None)
        allow_module_here(read.encoder)
        with quiet_warnings():
            return command(**arguments, read=read)

    parameters = [*command_parameters, *flags]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def allow_module_here(encoder: str | None) -> None:
    """Let the module of ``--encoder MODULE:FUNCTION`` be imported from the working directory.

    The directory comes last in `sys.path`: a file in it must not replace an installed package.
    """
    if encoder is None:
        return
    from cgscore.data.encoders.registry import is_own

    if is_own(encoder):
        with contextlib.suppress(OSError):  # the working directory was removed
            sys.path.append(os.getcwd())
