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
    done = invoke("prune", "s.parquet", "--keep", "0.6", "-o", "kept.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "540 of 900 examples stay (60.0%), low-first" in done.stdout
    table = pd.read_csv(tmp_path / "kept.csv")
    assert list(table.columns) == ["position", "id", "given_label", "cg"]
    assert (table["position"] == digits.keep(0.6, drop_issues=True)).all()
    suspects = int(digits.label_issues()["is_label_issue"].sum())
    assert f"{suspects} suspected labels dropped first" in done.stdout
    done = invoke(
        *["prune", "s.parquet", "--keep", "0.6", "--keep-issues", "--json"], folder=tmp_path
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
        ("--keep 2 -o k.csv", "above 0 and at most 1"),
        ("--keep 0.5 -o k.txt", "ends in .csv"),
        ("--keep 0.5 --copy", "--data-to"),
        ("--keep 0.5 --order window --offset 0.9", "offset must be from 0 to 0.5"),
        ("--keep 0.5 -o s.parquet", "the input itself"),
        ("--keep 0.5 --by label", "or one of"),
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
        ("--data-to o.csv --mask", "--mask is for -o"),
        ("--data-to o.csv --copy", "Copies instead of links"),
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
