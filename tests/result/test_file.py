"""Saved results: every bit comes back, and odd files end well or in a message."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.errors import CGScoreError, CGScoreWarning, MemoryLimitError, ResultError
from cgscore.result.schema import READ_OPTIONS
from tests.result.changes import (
    AUDIT,
    USES,
    Change,
    Document,
    column,
    meta,
    one,
    option,
    pandas_type,
    rewrite,
    scored,
    use,
    without,
)


def pandas_says(content: bytes) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        return table.replace_schema_metadata({**table.schema.metadata, b"pandas": content})

    return change


#: Results that are unusual and load: whatever is done with them ends well or in one message.
ODD: dict[str, Change] = {
    "as it is": lambda table, document: None,
    "audited": meta("audit", AUDIT),
    "source gone": meta("source", "nowhere.npz"),
    "source a folder": meta("source", "."),
    "source a device": meta("source", "/dev/zero"),
    "source a FIFO": meta("source", "fifo.npz"),
    "labels a FIFO": option("labels", "fifo.npz"),
    "labels a device": option("labels", "/dev/zero"),
    "encoder a FIFO": option("encoder", "fifo.npz"),
    "encoder that is code": option("encoder", "os:system"),
    "source of long names": meta("source", "x" * 255 + "/y" * 255),
    "source of the other kind": meta("source", "s.parquet"),
    "option of another reader": option("split", "train"),
    "column that is a number": option("label_column", 3),
    "resize absurd": option("resize", 2**62),
    "other fingerprint": meta("fingerprint", "0" * 32),
    "ridge huge": meta("ridge", 1e308),
    "ridge tiny": meta("ridge", 5e-324),
    "p huge": meta("p", 2**62),
    "texts with surrogates": meta("notes", ["\ud800"]),
    "unknown meta": meta("extra", {"a": [1, None, "b"]}),
    "pandas metadata gone": pandas_says(b"{}"),
    "pandas metadata nested": pandas_says(b"[" * 100_000),
    "pandas index": pandas_says(b'{"index_columns": ["id"], "columns": []}'),
    "pandas type unknown": pandas_type("id", "period[D]"),
    "cg missing": column("cg", lambda v: pa.nulls(len(v), pa.float64())),
    "cg infinite": column("cg", lambda v: pa.array([np.inf] * len(v))),
    "margin infinite": column("margin", lambda v: pa.array([-np.inf] * len(v))),
    "partial missing": column("partial", lambda v: pa.nulls(len(v), pa.float64())),
    "loo missing": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([np.nan] * 90), 3)
    ),
    "loo all equal": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([0.0] * 90), 3)
    ),
    "loo huge": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([1e308, -1e308, 0.0] * 30), 3)
    ),
    "ids repeat": column("id", lambda v: pa.array([4] * len(v))),
    "ids missing": column("id", one(None)),
    "ids as formulas": column("id", lambda v: pa.array([f"=1+{i}" for i in range(len(v))])),
    "predictions missing": column("predicted_label", lambda v: pa.nulls(len(v), pa.int64())),
    "no copies": without("duplicate_of"),
    "a column of null": lambda table, _: table.append_column("x", pa.nulls(30)),
    "a column of dates": lambda table, _: table.append_column(
        "x", pa.array([pd.Timestamp(2020, 1, 1)] * 30)
    ),
}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_a_report_of_scores_near_the_largest_number(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    rewrite(path, column("cg", lambda values: pa.array([1e308] * len(values))))
    assert use(tmp_path, "report") == 0


@pytest.mark.needs("fastapi")
@pytest.mark.parametrize("name", ODD)
def test_odd_results_end_well_or_in_a_message(tmp_path: Path, name: str) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "fifo.npz")
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    rewrite(path, ODD[name])
    for command in USES:
        status = use(tmp_path, command)
        assert status == 0 or name != "as it is"


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    path.mkdir()
    with pytest.raises(ResultError, match="is not a file"):
        cgscore.load(path)
    path.rmdir()
    scored(tmp_path).save(path)
    whole = path.read_bytes()
    for content in (b"", b"PAR1", whole[:-1], whole[:100], b"x" + whole[1:-1] + b"x"):
        path.write_bytes(content)
        with pytest.raises(ResultError, match="not a complete Parquet file"):
            cgscore.load(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ResultError, match="not a result of cgscore"):
        cgscore.load(path)


def test_a_file_that_swells_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four million equal rows take a few kilobytes on disk, and gigabytes as they are."""
    path, n = tmp_path / "s.parquet", 4_000_000
    scored(tmp_path).save(path)
    small = pq.read_table(path)
    metadata = dict(small.schema.metadata)
    document = json.loads(metadata[b"cgscore"])
    document["meta"]["n"] = n
    metadata[b"cgscore"] = json.dumps(document).encode()
    step = pa.concat_tables([small.slice(0, 1)] * 10_000).combine_chunks()
    with pq.ParquetWriter(path, step.schema.with_metadata(metadata), compression="zstd") as file:
        for _ in range(n // 1_000_000):
            file.write_table(pa.concat_tables([step] * 100))
    assert path.stat().st_size < 3_000_000
    monkeypatch.setattr(pq, "ParquetFile", None)  # nothing may be read
    with pytest.raises(ResultError, match="would unpack to"):
        cgscore.load(path)
    monkeypatch.setattr("cgscore.result.file.available_memory", lambda: 10**8)
    with pytest.raises(MemoryLimitError, match="is free"):
        cgscore.load(path, max_ratio=1e9)


@pytest.mark.parametrize("name", ["id", "note"])
@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_one_long_text_is_not_repeated_without_end(tmp_path: Path, name: str, kind: Any) -> None:
    """A dictionary holds it once; a table would hold it for every row."""
    path = tmp_path / "s.parquet"
    scored(tmp_path, "texts").save(path)
    long = pa.array([b"x" * 20_000_000] * 30, kind) if kind == pa.binary() else None
    table = pq.read_table(path)
    cells = pa.array(["x" * 20_000_000] * 30) if long is None else long
    if name in table.column_names:
        table = table.drop_columns([name])
    table = table.append_column(name, cells).replace_schema_metadata(table.schema.metadata)
    pq.write_table(table, path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ResultError, match="would unpack to"):
        cgscore.load(path)


JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), "", "x", "=1", "\0", "\ud800", "../..", "/dev/zero", "a" * 5000,
    [], [0], [None], ["a", "b", "c"], [0, 1, 2], [[]], {}, {"a": 1}, {"total": 1}, {"labels": 1},
]  # fmt: skip


def damaged(rng: np.random.Generator, table: pa.Table, document: Document) -> pa.Table:
    """One to three random changes of columns, of `meta` or of the document."""

    def junk() -> Any:
        return copy.deepcopy(JUNK[rng.integers(len(JUNK))])

    for _ in range(rng.integers(1, 4)):
        where = rng.integers(6)
        if where < 2:
            names = sorted(document["meta"])
            document["meta"][names[rng.integers(len(names))]] = junk()
        elif where == 2:
            found = document["meta"]
            nested_ones = [name for name in found if isinstance(found[name], dict)]
            if nested_ones:
                inner = found[nested_ones[rng.integers(len(nested_ones))]]
                key = [*inner, *READ_OPTIONS][rng.integers(len(inner) + len(READ_OPTIONS))]
                inner[key] = junk()
        elif where == 3:
            name = ("classes", "complexity", "format")[rng.integers(3)]
            if isinstance(document[name], list) and document[name]:
                document[name][rng.integers(len(document[name]))] = junk()
            else:
                document[name] = junk()
        else:
            place = int(rng.integers(table.num_columns))
            table = _damaged_column(rng, table, place)
        if not isinstance(document["meta"], dict):
            break
    return table


def _damaged_column(rng: np.random.Generator, table: pa.Table, place: int) -> pa.Table:
    name, values = table.column_names[place], table.column(place)
    way = rng.integers(6)
    if way == 0:
        return table.remove_column(place) if table.num_columns > 1 else table
    if way == 1:
        other = table.column(int(rng.integers(table.num_columns)))
        return table.set_column(place, name, other)
    if way == 2:
        return table.set_column(place, name, values.take(pa.array(rng.integers(0, 30, 30))))
    if way == 3:
        return table.set_column(place, name, pa.nulls(len(values), values.type))
    found = values.to_pylist()
    if way == 4:
        extreme = [np.nan, np.inf, -np.inf, 1e150, -1e150, 0.0, None, 1.0][rng.integers(8)]
        for at in rng.integers(0, len(found), 5):
            found[at] = [extreme] * len(found[at]) if isinstance(found[at], list) else extreme
    else:
        found = [str(value) for value in found]
    try:
        return table.set_column(place, name, pa.array(found))
    except (pa.ArrowException, TypeError):
        return table


def fuzz(folder: Path, seed: int, rounds: int) -> dict[str, int]:
    """How often changed results were refused, and ended well or in a message."""
    path, rng = folder / "s.parquet", np.random.default_rng(seed)
    ended = {"refused": 0, "loaded": 0, "done": 0, "message": 0}
    for kind in ("classes", "texts", "regression"):
        scored(folder, kind).save(path)
        whole = path.read_bytes()
        for _ in range(rounds):
            path.write_bytes(whole)
            for left in ("s.parquet.review", "k.npz"):
                (folder / left).unlink(missing_ok=True)
            rewrite(path, lambda table, document: damaged(rng, table, document))
            try:
                cgscore.load(path)
            except CGScoreError:
                ended["refused"] += 1
                continue
            ended["loaded"] += 1
            for command in USES:
                ended["message" if use(folder, command) else "done"] += 1
    return ended


def test_random_changes_end_well_or_in_a_message(tmp_path: Path) -> None:
    ended = fuzz(tmp_path, 0, 15)
    assert ended["refused"] > 10
    assert ended["done"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_random_changes_end_well_or_in_a_message(tmp_path: Path, seed: int) -> None:
    ended = fuzz(tmp_path, seed, 150)
    assert ended["refused"] > 100
    assert ended["done"] > 100


NAMES = [
    "id",
    "given_label",
    "cg",
    "first_term",
    "partial",
    "third_term",
    "residual",
    "predicted_label",
    "margin",
]


def labelled(kind: str, y: Any) -> Any:
    return {
        "numbers": y * 10 - 5,
        "text": np.array(["a", "b<c>", "ü\n"])[y],
        "object": np.array(["a", "b", "c"], dtype=object)[y],
        "booleans": y == 1,
        "floats": y.astype(float),
        "bytes": y.astype(np.uint8),
    }[kind]


@pytest.mark.parametrize("kind", ["numbers", "text", "object", "booleans", "floats", "bytes"])
def test_save_and_load_keep_every_bit(cloud: tuple[Any, Any], tmp_path: Path, kind: str) -> None:
    X, y = cloud
    X = X.copy()
    X[9] = X[8]
    labels = labelled(kind, y)
    with pytest.warns(CGScoreWarning):
        s = cgscore.score(X, labels)
    path = tmp_path / "scores.parquet"
    s.save(path)
    back = cgscore.load(str(path))
    pd.testing.assert_frame_equal(back.table, s.table)
    assert list(back.table)[:9] == NAMES
    np.testing.assert_array_equal(back.loo, s.loo)
    np.testing.assert_array_equal(back.d, s.d)
    np.testing.assert_array_equal(back.classes, s.classes)
    assert back.complexity == s.complexity
    assert back.meta == json.loads(json.dumps(s.meta))
    assert repr(back) == repr(s)
    assert back.table["given_label"].tolist() == labels.tolist()


def test_infinite_scores_and_complexities_survive(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    X[5] = X[2]
    with pytest.warns(CGScoreWarning):
        s = cgscore.score(X, np.arange(12) % 2)
    s.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    assert back.complexity == {0: np.inf, 1: np.inf}
    assert np.isinf(back.table["cg"][[2, 5]]).all()


def test_foreign_and_damaged_files_are_refused(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    with pytest.raises(ResultError, match="does not exist"):
        cgscore.load(path)
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(ResultError, match="not a result of cgscore"):
        cgscore.load(path)
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(ResultError, match="not a complete Parquet file"):
        cgscore.load(path)
    cgscore.score(*cloud).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ResultError, match="not a complete Parquet file"):
        cgscore.load(path)


def test_a_newer_format_is_refused_by_name(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    cgscore.score(*cloud).save(path)
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    document = json.loads(metadata[b"cgscore"])
    document["format"] = 99
    document["meta"]["version"] = "7.0.0"
    metadata[b"cgscore"] = json.dumps(document).encode()
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(ResultError, match=r"format 99, written by cgscore 7\.0\.0"):
        cgscore.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be replaced there")
def test_a_file_is_replaced_whole(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    """Whoever has the old file open goes on reading the old file."""
    path = tmp_path / "s.parquet"
    cgscore.score(*cloud).save(path)
    before = path.read_bytes()
    with path.open("rb") as file:
        cgscore.score(*cloud, ridge=0.5).save(path)
        assert file.read() == before
    assert cgscore.load(path).meta["ridge"] == 0.5


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_full_disk_leaves_the_old_file(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the write fails half way."""
    path = tmp_path / "s.parquet"
    cgscore.score(*cloud).save(path)
    before = path.read_bytes()
    program = f"""
import resource, signal, numpy as np, cgscore
s = cgscore.score(np.random.default_rng(0).random((400, 5)), np.arange(400) % 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    s.save({str(path)!r})
except cgscore.CGScoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "cannot be written: File too large. An older file is unchanged." in done.stdout
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.parquet"]


def test_a_saved_result_keeps_its_audit(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((600, 20))
    found = cgscore.score(X, np.arange(600) % 4, method="iterative")
    found.save(tmp_path / "scores.parquet")
    again = cgscore.load(tmp_path / "scores.parquet")
    assert again.meta["audit"] == found.meta["audit"]
    assert "audit: rank correlation with the exact score" in repr(again)
