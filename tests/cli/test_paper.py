"""``cgscore paper`` where the extra ``paper`` is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "package", ["torch", pytest.param("matplotlib", marks=pytest.mark.needs("torch"))]
)
def test_a_missing_package_is_one_message(tmp_path: Path, package: str) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['cgscore', 'paper', 'figure-1'];"
        "from cgscore.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"error: The figures and tables of the paper need {package}, which is not installed. "
        'Run: pip install "cgscore[paper]"\n'
    )
    assert done.stdout == ""
