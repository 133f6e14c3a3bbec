"""``--cluster``, ``--scheduler-file`` and ``--workers``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import cgscore
from tests.command import invoke

if TYPE_CHECKING:
    from tests.cluster import Processes

pytestmark = [
    pytest.mark.needs("distributed"),
    pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning"),
]


def test_mistakes(tmp_path: Path) -> None:
    missing = invoke("score", "sklearn:digits", "--scheduler-file", "no.json", folder=tmp_path)
    assert missing.returncode == 2
    assert "no.json is not a scheduler file" in missing.stderr
    (tmp_path / "empty.json").write_text("{}")
    empty = invoke("score", "sklearn:digits", "--scheduler-file", "empty.json", folder=tmp_path)
    assert empty.returncode == 2
    assert "empty.json is not a scheduler file" in empty.stderr
    wrong = invoke("score", "sklearn:digits", "--cluster", "nowhere", folder=tmp_path)
    assert wrong.returncode == 2
    assert re.search(r"error: No Dask scheduler answers at nowhere", wrong.stderr)
    both = invoke("score", "x.csv", "--cluster", "tcp://a:1", "--workers", "2", folder=tmp_path)
    assert both.returncode == 2
    assert "Give one of --cluster" in both.stderr


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cgscore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def test_scores_of_a_cluster(processes: Processes, tmp_path: Path) -> None:
    processes.add()
    more = ("--method", "partition", "--runs", "1", "-o")
    here = invoke("score", "sklearn:digits", *more, "here.parquet", folder=tmp_path)
    assert here.returncode == 0, here.stderr
    file = ("--scheduler-file", str(processes.file))
    there = invoke("score", "sklearn:digits", *more, "there.parquet", *file, folder=tmp_path)
    assert there.returncode == 0, there.stderr
    assert "1 workers at tcp://127.0.0.1" in there.stdout
    started = run(
        "score", "sklearn:digits", *more, "new.parquet", "--workers", "2", folder=tmp_path
    )
    assert started.returncode == 0, started.stderr
    assert "2 workers at tcp://127.0.0.1" in started.stdout
    scores = [cgscore.load(tmp_path / f"{name}.parquet") for name in ("here", "there", "new")]
    for other in scores[1:]:
        pd.testing.assert_frame_equal(scores[0].table, other.table, check_exact=True)
        np.testing.assert_array_equal(scores[0].loo, other.loo)
