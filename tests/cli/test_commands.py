"""The commands as a whole: version, help and what loading them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cgscore
from cgscore.cli import COMMANDS
from tests.command import invoke


def test_version(tmp_path: Path) -> None:
    assert invoke("--version", folder=tmp_path).stdout == f"cgscore {cgscore.__version__}\n"


def test_help_lists_every_command_in_order(tmp_path: Path) -> None:
    lines = invoke("--help", folder=tmp_path).stdout.split("Commands:\n")[1].splitlines()
    assert tuple(line.split()[0] for line in lines) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(tmp_path: Path, command: str) -> None:
    text = invoke(command, "--help", folder=tmp_path).stdout
    assert f" {command} [OPTIONS]" in text.splitlines()[0]
    assert "--json" in text


def test_help_loads_no_heavy_package() -> None:
    program = "import cgscore.cli, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {"numpy", "pandas", "pyarrow", "sklearn", "torch"} & set(done.stdout.split())
