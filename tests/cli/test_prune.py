"""``cgscore prune``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import cgscore
from tests.command import invoke


def test_what_stays(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    digits = cgscore.score(
        X[:900], np.where(np.arange(900) % 17 == 0, (y[:900] + 1) % 10, y[:900]), ridge="auto"
    )
    digits.save(tmp_path / "s.parquet")
    paper = ("--order", "low-first")
    done = invoke("prune", "s.parquet", "--keep", "0.6", *paper, "-o", "kept.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "expected cost in accuracy unknown" in done.stdout  # arrays are nowhere to be found
    assert "540 of 900 examples are kept (60.0%), order low-first" in done.stdout
    table = pd.read_csv(tmp_path / "kept.csv")
    assert list(table.columns) == ["position", "id", "given_label", "cg"]
    assert (table["position"] == digits.keep(0.6, drop_issues=True)).all()
    suspects = int(digits.label_issues()["is_label_issue"].sum())
    assert f"{suspects} suspected labels dropped first" in done.stdout
    done = invoke(
        *["prune", "s.parquet", "--keep", "0.6", "--keep-issues", *paper, "--json"],
        folder=tmp_path,
    )
    told = json.loads(done.stdout)
    assert not told["drop_issues"]
    assert told["suspects"] == suspects
    assert told["suspects_kept"] > 10  # the highest scores stay, and wrong labels have high ones
    table = pd.read_csv(tmp_path / "kept.csv")
    assert (table["position"] == digits.keep(0.6)).all()
    done = invoke(
        *[
            "prune",
            "s.parquet",
            "--keep",
            "0.5",
            "--order",
            "stratified",
            "--drop-issues",
            "--seed",
            "4",
            "--mask",
        ],
        *["-o", "mask.npy", "--json"],
        folder=tmp_path,
    )
    mask = np.load(tmp_path / "mask.npy")
    expected = digits.keep(0.5, "stratified", drop_issues=True, seed=4)
    assert (np.flatnonzero(mask) == expected).all()
    assert json.loads(done.stdout)["kept"] == len(expected)
    for arguments, message in (
        ("--keep 2 -o k.csv", "--keep must be above 0 and at most 1"),
        ("--keep 0.5 -o k.txt", "ends in .csv"),
        ("--keep 0.5 --copy", "--data-to"),
        ("--keep 0.5 --order window --offset 0.9", "offset must be from 0 to 0.5"),
        ("--keep 0.5 -o s.parquet", "the input itself"),
        ("--keep 0.5 --by label --order random", "or one of"),
        ("--keep 0.5 --by margin --order greedy", "by is for orders that sort by a score"),
        ("--keep 0.5 --order greedy", "need the inputs or a saved ranking"),
        ("--keep 0.5 --weights", "is not there"),
        ("--keep 0.5 --weights -o k.npy", "not for .npy"),
        ("--keep 0.5 --rank-to s.parquet", "the input itself"),
        ("--keep 0.5 --rank-to r.csv", "ends in .parquet"),
    ):
        done = invoke("prune", "s.parquet", *arguments.split(), folder=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr


def test_data_of_what_stays(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    frame["label"] = np.where(frame["a"] > 0, "up", "down")
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert invoke("score", "t.csv", folder=tmp_path).returncode == 0
    done = invoke(
        *["prune", "scores.parquet", "--keep", "0.5", "--order", "window", "--data-to", "half.csv"],
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Written:  half.csv, 20 rows" in done.stdout
    half = pd.read_csv(tmp_path / "half.csv")
    assert half["label"].value_counts().to_dict() == {
        name: round(count / 2) for name, count in frame["label"].value_counts().items()
    }
    for arguments, message in (
        ("-o t.csv", "-o t.csv is the input itself"),
        ("--data-to t.csv", "the source itself"),
        ("--data-to scores.parquet", "cannot have this name"),
        ("--data-to o.csv -o o.csv", "name the same file"),
        ("--data-to o.csv --mask", "--mask needs -o"),
        ("--data-to o.csv --copy", "Copying instead of linking"),
        ("--data-to nowhere/o.csv", "does not exist"),
    ):
        before = (tmp_path / "t.csv").read_bytes(), (tmp_path / "scores.parquet").read_bytes()
        done = invoke(
            "prune", "scores.parquet", "--keep", "0.5", *arguments.split(), folder=tmp_path
        )
        assert done.returncode == 2, arguments
        assert message in done.stderr
        after = (tmp_path / "t.csv").read_bytes(), (tmp_path / "scores.parquet").read_bytes()
        assert before == after
    done = invoke(
        *["prune", "scores.parquet", "--keep", "0.5", "--order", "window", "--json"],
        folder=tmp_path,
    )
    told = json.loads(done.stdout)
    assert told["windows"][str(told["offset"])] == max(told["windows"].values())
    frame.iloc[:30].to_csv(tmp_path / "t.csv", index=False)
    done = invoke(
        *["prune", "scores.parquet", "--keep", "0.5", "--data-to", "other.csv"], folder=tmp_path
    )
    assert done.returncode == 2
    assert "fingerprint differs" in done.stderr


def test_auto_drops_suspects_and_ranks(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 6))
    y = np.where(X[:, 0] + 0.2 * X[:, 1] > 0, "up", "down")
    y[::11] = np.where(y[::11] == "up", "down", "up")
    np.savez(tmp_path / "t.npz", X=X, y=y)
    assert invoke("score", "t.npz", folder=tmp_path).returncode == 0
    prune = ("prune", "scores.parquet", "--keep", "0.2")
    done = invoke(*prune, "--weights", "--rank-to", "ranked.parquet", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert document["order"] == document["asked_order"] == "auto"
    assert document["fallback"] is None
    assert 0.5 < document["expected"]["kept"] <= 1
    table = pd.read_csv(tmp_path / "kept.csv")
    scores = cgscore.load(tmp_path / "scores.parquet")
    kept = scores.keep(0.2, "auto", data=tmp_path / "t.npz")
    assert (table["position"] == kept).all()
    assert (table["weight"] == scores.weights(kept)).all()
    assert table["weight"].sum() == 150
    done = invoke(*prune, folder=tmp_path)
    assert "30 of 150 examples are kept (20.0%), order auto" in done.stdout
    assert " with all (leave-one-out kernel regression of rank 150)" in done.stdout
    (tmp_path / "t.npz").rename(tmp_path / "moved.npz")
    done = invoke("prune", "ranked.parquet", "--keep", "0.2", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["order"] == "auto"
    assert (pd.read_csv(tmp_path / "kept.csv")["position"] == table["position"]).all()
    done = invoke(*prune, "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert document["order"] == "stratified"
    assert "is not there" in document["fallback"]
    assert document["fallback"].endswith("Give the scored data: --source PATH")
    assert "the order stratified is used instead" in done.stderr
    expected = scores.keep(0.2, "stratified", drop_issues=True)
    assert (pd.read_csv(tmp_path / "kept.csv")["position"] == expected).all()
    done = invoke(*prune, "--source", "moved.npz", "--keep-issues", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert (document["order"], document["drop_issues"]) == ("greedy", False)
    suspects = document["suspects"]
    assert suspects > 5
    done = invoke("prune", "ranked.parquet", "--keep", "0.99", folder=tmp_path)
    assert f"{150 - suspects} are unsuspected" in done.stdout
    assert f"{150 - suspects} of 150 examples are kept" in done.stdout


def test_auto_drops_suspected_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    y[::20] += 5
    np.savez(tmp_path / "t.npz", X=X, y=y)
    assert invoke("score", "t.npz", "--ridge", "auto", folder=tmp_path).returncode == 0
    done = invoke("prune", "scores.parquet", "--keep", "0.9", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "suspected labels dropped first" in done.stdout
    scores = cgscore.load(tmp_path / "scores.parquet")
    suspects = scores.label_issues()["is_label_issue"].to_numpy()
    assert suspects.sum() > 5
    kept = pd.read_csv(tmp_path / "kept.csv")["position"]
    assert len(kept) == 180
    assert not suspects[kept].any()
