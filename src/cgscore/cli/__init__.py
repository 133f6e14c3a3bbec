"""The command line: parse the flags, call the library, print.

Each command is a module of this package that defines a function of the same name (``import_`` for
``import``, which is a word of Python's own); the shared modules are:

==================  ============================================================================
`options`           arguments and flags that several commands share
`read_flags`        the flags that say how a source is read
`exit_status`       errors as one message and an exit status
`output_files`      checking, before any work, that outputs can be written; writing tables
`console`           standard output and error, text that is safe to print, JSON
`dataset_summary`   what is printed of a dataset
`costs`             what is printed of the cost of each method
`suspects`          what is printed of suspected label errors
`reasons`           what is printed of why a label is suspected
`verbosity`         how much is printed besides the result
`resume`            what is printed where work with a checkpoint is interrupted
==================  ============================================================================

Results go to standard output, progress and warnings to standard error.
"""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import Annotated

import typer

from cgscore import __version__
from cgscore.cli.console import prepare_streams
from cgscore.cli.exit_status import with_exit_status
from cgscore.cli.verbosity import with_verbosity

__all__ = ["app", "main"]

#: Every command, in the order of ``cgscore --help``. A new one is a module and a line here.
COMMANDS = (
    "score",
    "issues",
    "prune",
    "next",
    "report",
    "review",
    "export",
    "import",
    "features",
    "info",
    "demo",
    "paper",
)

app = typer.Typer(
    name="cgscore",
    help="Find wrong labels and hard examples in a labelled dataset, without training a model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _name in COMMANDS:
    _python = f"{_name}_" if iskeyword(_name) else _name
    _function = getattr(import_module(f"{__name__}.{_python}"), _python)
    app.command(_name)(with_exit_status(with_verbosity(_function)))


def _print_version(requested: bool) -> None:
    if requested:
        print(f"cgscore {__version__}")
        raise typer.Exit()


@app.callback()
def _options_before_the_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    prepare_streams()
    app(prog_name="cgscore")
