"""The command line: in this process, and in one of its own where that matters."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from tests.command import Done, invoke


def run(*arguments: str, cwd: Path) -> Done:
    return invoke(*arguments, folder=cwd)


def table(path: Path, **more: object) -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + 2 * np.eye(3, 4)[y]
    pd.DataFrame(X).add_prefix("x").assign(label=y, **more).to_csv(path, index=False)
    return path


def test_version_and_help(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"cgscore {cgscore.__version__}\n"
    text = run("--help", cwd=tmp_path).stdout
    assert all(command in text for command in ("score", "info", "demo"))
    assert "--label-column" in run("score", "--help", cwd=tmp_path).stdout


def test_score_prints_and_writes(tmp_path: Path) -> None:
    table(tmp_path / "t.csv")
    done = run("score", "t.csv", "-o", "out.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress when piped
    assert "t.csv   60 examples with 5 numbers each in 3 classes (smallest: 0, 20)" in done.stdout
    assert "60 rows in out.parquet" in done.stdout
    saved = cgscore.load(tmp_path / "out.parquet")
    direct = cgscore.score(cgscore.read(tmp_path / "t.csv"))
    np.testing.assert_array_equal(saved.table["cg"], direct.table["cg"])
    assert saved.extra("cg_prime", data=tmp_path / "t.csv").shape == (60, 1)


def test_classes_are_called_by_their_names(tmp_path: Path) -> None:
    done = run("score", "sklearn:iris", "--ridge", "0.1", cwd=tmp_path)
    assert "smallest: setosa, 50" in done.stdout
    worst = done.stdout.split("The worst:")[1]
    assert "versicolor" in worst
    assert "virginica" in worst


def test_score_as_json_and_csv(tmp_path: Path) -> None:
    table(tmp_path / "t.csv")
    done = run("score", "t.csv", "-o", "out.csv", "--ridge", "0.1", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["ridge"] == 0.1
    assert document["n"] == 60
    assert document["output"] == "out.csv"
    assert set(document["complexity"]) == {"0", "1", "2"}
    assert len(pd.read_csv(tmp_path / "out.csv")) == 60


def test_warnings_go_to_standard_error_and_json_stays_json(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    X[5] = X[2]
    np.savez(tmp_path / "d.npz", X=X, y=np.arange(12) % 2)
    done = run("score", "d.npz", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["complexity"] == {"0": None, "1": None}  # infinite
    assert done.stderr.count("warning: ") == 2
    assert "different labels: 2, 5" in done.stderr


def test_info(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", id=range(60), row=range(100, 160))
    text = run("info", "t.csv", cwd=tmp_path).stdout
    assert "60 examples with 6 numbers each in 3 classes" in text
    assert "classes   0 20, 1 20, 2 20" in text
    assert "check     columns that only count the rows are inputs: 4" in text
    assert re.search(r"exact +1 +\S+ +\S+ kB +0\.0 s", text)
    document = json.loads(run("info", "t.csv", "--json", cwd=tmp_path).stdout)
    assert document["class_counts"] == {"0": 20, "1": 20, "2": 20}
    assert document["copies"] == 0
    assert document["image_size"] is None
    simulated = json.loads(
        run("info", "--simulate", "n=1000000,p=10,classes=2", "--json", cwd=tmp_path).stdout
    )
    assert simulated["methods"]["exact"]["fits"] is False
    assert simulated["methods"]["exact"]["bytes"] > 4e12
    assert simulated["methods"]["iterative"]["bytes"] > 2e12
    text = run("info", "--simulate", "n=30000", cwd=tmp_path).stdout
    for name in ("exact", "iterative", "subsample", "partition"):
        assert re.search(rf"^{name} ", text, re.MULTILINE)
    imagenet = ("info", "--simulate", "n=1281167,p=2048,classes=1000", "--workers", "64")
    text = run(*imagenet, "--runs", "10", "--worker-memory", "32GB", cwd=tmp_path).stdout
    assert re.search(r"^subsample +10,000 .* GB +1\.\d+ TB", text, re.MULTILINE)
    assert re.search(r"^exact .* on one machine; does not fit", text, re.MULTILINE)
    slow, fast = (
        json.loads(run(*imagenet[:4], count, "--json", cwd=tmp_path).stdout)["methods"]
        for count in ("8", "64")
    )
    assert slow["partition"]["flops"] == fast["partition"]["flops"]
    assert slow["partition"]["bytes_moved"] < fast["partition"]["bytes_moved"]
    assert slow["partition"]["seconds"] > 3 * fast["partition"]["seconds"]
    assert slow["exact"]["tasks"] == 1


def test_info_of_suspicious_data(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    X[5], X[7], X[:, 3] = X[2], X[2], 1.0
    y = np.array(["a", "b"] * 5 + ["c", "b"])
    y[5] = y[2]
    np.savez(tmp_path / "d.npz", X=X, y=y)
    text = run("info", "d.npz", cwd=tmp_path).stdout
    assert "repeats   2 rows are identical to earlier ones, 1 of them with another label" in text
    assert "check     classes with one example only: c" in text
    assert "check     1 columns are constant: 3" in text
    np.savez(tmp_path / "d.npz", X=np.zeros((3, 4)), y=[1, 1, 1])
    text = run("info", "d.npz", cwd=tmp_path).stdout
    assert "check     y has 1 class (1 everywhere)" in text
    assert "check     X has rows that are zero" in text


@pytest.mark.parametrize("command", ["score", "info"])
def test_images_at_the_command_line(tmp_path: Path, command: str) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(8):
        path = tmp_path / "photos" / ["cat", "dog"][i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (6 + i // 7, 5, 3), dtype=np.uint8)).save(path)
    (tmp_path / "photos" / "cat" / "bad.png").write_bytes(b"")
    failed = run(command, "photos", cwd=tmp_path)
    assert failed.returncode == 2
    assert "bad.png" in failed.stderr
    assert "--skip-bad" in failed.stderr
    failed = run(command, "photos", "--skip-bad", cwd=tmp_path)
    assert failed.returncode == 2
    assert "--resize 5x6" in failed.stderr
    done = run(command, "photos", "--skip-bad", "--resize", "5x6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "photos   8 images of 5 x 6 pixels, colour, in 2 classes" in done.stdout
    assert "note      1 unreadable images left out: cat/bad.png" in done.stdout


def test_demo_finds_the_flipped_labels(tmp_path: Path) -> None:
    done = run("demo", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["flipped"] == 180
    assert document["recall"] > 0.95
    assert document["precision"] > 0.95
    assert document["suggestions_right"] > 0.95 * document["found"]
    saved = cgscore.load(tmp_path / "cgscore-demo" / "scores.parquet")
    assert len(saved) == 1797
    text = run("demo", cwd=tmp_path).stdout
    assert "precision" in text
    assert "suggested" in text
    lines = [line for line in text.splitlines() if not line.startswith("Look:")]
    assert max(map(len, lines)) <= 80
    page = tmp_path / "cgscore-demo" / "report.html"
    assert f"Look:     {page.as_uri()}" in text
    assert "labels look wrong" in page.read_text()


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
        (["score", "t.csv", "-o", "folder.csv"], "is a folder"),
        (["score", "t.csv", "--image-column", "x"], "image_column='x' means nothing"),
        (["score", "t.csv", "--dtype", "float8"], "one of: float64, float32; got 'float8'"),
        (["demo", "--seed", "-1"], "seed"),
        (["info", "--simulate", "n=²"], "expected something like"),
        (["info", "--simulate", "n=1000000000000"], "from 1 to 10^9"),
        (["score"], "Missing argument"),
        (["info"], "Give a source"),
        (["info", "--simulate", "p=3"], "n among them"),
        (["info", "--simulate", "rows=3"], "expected something like"),
        (["dance"], "dance"),
    ],
)
def test_mistakes_exit_with_2_and_no_traceback(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    table(tmp_path / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == "" or "t.csv" in done.stdout
    assert not (tmp_path / "scores.parquet").exists()


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    labels = np.array(["\x1b[31mred\n", "x" * 5000] * 6)
    np.savez(tmp_path / "d.npz", X=X, y=labels)
    done = run("score", "d.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred\\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 200


def test_an_iterative_run_shows_its_audit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 12)), np.arange(600) % 3
    X += np.eye(12)[y]
    np.savez(tmp_path / "d.npz", X=X, y=y)
    done = run("score", "d.npz", "--method", "iterative", "--target", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"audit     rank correlation with the exact score \d\.\d+ \(95 %: \d\.", done.stdout
    )
    assert re.search(r"median errors: cg \d\.\d%, partial \d\.\d%, margin", done.stdout)
    assert re.search(r" \d+\.\d% of the true top 1 % by cg .* \(95 %: \d+\.\d% to ", done.stdout)
    document = json.loads(
        run("score", "d.npz", "--method", "iterative", "--json", cwd=tmp_path).stdout
    )
    assert 64 <= document["audit"]["examples"] <= 112  # drawn from all, and of two kinds
    chosen = json.loads(run("score", "d.npz", "--json", cwd=tmp_path).stdout)["choice"]
    assert chosen == {"method": "exact", "why": "small"}


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
    assert errors.endswith("interrupted; nothing was written.\n")
    assert "With --checkpoint FOLDER an interrupted run can go on" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    narrow = ("--memory-limit", "12MB")  # some twenty panels, so that the first is not the last
    errors = interrupted(tmp_path, 4000, *narrow, "--checkpoint", "half done")
    assert "checkpoint half done: if this run is interrupted, the same command goes on" in errors
    assert "  cgscore score d.npz --memory-limit 12MB --checkpoint 'half done'\n" in errors
    kept = sorted(path.name for path in (tmp_path / "half done").glob("panel-*.tiles"))
    assert kept
    done = run("score", "d.npz", *narrow, "--checkpoint", "half done", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "half done serves other labels of the same inputs" in done.stdout
    whole = run("score", "d.npz", *narrow, "-o", "whole.parquet", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    a, b = cgscore.load(tmp_path / "scores.parquet"), cgscore.load(tmp_path / "whole.parquet")
    assert np.array_equal(a.d, b.d)
    assert np.array_equal(a.loo, b.loo)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_leaves_does_not_cost_the_result(tmp_path: Path) -> None:
    table(tmp_path / "t.csv")
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
    table(tmp_path / "t.csv")
    command = f"{sys.executable} -m cgscore score t.csv -o out.parquet {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(cgscore.load(tmp_path / "out.parquet")) == 60


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_standard_output_is_one_message(tmp_path: Path) -> None:
    table(tmp_path / "t.csv")
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


def test_names_survive_a_terminal_without_unicode(tmp_path: Path) -> None:
    y = np.array(["ü", "猫"] * 30)
    X = np.random.default_rng(0).standard_normal((60, 4)) + 4 * (y == "ü")[:, None]
    y[7] = "ü"
    np.savez(tmp_path / "d.npz", X=X, y=y)
    done = subprocess.run(
        [sys.executable, "-m", "cgscore", "score", "d.npz"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"\\u732b" in done.stdout


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    import pty

    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", X=rng.random((6000, 20)), y=np.arange(6000) % 2)
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "cgscore", "score", "d.npz"],
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
