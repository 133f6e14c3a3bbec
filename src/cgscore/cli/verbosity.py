"""``--quiet`` and ``--verbose``: how much a command prints besides its result."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Annotated, Any, TypeVar

import typer

from cgscore.cli.console import print_error
from cgscore.errors import OptionError

T = TypeVar("T")

QUIET, NORMAL, VERBOSE = -1, 0, 1
_level: ContextVar[int] = ContextVar("verbosity", default=NORMAL)

QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Leave out progress, notes and warnings; errors stay."),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also print how the result was computed, with timings."),
]


def with_verbosity(command: Callable[..., T]) -> Callable[..., T]:
    """A command with the flags ``--quiet`` and ``--verbose``."""
    signature = inspect.signature(command, eval_str=True)
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option)
        for name, option in (("quiet", QuietOption), ("verbose", VerboseOption))
    ]

    @functools.wraps(command)
    def run(*arguments: Any, quiet: bool = False, verbose: bool = False, **keywords: Any) -> T:
        if quiet and verbose:
            raise OptionError("Give --quiet or --verbose, not both.")
        token = _level.set(QUIET if quiet else VERBOSE if verbose else NORMAL)
        try:
            return command(*arguments, **keywords)
        finally:
            _level.reset(token)

    parameters = [*signature.parameters.values(), *flags]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def show_progress() -> bool | None:
    """The value of ``progress=`` for the library: False if the command is quiet."""
    return False if _level.get() == QUIET else None


def print_note(text: str) -> None:
    """Print a note to standard error, unless the command is quiet."""
    if _level.get() > QUIET:
        print_error(f"note: {text}")


def print_warning(text: str) -> None:
    """Print a warning to standard error, unless the command is quiet."""
    if _level.get() > QUIET:
        print_error(f"warning: {text}")


def print_details(meta: Mapping[str, Any]) -> None:
    """Print how a result came about to standard error, if the command is verbose."""
    if _level.get() < VERBOSE:
        return
    from cgscore.execution.machine import show_bytes

    judge = meta.get("judge")
    lines = {
        "version": f"cgscore {meta['version']}",
        "source": meta["source"],
        "fingerprint": meta["fingerprint"],
        "task": meta["task"] + _because(meta.get("task_reason")),
        "inputs": meta.get("preprocessing"),
        "method": meta["method"] + _because((meta.get("choice") or {}).get("why")),
        "ridge": f"{meta['ridge']:.4g}",
        "judged by": judge and f"{judge['method']}, ridge {judge['ridge']:.4g}",
        "timings": ", ".join(f"{name} {value:.2f} s" for name, value in meta["timings"].items()),
        "memory": meta.get("peak_memory") and f"{show_bytes(meta['peak_memory'])} at most",
    }
    for name, value in lines.items():
        if value:
            print_error(f"{name}: {value}")


def _because(reason: str | None) -> str:
    return "" if reason is None else f" ({reason})"
