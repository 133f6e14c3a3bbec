"""How a command ends: one message for an error that was expected, and an exit status.

======  ======================================================================
status  meaning
======  ======================================================================
0       done; also if whoever reads standard output has stopped reading
1       a fault of this package, with a traceback
2       a mistake in the input or the call
130     interrupted
======  ======================================================================
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from cgscore.cli.console import discard_output, is_broken_pipe, print_error
from cgscore.errors import CGScoreError
from cgscore.spelling import messages_for

P = ParamSpec("P")
T = TypeVar("T")

DONE = 0
MISTAKE = 2
INTERRUPTED = 130


def with_exit_status(command: Callable[P, T]) -> Callable[P, T]:
    """A command whose expected errors end in one message and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with messages_for("command line"):
                result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except CGScoreError as error:
            print_error(f"error: {error}")
            raise typer.Exit(MISTAKE) from None
        except MemoryError as error:
            print_error(f"error: out of memory ({error}). Score fewer examples.")
            raise typer.Exit(MISTAKE) from None
        except OSError as error:
            if is_broken_pipe(error):
                discard_output()
                raise typer.Exit(DONE) from None
            print_error(f"error: cannot write: {error.strerror or error}.")
            discard_output()
            raise typer.Exit(MISTAKE) from None
        except KeyboardInterrupt:
            print_error("interrupted: the command did not finish.")
            raise typer.Exit(INTERRUPTED) from None

    return run
