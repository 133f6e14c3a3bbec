"""Text that is safe to print, and streams that are closed, full or of another encoding."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cgscore
from cgscore.cli import console
from tests.cli.data import write_table
from tests.command import invoke


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    labels = np.array(["\x1b[31mred\n", "x" * 5000] * 6)
    np.savez(tmp_path / "d.npz", X=X, y=labels)
    done = invoke("score", "d.npz", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred\\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 200


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_leaves_does_not_cost_the_result(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv")
    command = f"{sys.executable} -m cgscore score t.csv -o out.parquet | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(cgscore.load(tmp_path / "out.parquet")) == 60


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(tmp_path: Path, closed: str) -> None:
    write_table(tmp_path / "t.csv")
    command = f"{sys.executable} -m cgscore score t.csv -o out.parquet {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(cgscore.load(tmp_path / "out.parquet")) == 60


def test_names_survive_a_terminal_without_unicode(tmp_path: Path) -> None:
    y = np.array(["ü", "猫"] * 30)
    X = np.random.default_rng(0).standard_normal((60, 4)) + 4 * (y == "ü")[:, None]
    y[7] = "ü"
    np.savez(tmp_path / "d.npz", X=X, y=y)
    done = subprocess.run(
        [sys.executable, "-m", "cgscore", "score", "d.npz", "--no-judge"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"\\u732b" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_progress_on_a_terminal(tmp_path: Path) -> None:
    import pty

    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", X=rng.random((6000, 20)), y=np.arange(6000) % 2)
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "cgscore", "score", "d.npz", "--no-judge"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 4096):  # at once: a terminal that nobody reads is soon full
            drawn += part
    os.close(ours)
    assert done.wait() == 0
    for phase in (b"kernel", b"factor", b"inverse", b"100%", b"left"):
        assert phase in drawn


@pytest.mark.parametrize(
    ("error", "windows", "broken"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), False, True),
        (OSError(errno.EINVAL, "Invalid argument"), False, False),
        (OSError(errno.EINVAL, "Invalid argument"), True, True),
        (OSError(errno.EINVAL, "Invalid argument", "a?.csv"), True, False),
        (OSError(errno.ENOSPC, "No space left on device"), True, False),
    ],
)
def test_a_reader_that_has_gone_on_every_system(
    monkeypatch: pytest.MonkeyPatch, error: OSError, windows: bool, broken: bool
) -> None:
    monkeypatch.setattr(console, "WINDOWS", windows)
    assert console.is_broken_pipe(error) == broken
