"""The real packages of other tools, in an environment of their own (`make .venv-tools/.ready`)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-tools" / "bin" / "python"


def run_with_tools(program: str, *arguments: object, **environment: str) -> str:
    """What a program prints there; without the environment a test is skipped, under CI it fails."""
    if not (ROOT / ".venv-tools" / ".ready").exists():
        reason = "no environment with the packages of other tools: make .venv-tools/.ready"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [PYTHON, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
