"""The list of commands, as `cgscore` prints it in a narrow terminal."""

from __future__ import annotations

from pathlib import Path

from cgscore.cli import COMMANDS
from tests.command import invoke


def test_no_description_is_cut_off(tmp_path: Path) -> None:
    done = invoke("--help", folder=tmp_path)
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.split()}
    for command in COMMANDS:
        assert len(lines[command]) <= 80
        assert lines[command].endswith(".")
        assert not lines[command].endswith("..")
