"""Batches, scalings, and what is kept on disk."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.data.encoders.encoding import CHUNK_ROWS, encode, scaled
from cgscore.data.encoders.registry import find_encoder
from cgscore.errors import DataError, OptionError
from cgscore.execution.progress import Silent

COUNTING = """
import os, signal
import numpy as np

def embed(batch):
    with open("calls", "a") as file:
        file.write(f"{len(batch)}\\n")
    if os.path.exists("killer") and len(open("calls").readlines()) > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.asarray(batch, np.float64).reshape(len(batch), -1)[:, :2] + 1

embed.batch = 256
"""


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module whose encoder writes down how often it is called."""
    (tmp_path / "counting.py").write_text(COUNTING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "counting", raising=False)
    return tmp_path


def calls(folder: Path) -> list[int]:
    file = folder / "calls"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def data(n: int = 600) -> Any:
    return np.random.default_rng(0).standard_normal((n, 3)), np.arange(n) % 2


def test_a_second_run_reads_what_the_first_has_made(
    counted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    heard: list[float] = []
    first = cgscore.read(
        X, labels=y, encoder="counting:embed", progress=lambda name, done: heard.append(done)
    )
    assert calls(counted) == [256, 256, 88]
    assert heard[0] == 0
    assert heard[-1] == 1
    again = cgscore.read(X, labels=1 - y, encoder="counting:embed")
    assert len(calls(counted)) == 3  # labels do not matter
    assert np.array_equal(first.X, again.X)
    assert first.inputs_digest == again.inputs_digest
    other = X.copy()
    other[5, 2] += 1e-9
    assert cgscore.read(other, labels=y, encoder="counting:embed").fingerprint != first.fingerprint
    assert len(calls(counted)) == 6
    (counted / "counting.py").write_text(COUNTING + "\n# another version\n")
    cgscore.read(X, labels=y, encoder="counting:embed")
    assert len(calls(counted)) == 9
    monkeypatch.setenv("CGSCORE_CACHE", "off")
    cgscore.read(X, labels=y, encoder="counting:embed")
    assert len(calls(counted)) == 12


@pytest.mark.needs("torch")
def test_equal_examples_have_equal_features(counted: Path) -> None:
    X, y = data(300)
    X[[5, 100, 101, 299]] = X[[250, 3, 7, 3]]
    found = cgscore.read(X, labels=y, encoder="counting:embed")
    assert calls(counted) == [256, 40]  # each of them once
    assert np.array_equal(found.X, X[:, :2] + 1)
    texts = [f"a text about number {i % 50} and so on{' and on' * (i % 5)}" for i in range(100)]
    minilm = find_encoder("minilm")
    words = encode(texts, "test", minilm, Silent())
    first = {text: i for i, text in reversed(list(enumerate(texts)))}
    assert len(first) < 100
    for text, row in zip(texts, words, strict=True):
        assert np.array_equal(row, words[first[text]])


def test_what_may_change_unseen_is_not_kept(counted: Path) -> None:
    X, y = data()
    (counted / "objects.py").write_text(
        "import functools\nimport numpy as np\nimport counting\n"
        "partial = functools.partial(counting.embed)\n"
        "named = functools.partial(counting.embed)\nnamed.identity = 'version 1'\n"
    )
    first = cgscore.read(X, labels=y, encoder="objects:partial")
    again = cgscore.read(X, labels=y, encoder="objects:partial")
    assert len(calls(counted)) == 2 * 10  # 64 at a time, as it does not say how many
    assert first.fingerprint == again.fingerprint
    for _ in range(2):
        cgscore.read(X, labels=y, encoder="objects:named")
    assert len(calls(counted)) == 3 * 10


def test_damaged_files_are_made_again(counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    monkeypatch.setenv("CGSCORE_CACHE", str(counted / "kept"))
    whole = cgscore.read(X, labels=y, encoder="counting:embed")
    first, second = sorted((counted / "kept").rglob("*.features"))
    one, other = first.read_bytes(), second.read_bytes()
    flipped = bytearray(one)
    flipped[300] ^= 1
    expected = len(calls(counted))
    for damage in (
        {first: one[:100]},
        {first: bytes(flipped)},
        {first: b""},
        {second: one},
        {first: other, second: one},
    ):
        for path, content in {first: one, second: other, **damage}.items():
            path.write_bytes(content)
        with pytest.warns(cgscore.CGScoreWarning, match="computed again") as said:
            found = cgscore.read(X, labels=y, encoder="counting:embed")
        assert np.array_equal(found.X, whole.X)
        assert all(path.name in str(said[0].message) for path in damage)
        assert len(calls(counted)) > expected
        expected = len(calls(counted))
    # where nothing can be kept, it is said, and the features come all the same
    (counted / "file").write_text("")
    monkeypatch.setenv("CGSCORE_CACHE", str(counted / "file"))
    with pytest.warns(RuntimeWarning, match="Features cannot be kept"):
        found = cgscore.read(X, labels=y, encoder="counting:embed")
    assert np.array_equal(found.X, whole.X)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_killed_run_goes_on_where_it_was(counted: Path) -> None:
    X, y = data(1500)
    np.savez(counted / "data.npz", X=X, y=y)
    (counted / "killer").write_text("")
    command = [str(Path(sys.executable).with_name("cgscore")), "features", "data.npz"]
    command += ["--encoder", "counting:embed"]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (counted / "features.npz").exists()
    assert calls(counted) == [256, 256, 256]
    (counted / "killer").unlink()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert calls(counted)[3:] == [256, 256, 256, 220]  # the first chunk was kept
    assert sum(calls(counted)[3:]) == 1500 - CHUNK_ROWS
    assert "Next:     cgscore score features.npz" in done.stdout
    found = cgscore.read(counted / "features.npz")
    assert np.array_equal(found.X, X[:, :2] + 1)
    assert found.y is not None
    assert np.array_equal(found.y, y)


def test_scalings() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 5)) + 3
    centred = scaled(X, "centre")
    assert np.allclose(centred, X - X.mean(axis=0))
    constant = np.hstack([X, np.ones((200, 1))])
    assert np.allclose(scaled(constant, "standardise"), centred / X.std(axis=0))
    white = scaled(constant, "whiten")
    assert white.shape == (200, 5)
    assert np.allclose(white.T @ white / 200, np.eye(5))
    assert scaled(X, "none") is X
    with pytest.raises(OptionError, match="more examples than numbers"):
        scaled(X[:5], "whiten")
    with pytest.raises(DataError, match="same for all"):
        scaled(np.ones((4, 3)), "centre")
    y = np.arange(200) % 2
    with pytest.raises(OptionError, match="must be one of none, centre"):
        cgscore.read(X, labels=y, scaling="white")


def test_scaling_is_recorded_and_changes_the_fingerprint() -> None:
    X, y = data()
    plain = cgscore.read(X + 3, labels=y)
    seen = {plain.fingerprint}
    for how in ("centre", "standardise", "whiten"):
        found = cgscore.read(X + 3, labels=y, scaling=how)
        assert found.options["scaling"] == how
        assert found.preprocessing == f"inputs: 3 numbers, {how}"
        assert np.allclose(found.X.mean(axis=0), 0)
        assert found.fingerprint not in seen
        seen.add(found.fingerprint)
        scores = cgscore.score(found, ridge=0.1)
        assert how in scores.meta["preprocessing"]
        assert scores.meta["read_options"]["scaling"] == how
    assert "scaling" not in plain.options


def test_numbers_that_cannot_be_used(counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(10)
    (counted / "odd.py").write_text(
        "import numpy as np\n"
        "def nan(batch):\n    return np.full((len(batch), 2), np.nan)\n"
        "def zero(batch):\n    return np.eye(len(batch), 2)\n"
        "def same(batch):\n    return np.ones((len(batch), 2))\n"
        "def ragged(batch):\n    return np.ones((len(batch), len(batch)))\n"
        "ragged.batch = 8\n"
    )
    with pytest.raises(DataError, match="not finite for 10 examples"):
        cgscore.read(X, labels=y, encoder="odd:nan")
    with pytest.raises(DataError, match="only zeros for 8 examples, the first is 2"):
        cgscore.read(X, labels=y, encoder="odd:zero")
    with pytest.raises(DataError, match="same numbers for all examples"):
        cgscore.read(X, labels=y, encoder="odd:same")
    X[3, 1] = np.nan
    for how in ("centre", "standardise", "whiten"):
        with pytest.raises(DataError, match="not finite for 1 examples, the first is 3"):
            cgscore.read(X, labels=y, scaling=how)
    with pytest.raises(DataError, match="rows of different lengths"):
        cgscore.read(X, labels=y, encoder="odd:ragged")
