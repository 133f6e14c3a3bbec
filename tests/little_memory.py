"""Scripts that read hostile files with little memory, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def answers_of(script: ModuleType, folder: Path) -> dict[str, dict[str, Any]]:
    """What came of each file that a script of hostile files writes to a folder and reads."""
    if sys.platform != "linux":
        pytest.skip("pipes, devices and limits of Linux")
    done = subprocess.run(
        [sys.executable, str(script.__file__), str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found
