from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.errors import CGScoreWarning, OptionError, ResultError

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


def test_regression_and_csv(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    X, _ = cloud
    s = cgscore.score(X, X[:, 0], task="regression")
    s.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.table, s.table)
    assert back.complexity == s.complexity
    s.to_csv(tmp_path / "s.csv")
    table = pd.read_csv(tmp_path / "s.csv", dtype=str)  # what pandas makes of digits may differ
    for name in ("given_label", "cg", "partial", "predicted_label"):
        assert table[name].map(float).tolist() == s.table[name].tolist()
    assert list(table) == list(s.table)


def test_meta_says_how(cloud: tuple[Any, Any]) -> None:
    meta = cgscore.score(*cloud, seed=3).meta
    expected = {
        "method": "exact",
        "ridge": 0.0,
        "seed": 3,
        "n": 60,
        "p": 8,
        "classes": 3,
        "source": "arrays",
        "audit": None,
        "warnings": [],
        "version": cgscore.__version__,
    }
    assert {name: meta[name] for name in expected} == expected
    assert meta["peak_memory"] > 10**7
    assert meta["digits"] > 10
    assert {"kernel", "factor", "inverse", "solve", "total"} == set(meta["timings"])
    json.dumps(meta)


def test_extra_after_loading_reads_the_source_again(tmp_path: Path) -> None:
    source = tmp_path / "data.npz"
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 5)), np.arange(20) % 2
    np.savez(source, X=X, y=y)
    s = cgscore.score(cgscore.read(source))
    s.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.extra(), s.extra())
    np.savez(source, X=X + 1, y=y)
    back = cgscore.load(tmp_path / "s.parquet")
    with pytest.raises(OptionError, match="fingerprint differs"):
        back.extra("cg_prime")
    source.unlink()
    with pytest.raises(OptionError, match=r"data\.npz\) is not there"):
        back.extra("cg_prime")
    pd.testing.assert_frame_equal(back.extra(data=X), s.extra())


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


def test_shown_in_a_terminal_and_a_notebook(cloud: tuple[Any, Any]) -> None:
    s = cgscore.score(*cloud)
    assert repr(s).startswith("Scores of 60 examples in 3 classes: exact, ridge 0, ")
    assert f"accuracy {100 * s.accuracy():.1f} %" in repr(s)
    html = s._repr_html_()
    assert html.count("<rect") == 40
    assert "Scores of 60 examples" in html


def test_the_right_data_are_recognised_whatever_their_labels_type(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((20, 5))
    for y, task in (
        (np.arange(20), "regression"),
        (np.arange(20)[:, None] % 3, "classification"),
        (pd.DataFrame({"y": np.arange(20) % 2 == 0}), "classification"),
        (list("ab" * 10), "classification"),
    ):
        cgscore.score(X, y, task=task).save(tmp_path / "s.parquet")
        back = cgscore.load(tmp_path / "s.parquet")
        assert len(back.extra("cg_prime", data=X)) == 20
