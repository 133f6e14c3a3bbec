"""``cgscore next``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

import cgscore
from cgscore.data.unlabelled import read_pool
from tests.command import invoke


def test_a_table_without_labels_is_encoded_as_the_labelled_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["kind"] = rng.choice(["x", "y", "z"], 90)
    frame["species"] = np.where(frame["a"] > 0, "up", "down")
    frame[:50].to_csv(tmp_path / "t.csv", index=False)
    frame[50:].drop(columns="species").to_csv(tmp_path / "pool.csv", index=False)
    arguments = ("score", "t.csv", "--label-column", "species", "--ridge", "0.1")
    assert invoke(*arguments, folder=tmp_path).returncode == 0
    arguments = ("next", "pool.csv", "--like", "scores.parquet", "--budget", "7")
    done = invoke(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "7 of 40 examples to label next, given 50 labelled ones" in done.stdout
    table = pd.read_csv(tmp_path / "next.csv")
    assert list(table.columns) == ["position", "id", "gain"]
    labelled = cgscore.read(tmp_path / "t.csv", label_column="species")
    pool, X = read_pool(tmp_path / "pool.csv", labelled, labelled.options)
    both = cgscore.read(frame, label_column="species")
    np.testing.assert_allclose(np.r_[X, pool.X], both.X)
    assert (table["position"] == cgscore.factor(X, ridge=0.1).next(pool.X, 7)).all()
    done = invoke(*arguments, "--json", folder=tmp_path)
    assert json.loads(done.stdout)["chosen"] == 7
    frame[50:].drop(columns=["species", "b"]).to_csv(tmp_path / "pool.csv", index=False)
    done = invoke(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "has no column 'b'" in done.stderr


def test_arrays_without_labels(tmp_path: Path) -> None:
    X = np.asarray(cgscore.read("sklearn:digits").X)
    y = np.asarray(cgscore.read("sklearn:digits").y)
    np.savez(tmp_path / "t.npz", X=X[:60], y=y[:60])
    np.save(tmp_path / "pool.npy", X[60:100])
    assert invoke("score", "t.npz", folder=tmp_path).returncode == 0
    done = invoke("next", "pool.npy", "--like", "scores.parquet", "--budget", "99", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(pd.read_csv(tmp_path / "next.csv")["position"]) == list(range(40))
    np.save(tmp_path / "pool.npy", X[60:100, :9])
    done = invoke("next", "pool.npy", "--like", "scores.parquet", folder=tmp_path)
    assert done.returncode == 2
    assert "9 numbers for each example" in done.stderr
