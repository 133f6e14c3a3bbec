"""Sources that a result names: opened only if they are files or folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.errors import OptionError, ResultError, StorageError
from cgscore.result.source import check_openable
from tests.result.changes import meta, option, rewrite, scored


@pytest.mark.skipif(sys.platform == "win32", reason="there are no FIFOs")
def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    """Opening it would wait for somebody who writes."""
    os.mkfifo(tmp_path / "fifo.npz")
    with pytest.raises(ResultError, match="is not a file"):
        cgscore.load(tmp_path / "fifo.npz")
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    for change, what in (
        (meta("source", str(tmp_path / "fifo.npz")), "source"),
        (option("labels", str(tmp_path / "fifo.npz")), "file of labels"),
        (option("encoder", str(tmp_path / "fifo.npz")), "file of features"),
        (meta("source", "/dev/zero"), "source"),
    ):
        scored(tmp_path).save(path)
        rewrite(path, change)
        with pytest.raises(ResultError, match=f"The {what} .* neither a file nor a folder"):
            cgscore.load(path).data()
    check_openable(str(tmp_path), "source")
    check_openable(str(tmp_path / "nowhere"), "source")


def test_options_changed_in_memory_are_checked_too(tmp_path: Path) -> None:
    scores = scored(tmp_path)
    scores.meta["read_options"] = {"progress": True}
    with pytest.raises(StorageError, match="option that is not known: 'progress'"):
        scores.data(tmp_path / "data.npz")


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


def test_corrected_labels_go_with_the_source_they_correct(tmp_path: Path) -> None:
    scored(tmp_path).save(tmp_path / "s.parquet")
    before = cgscore.load(tmp_path / "s.parquet")
    data = before.data()
    labels = before.table["given_label"].to_numpy().copy()
    labels[0] = next(label for label in before.classes if label != labels[0])
    after = cgscore.score(data.with_labels(labels), ridge=0.1)
    after.meta["source_fingerprint"] = before.meta["fingerprint"]
    after.save(tmp_path / "after.parquet")
    again = cgscore.load(tmp_path / "after.parquet")
    assert np.array_equal(np.asarray(again.data().y), labels)
    rewrite(tmp_path / "after.parquet", meta("source_fingerprint", "0" * 32))
    with pytest.raises(OptionError, match="not what was scored"):
        cgscore.load(tmp_path / "after.parquet").data()
    rewrite(tmp_path / "after.parquet", meta("source_fingerprint", "../x"))
    with pytest.raises(ResultError, match="source_fingerprint"):
        cgscore.load(tmp_path / "after.parquet")
