"""Runs that are killed, resumed, damaged and mistaken for others."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import StorageError
from cgscore.execution import checkpoint as checkpoints
from tests.dirty_panels import fill_panels
from tests.forked import Forked

pytestmark = pytest.mark.usefixtures("dirty_panels")

N, P, LIMIT = 900, 10, 900_000  # a limit that makes some twenty panels, kept on disk


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, P)), np.arange(N) % 3


def score(**options: Any) -> cgscore.Scores:
    defaults = {"memory_limit": LIMIT, "progress": False, "judge": False}
    return cgscore.score(*data(), **{**defaults, **options})


def same(a: cgscore.Scores, b: cgscore.Scores) -> bool:
    return (
        np.array_equal(a.d, b.d)
        and np.array_equal(a.loo, b.loo)
        and np.array_equal(a.alpha, b.alpha)
        and a.meta["condition"] == b.meta["condition"]
    )


def score_until(phase: str, fraction: float, folder: Path, options: dict[str, Any]) -> None:
    """A run that kills its process when so much of a phase is done."""

    def progress(name: str, done: float) -> None:
        if name == phase and done >= fraction:
            os.kill(os.getpid(), signal.SIGKILL)

    fill_panels()
    score(checkpoint=folder, progress=progress, **options)


def killed(folder: Path, phase: str, fraction: float, **options: Any) -> None:
    assert Forked(score_until, phase, fraction, folder, options).wait() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_runs_go_on_and_end_with_the_same_bits(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    counts = []
    for phase, fraction in [("kernel", 0.01), ("factor", 0.3), ("factor", 0.8), ("inverse", 0.5)]:
        killed(folder, phase, fraction, judge=True)
        counts.append(len(list(folder.glob("panel-*.tiles"))))
    assert counts == sorted(counts)
    assert counts[0] < counts[1] < counts[2] < counts[3]
    finished = {
        path: path.stat().st_mtime_ns for path in folder.glob("*-*") if path.suffix != ".part"
    }
    assert any("inverse" in path.name for path in finished)
    resumed, whole = score(checkpoint=folder, judge=True), score(judge=True)
    assert same(resumed, whole)
    assert resumed.judged_loo is not None
    assert whole.judged_loo is not None
    assert np.array_equal(resumed.judged_loo, whole.judged_loo)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # nothing done twice


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_in_memory_too(tmp_path: Path) -> None:
    """The panels of a run in memory are kept as well, and the same bits come back."""
    killed(tmp_path, "inverse", 0.6, memory_limit=None)
    assert (tmp_path / "panel-00000.tiles").exists()
    assert same(score(checkpoint=tmp_path, memory_limit=None), score(memory_limit=None))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cgscore.Scores]:
    """A checkpoint of a run that came to its end, and the scores."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, score(checkpoint=folder)


@pytest.mark.parametrize("damage", ["tile", "end", "short", "long", "inverse", "manifest"])
def test_damage_is_found_and_made_good(tmp_path: Path, finished: Any, damage: str) -> None:
    folder, whole = finished
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / ("inverse-00002.arrays" if damage == "inverse" else "panel-00004.tiles")
    content = bytearray(path.read_bytes())
    if damage in ("tile", "inverse"):
        content[40] ^= 4
    elif damage == "end":
        content[-3] ^= 4
    elif damage == "short":
        del content[-100:]
    elif damage == "long":
        content += b"more"
    path.write_bytes(content)
    if damage == "manifest":
        (tmp_path / "checkpoint.json").write_text('{"format": 1, "cg')
        with pytest.raises(StorageError, match=r"checkpoint.json: this is not a checkpoint"):
            score(checkpoint=tmp_path)
        return
    with pytest.warns(cgscore.CGScoreWarning, match=f"1 part was damaged.*{path.name}"):
        again = score(checkpoint=tmp_path)
    assert same(again, whole)
    assert path.name in again.meta["warnings"][0]
    assert path.read_bytes() != content  # made anew
    assert same(score(checkpoint=tmp_path), whole)


METHODS: dict[str, dict[str, Any]] = {
    "exact": {"method": "exact"},
    "iterative": {"method": "iterative", "memory_limit": None},
    "partition": {"method": "partition", "runs": 2, "memory_limit": 1_200_000},
    "subsample": {"method": "subsample", "runs": 3, "memory_limit": None},
}


def parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in (".tiles", ".arrays"))


@pytest.mark.filterwarnings("ignore:The audit:cgscore.CGScoreWarning")
@pytest.mark.filterwarnings("ignore:.*have no margin:cgscore.CGScoreWarning")
@pytest.mark.parametrize("method", METHODS)
def test_no_part_stands_in_for_another(tmp_path: Path, method: str) -> None:
    """Flipped, cut, swapped, and taken from a checkpoint of other data of the same size."""
    options = METHODS[method]
    here, there = tmp_path / "here", tmp_path / "there"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = score(checkpoint=here, **options)
        X, y = data()
        cgscore.score(
            X[::-1], y, checkpoint=there, **{"memory_limit": LIMIT, "judge": False, **options}
        )
    found = parts(here)
    assert [path.name for path in found] == [path.name for path in parts(there)]
    contents = {path: path.read_bytes() for path in found}
    for damage in damages(contents, there):
        for path, raw in {**contents, **damage}.items():
            path.write_bytes(raw)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            again = score(checkpoint=here, **options)
        assert np.array_equal(again.d, whole.d, equal_nan=True), damage.keys()
        assert np.array_equal(again.loo, whole.loo, equal_nan=True), damage.keys()
        said = [str(one.message) for one in caught if "computed again" in str(one.message)]
        assert len(said) == 1
        assert f": {len(damage)} part" in said[0]
        assert all(path.name in said[0] for path in damage)


def damages(contents: dict[Path, bytes], there: Path) -> Iterator[dict[Path, bytes]]:
    """Contents of a few files at a time: two swapped, or each damaged in another way."""
    sizes: dict[int, list[Path]] = {}
    for path, raw in contents.items():
        sizes.setdefault(len(raw), []).append(path)
    for one, other in (alike[:2] for alike in sizes.values() if len(alike) > 1):
        yield {one: contents[other], other: contents[one]}
    rng = np.random.default_rng(0)
    chosen = rng.permutation(np.array(list(contents)))[:4]
    for turn in range(4):  # every file in every way
        damage = {}
        for kind, path in enumerate(chosen, turn):
            raw = contents[path]
            place = int(rng.integers(len(raw)))
            damage[path] = (
                (there / path.name).read_bytes(),
                raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :],
                raw[:place],
                b"",
            )[kind % 4]
        yield damage


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links")
def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("years of work")
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError, match="cannot write in this folder"):
        score(checkpoint=folder)
    assert (tmp_path / "precious").read_text() == "years of work"


def test_a_checkpoint_of_other_work_is_refused_by_name(tmp_path: Path) -> None:
    score(checkpoint=tmp_path)
    X, y = data()
    with pytest.raises(StorageError, match=r"the ridge differs: 0\.0, now 0\.5"):
        score(checkpoint=tmp_path, ridge=0.5)
    with pytest.raises(StorageError, match="the dtype differs: float64, now float32"):
        score(checkpoint=tmp_path, dtype="float32")
    with pytest.raises(StorageError, match=r"the panels \(they follow from memory_limit\) differ"):
        score(checkpoint=tmp_path, memory_limit=LIMIT - 200_000)
    with pytest.raises(StorageError, match="the data differ"):
        cgscore.score(X + 1e-6, y, checkpoint=tmp_path, memory_limit=LIMIT, judge=False)
    with pytest.raises(StorageError, match="the number of distinct rows differs: 900, now 899"):
        cgscore.score(X[1:], y[1:], checkpoint=tmp_path, memory_limit=LIMIT, judge=False)
    manifest = json.loads((tmp_path / "checkpoint.json").read_text())
    for key, named in [("cgscore", "cgscore's version"), ("blas", "the BLAS library")]:
        (tmp_path / "checkpoint.json").write_text(json.dumps({**manifest, key: "other"}))
        with pytest.raises(StorageError, match=f"{named}.* differs: other, now"):
            score(checkpoint=tmp_path)
    assert set(manifest) <= set(checkpoints._NAMES)


@pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")
@pytest.mark.parametrize("method", ["exact", "iterative", "lowrank", "partition", "subsample"])
def test_a_checkpoint_of_another_kernel_is_refused(tmp_path: Path, method: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    options: Any = {"method": method, "ridge": 0.1, "checkpoint": tmp_path / "c"}
    cgscore.score(X, y, **options)
    with pytest.raises(StorageError, match="the kernel differs: relu, now relu-ntk-3"):
        cgscore.score(X, y, kernel="relu-ntk-3", **options)


def test_other_labels_take_the_same_checkpoint(tmp_path: Path) -> None:
    score(checkpoint=tmp_path)
    X, y = data()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*-*")}
    other = cgscore.score(X, y[::-1], checkpoint=tmp_path, memory_limit=LIMIT, judge=False)
    assert same(other, cgscore.score(X, y[::-1], memory_limit=LIMIT, judge=False))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*-*")} == before


def test_folders_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match=r"not empty and holds no checkpoint \(found 'thesis"):
        score(checkpoint=tmp_path)
    with pytest.raises(StorageError, match="cannot make this folder"):
        score(checkpoint=tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks")
def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    held = cgscore.factor(data()[0], checkpoint=tmp_path, memory_limit=LIMIT)
    with pytest.raises(StorageError, match="in use by another factor or process"):
        score(checkpoint=tmp_path)
    held.close()
    score(checkpoint=tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_iterations_go_on_and_end_with_the_same_bits(tmp_path: Path) -> None:
    kept = []
    for phase, fraction in [("solve", 0.8), ("blocks", 0.3), ("blocks", 0.6)]:
        killed(tmp_path, phase, fraction, method="iterative", memory_limit=None)
        kept.append(sorted(path.name for path in tmp_path.glob("*.arrays")))
    assert kept[0] == ["solve-0.arrays"]
    assert len(kept[0]) < len(kept[1]) < len(kept[2])
    whole = score(method="iterative", memory_limit=None)
    resumed = score(method="iterative", memory_limit=None, checkpoint=tmp_path)
    assert same(resumed, whole)
    assert resumed.meta["audit"] == whole.meta["audit"]
    auto = score(method="auto", memory_limit=None, checkpoint=tmp_path)
    assert auto.meta["method"] == "iterative"
    X, y = data()
    with pytest.raises(StorageError, match="the labels differ"):
        cgscore.score(X, y[::-1], method="iterative", checkpoint=tmp_path, judge=False)
    with pytest.raises(StorageError, match="the method differs: iterative, now exact"):
        score(method="exact", memory_limit=None, checkpoint=tmp_path)


def test_a_run_killed_while_the_folder_was_made_can_be_started_again(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "checkpoint.part").write_text('{"form')
    assert same(score(checkpoint=tmp_path), score())


def test_a_failure_after_the_factor_lets_go_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("cgscore.solvers.cholesky.factor.Cholesky.condition", lambda self, d: 1 / 0)
        with pytest.raises(ZeroDivisionError) as caught:
            score(checkpoint=tmp_path)
    assert same(score(checkpoint=tmp_path), score())
    assert caught.value is not None  # its traceback still holds the first factor
