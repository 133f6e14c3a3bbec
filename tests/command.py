"""The command line inside the tests' own process: a second less for every call."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from cgscore.cli import app


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def invoke(*arguments: str, folder: Path) -> Done:
    """Run `cgscore` in a folder."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, list(arguments))
    finally:
        os.chdir(here)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)
