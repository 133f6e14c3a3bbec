"""Files that are merely large: `info` reads headers, labels and a sample of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command import invoke
from tests.data.readers import test_readers as makers
from tests.data.readers.hostile_files import _classes

import cgscore
from cgscore.data.inspection import inspect
from cgscore.data.readers import sample
from cgscore.data.source import overview
from cgscore.errors import LabelError

N = 3000


def _inputs() -> tuple[Any, Any]:
    dice = np.random.default_rng(0)
    return dice.normal(size=(N, 6)).astype(np.float32), dice.integers(0, 3, N)


def _table(path: Path, **options: Any) -> Path:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    X, y = _inputs()
    table = pa.table({**{f"c{i}": column for i, column in enumerate(X.T)}, "label": y})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100)
    else:
        pyarrow.feather.write_feather(table, str(path), chunksize=100, **options)
    return path


def _lists(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = _inputs()
    pq.write_table(pa.table({"x": X.tolist(), "label": y}), path, row_group_size=100)
    return path


def _npz(path: Path, save: Any, order: str = "C") -> Path:
    X, y = _inputs()
    save(path, X=np.asarray(X, order=order), y=y)  # type: ignore[call-overload]
    return path


SOURCES: dict[str, Any] = {
    "parquet": lambda d: _table(d / "t.parquet"),
    "parquet of lists": lambda d: _lists(d / "t.parquet"),
    "feather": lambda d: _table(d / "t.feather", compression="uncompressed"),
    "packed feather": lambda d: _table(d / "t.feather", compression="zstd"),
    "npz": lambda d: _npz(d / "t.npz", np.savez),
    "npz by columns": lambda d: _npz(d / "t.npz", np.savez, "F"),
    "packed npz": lambda d: _npz(d / "t.npz", np.savez_compressed),
    "idx": lambda d: makers.idx_file(d).source,
    "idx pair": lambda d: makers.idx_pair(d).source,
    "cifar": lambda d: makers.cifar10(d).source,
    "images": _classes,
}


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MAX_NUMBERS", 1)
    monkeypatch.setattr(sample, "MAX_TABLE_BYTES", 1)
    monkeypatch.setattr(sample, "MAX_SAMPLE_ROWS", 200)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("name", SOURCES)
def test_a_sample_tells_what_the_whole_does(name: str, tmp_path: Path) -> None:
    source = SOURCES[name](tmp_path)
    whole, part = cgscore.read(source), overview(str(source))
    assert isinstance(part, sample.Sample)
    found, expected = inspect(part), inspect(whole)
    assert (found.n, found.classes) == (expected.n, expected.classes)
    assert found.image_size == expected.image_size
    assert part.dataset.shape[1] == whole.shape[1]
    assert found.sampled == len(part.positions) == len(part.dataset) <= max(200, 2)
    assert whole.y is not None
    assert part.dataset.y is not None
    assert part.dataset.y.tolist() == whole.y[part.positions].tolist()
    if whole.preprocessing == "none":
        np.testing.assert_array_equal(part.dataset.X, whole.X[part.positions])
    assert f"sample of {found.sampled:,}" in part.dataset.notes[-1]


def test_small_sources_are_read_whole(tmp_path: Path) -> None:
    seen = overview(str(_table(tmp_path / "t.parquet")))
    assert isinstance(seen, cgscore.Dataset)
    assert len(seen) == N


@pytest.mark.usefixtures("everything_is_large")
def test_info_says_that_it_saw_a_sample(tmp_path: Path) -> None:
    _table(tmp_path / "t.parquet")
    text = invoke("info", "t.parquet", folder=tmp_path).stdout
    assert "3,000 examples with 7 numbers each in 3 classes" in text
    assert "sample of 192" in text
    document = json.loads(invoke("info", "t.parquet", "--json", folder=tmp_path).stdout)
    assert document["sampled_rows"] == 192
    assert document["fingerprint"] is None
    assert document["n"] == sum(document["class_counts"].values()) == N


@pytest.mark.usefixtures("everything_is_large")
def test_labels_of_samples(tmp_path: Path) -> None:
    X, y = _inputs()
    np.save(tmp_path / "x.npy", X)
    part = overview(str(tmp_path / "x.npy"), labels=y)
    assert isinstance(part, sample.Sample)
    assert part.dataset.y is not None
    assert part.dataset.y.tolist() == y[part.positions].tolist()
    assert inspect(part).classes == dict(enumerate(np.bincount(y).tolist()))
    with pytest.raises(LabelError, match="2 labels for 3,000 examples"):
        overview(str(tmp_path / "x.npy"), labels=np.array([0, 1]))
    np.savez(tmp_path / "gaps.npz", X=X, y=np.where(y == 0, np.nan, y))
    with pytest.raises(LabelError, match=r"no label|missing|NaN"):
        overview(str(tmp_path / "gaps.npz"))


RUN = """
import sys
from pathlib import Path
from cgscore.cli import app
from cgscore.execution.machine import peak_memory
start = peak_memory()
try:
    app(sys.argv[2:])
finally:
    Path(sys.argv[1]).write_text(str(peak_memory() - start))
"""


def _run(folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], float, int]:
    """A command, its seconds, and the bytes that it took above its start."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder / "bytes"), *words],
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done, time.monotonic() - start, int((folder / "bytes").read_text())


@pytest.mark.slow
def test_an_honest_parquet_file_of_10_gb(tmp_path: Path) -> None:
    import shutil

    import pyarrow as pa
    import pyarrow.parquet as pq

    from cgscore.execution.machine import available_memory

    if shutil.disk_usage(tmp_path).free < 15e9:
        pytest.skip("needs 15 GB of disk")
    path, rows, groups = tmp_path / "large.parquet", 100_000, 246
    dice = np.random.default_rng(0)
    columns = {f"c{i}": dice.normal(size=rows).astype(np.float32) for i in range(100)}
    table = pa.table({**columns, "label": dice.integers(0, 10, rows)})
    try:
        with pq.ParquetWriter(
            path, table.schema, compression="none", use_dictionary=False
        ) as writer:
            for _ in range(groups):
                writer.write_table(table)
        assert path.stat().st_size > 10e9
        done, seconds, size = _run(tmp_path, "info", str(path), "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["n"] == rows * groups == sum(document["class_counts"].values())
        assert (document["p"], document["classes"]) == (101, 10)
        assert size < 500_000_000
        assert seconds < 120
        if available_memory() < 75e9:  # where it is not simply read
            done, seconds, size = _run(tmp_path, "score", str(path), "-o", str(tmp_path / "s.csv"))
            assert done.returncode == 2
            assert "while it is read" in done.stderr
            assert "Take a part of the rows or columns" in done.stderr
            assert size < 500_000_000
            assert seconds < 60
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.slow
def test_photographs_of_50_megapixels(tmp_path: Path) -> None:
    import shutil

    from PIL import Image

    for name in "ab":
        (tmp_path / "photos" / name).mkdir(parents=True)
    first = tmp_path / "photos" / "a" / "0.jpg"
    noise = np.random.default_rng(0).integers(0, 256, (724, 1086, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((8688, 5792)).save(first, quality=70)
    for i in range(1, 12):
        shutil.copy(first, tmp_path / "photos" / "ab"[i % 2] / f"{i}.jpg")
    for command in (["info"], ["score", "-o", str(tmp_path / "s.csv"), "--ridge", "1"]):
        done, seconds, size = _run(
            tmp_path,
            command[0],
            str(tmp_path / "photos"),
            "--resize",
            "64",
            "--encoder",
            "pixels",
            *command[1:],
        )
        assert done.returncode == 0, done.stderr
        assert "12 images of 64 x 64 pixels" in done.stdout
        assert size < 500_000_000
        assert seconds < 120
