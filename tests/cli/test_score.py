"""``cgscore score``: what it prints and writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from tests.cli.data import write_table
from tests.command import invoke


def test_score_prints_and_writes(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv")
    done = invoke("score", "t.csv", "-o", "out.parquet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress when piped
    assert "t.csv   60 examples with 5 numbers each in 3 classes (smallest: 0, 20)" in done.stdout
    assert "60 rows in out.parquet" in done.stdout
    saved = cgscore.load(tmp_path / "out.parquet")
    direct = cgscore.score(cgscore.read(tmp_path / "t.csv"))
    np.testing.assert_array_equal(saved.table["cg"], direct.table["cg"])
    assert saved.extra("cg_prime", data=tmp_path / "t.csv").shape == (60, 1)


def test_classes_are_called_by_their_names(tmp_path: Path) -> None:
    done = invoke("score", "sklearn:iris", "--ridge", "0.1", folder=tmp_path)
    assert "smallest: setosa, 50" in done.stdout
    worst = done.stdout.split("The worst:")[1]
    assert "versicolor" in worst
    assert "virginica" in worst


def test_score_as_json_and_csv(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv")
    done = invoke("score", "t.csv", "-o", "out.csv", "--ridge", "0.1", "--json", folder=tmp_path)
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
    done = invoke("score", "d.npz", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["complexity"] == {"0": None, "1": None}  # infinite
    assert done.stderr.count("warning: ") == 2
    assert "different labels: 2, 5" in done.stderr


@pytest.mark.parametrize("command", ["score", "info"])
def test_images_at_the_command_line(tmp_path: Path, command: str) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(8):
        path = tmp_path / "photos" / ["cat", "dog"][i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (6 + i // 7, 5, 3), dtype=np.uint8)).save(path)
    (tmp_path / "photos" / "cat" / "bad.png").write_bytes(b"")
    failed = invoke(command, "photos", "--encoder", "pixels", "--resize", "5x6", folder=tmp_path)
    assert failed.returncode == 2
    assert "bad.png" in failed.stderr
    assert "--skip-bad" in failed.stderr
    pixels = ("--skip-bad", "--encoder", "pixels")
    failed = invoke(command, "photos", *pixels, folder=tmp_path)
    assert failed.returncode == 2
    assert "--resize 5x6" in failed.stderr
    done = invoke(command, "photos", *pixels, "--resize", "5x6", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "compared by their raw pixels" in done.stdout + done.stderr
    assert "photos   8 images of 5 x 6 pixels, colour, in 2 classes" in done.stdout
    assert "note      1 unreadable images left out: cat/bad.png" in done.stdout


def test_an_iterative_run_shows_its_audit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 12)), np.arange(600) % 3
    X += np.eye(12)[y]
    np.savez(tmp_path / "d.npz", X=X, y=y)
    done = invoke("score", "d.npz", "--method", "iterative", "--target", "0.5", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"audit     rank correlation with the exact score \d\.\d+ \(95 %: \d\.", done.stdout
    )
    assert re.search(r"median errors: cg \d\.\d%, partial \d\.\d%, margin", done.stdout)
    document = json.loads(
        invoke("score", "d.npz", "--method", "iterative", "--json", folder=tmp_path).stdout
    )
    assert 64 <= document["audit"]["examples"] <= 112  # drawn from all, and of two kinds
    chosen = json.loads(invoke("score", "d.npz", "--json", folder=tmp_path).stdout)["choice"]
    assert chosen == {"method": "exact", "why": "few examples"}
