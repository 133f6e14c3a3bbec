"""How commands end: exit status and one message, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import cgscore
from tests.cli.data import write_table
from tests.command import invoke


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "none.csv"], "error: none.csv does not exist."),
        (["score", "t.csv", "--label-column", "kind"], "has no column 'kind'"),
        (["score", "t.csv", "--method", "magic"], "method must be one of: auto, exact"),
        (["score", "t.csv", "--ridge", "-1"], "ridge must be 0 or larger, or 'auto'; got -1.0"),
        (["score", "t.csv", "--ridge", "much"], "or 'auto'; got 'much'"),
        (["score", "t.csv", "--memory-limit", "1kB"], "1 kB is the limit"),
        (["score", "t.csv", "-o", "out.txt"], "ends in .parquet or .csv"),
        (["score", "t.csv", "-o", "no/out.csv"], "folder no does not exist"),
        (["score", "t.csv", "-o", "t.csv"], "is the input itself"),
        (["score", "t.csv", "-o", "folder.csv"], "is a folder; expected the name of a file"),
        (["score", "t.csv", "--image-column", "x"], "--image-column x is not used"),
        (["score", "t.csv", "--dtype", "float8"], "one of: float64, float32; got 'float8'"),
        (["demo", "--seed", "-1"], "seed"),
        (["info", "--simulate", "n=²"], "expected something like"),
        (["info", "--simulate", "n=1000000000000"], "from 1 to 10^9"),
        (["score"], "Missing argument"),
        (["info"], "Give a source"),
        (["info", "--simulate", "p=3"], "n is missing"),
        (["info", "--simulate", "rows=3"], "expected something like"),
        (["dance"], "dance"),
    ],
)
def test_mistakes_exit_with_2_and_no_traceback(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    write_table(tmp_path / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    done = invoke(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == "" or "t.csv" in done.stdout
    assert not (tmp_path / "scores.parquet").exists()


def interrupted(folder: Path, n: int, *flags: str) -> str:
    """What ``cgscore score`` says when Ctrl-C is pressed while it works."""
    rng = np.random.default_rng(0)
    np.savez(folder / "d.npz", X=rng.random((n, 20)), y=np.arange(n) % 2)
    process = subprocess.Popen(
        [sys.executable, "-m", "cgscore", "score", "d.npz", *flags],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that starts us in the background has Ctrl-C ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    while "method" not in process.stdout.readline():  # printed before the long work begins
        assert process.poll() is None
    if "--checkpoint" in flags:
        while not list(folder.glob("*/panel-*.tiles")):
            assert process.poll() is None
            time.sleep(0.01)
    else:
        time.sleep(0.7)  # of a run that takes half a minute
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert not (folder / "scores.parquet").exists()
    return errors


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupting_exits_with_130(tmp_path: Path) -> None:
    errors = interrupted(tmp_path, 12_000, "--method", "exact")
    assert errors.endswith("interrupted: the command did not finish.\n")
    assert "With --checkpoint FOLDER an interrupted run can be resumed" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_run_says_how_to_resume(tmp_path: Path) -> None:
    # some twenty panels, so that the first is not the last
    narrow = ("--no-judge", "--memory-limit", "9MB")
    errors = interrupted(tmp_path, 3000, *narrow, "--checkpoint", "half done")
    assert (
        "if this run is interrupted, run the same command again: it resumes from half done"
        in errors
    )
    assert (
        "  cgscore score d.npz --no-judge --memory-limit 9MB --checkpoint 'half done'\n" in errors
    )
    assert list((tmp_path / "half done").glob("panel-*.tiles"))
    done = invoke("score", "d.npz", *narrow, "--checkpoint", "half done", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "half done can be used again for other labels of the same inputs" in done.stdout
    whole = invoke("score", "d.npz", *narrow, "-o", "whole.parquet", folder=tmp_path)
    assert whole.returncode == 0, whole.stderr
    a, b = cgscore.load(tmp_path / "scores.parquet"), cgscore.load(tmp_path / "whole.parquet")
    assert np.array_equal(a.d, b.d)
    assert np.array_equal(a.loo, b.loo)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_standard_output_is_one_message(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cgscore", "info", "t.csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write: No space left on device.\n"
