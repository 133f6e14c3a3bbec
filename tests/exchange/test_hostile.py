"""Files from strangers, as corrections: one clear message, little memory, nothing imported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.exchange import hostile_files


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each file, imported with little memory in a process of its own."""
    if sys.platform != "linux":
        pytest.skip("pipes, devices and limits of Linux")
    done = subprocess.run(
        [sys.executable, hostile_files.__file__, str(tmp_path_factory.mktemp("hostile"))],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", hostile_files.CASES)
def test_one_clear_message(name: str, answers: dict[str, dict[str, Any]]) -> None:
    answer, words = answers[name], hostile_files.CASES[name].words
    assert "traceback" not in answer, answer
    if words:
        assert re.search(words, answer["error"]), answer
        assert len(answer["error"]) < 3000
    else:
        assert "labels" in answer, answer
    assert answer["bytes"] < 500_000_000
