"""``--quiet`` and ``--verbose``."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore.cli import COMMANDS
from tests.cli.data import write_table
from tests.command import invoke


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_both_flags(command: str, tmp_path: Path) -> None:
    text = invoke(command, "--help", folder=tmp_path).stdout
    assert "--quiet" in text
    assert "--verbose" in text


def test_what_is_printed(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", name=[f"Person {i}" for i in range(60)])
    plain = invoke("issues", "t.csv", folder=tmp_path)
    assert "note: " in plain.stderr  # a column of names is left out
    quiet = invoke("issues", "t.csv", "--quiet", folder=tmp_path)
    assert (quiet.stdout, quiet.stderr) == (plain.stdout, "")
    verbose = invoke("score", "t.csv", "-v", folder=tmp_path)
    assert "timings: " in verbose.stderr
    assert "judged by: exact, ridge " in verbose.stderr
    loaded = invoke("issues", "scores.parquet", "--verbose", folder=tmp_path)
    assert "task: classification (the labels are whole numbers, 3 distinct" in loaded.stderr
    both = invoke("issues", "t.csv", "-q", "-v", folder=tmp_path)
    assert both.returncode == 2
    assert "Give --quiet or --verbose, not both." in both.stderr
    missing = invoke("issues", "no.csv", "-q", folder=tmp_path)
    assert (missing.returncode, missing.stderr[:6]) == (2, "error:")
