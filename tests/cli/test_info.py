"""``cgscore info``: what is said of data and of costs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from tests.cli.data import write_table
from tests.command import invoke


def test_info(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", id=range(60), row=range(100, 160))
    text = invoke("info", "t.csv", folder=tmp_path).stdout
    assert "60 examples with 6 numbers each in 3 classes" in text
    assert "classes   0 20, 1 20, 2 20" in text
    assert "check     columns that only number the rows are used as inputs: 4" in text
    assert re.search(r"exact +1 +\S+ +\S+ kB +< 0\.1 s", text)
    scored = invoke("score", "t.csv", folder=tmp_path).stdout
    assert re.search(r"^method +exact: < 0\.1 s and \S+ kB$", scored, re.MULTILINE)
    document = json.loads(invoke("info", "t.csv", "--json", folder=tmp_path).stdout)
    assert document["class_counts"] == {"0": 20, "1": 20, "2": 20}
    assert document["copies"] == 0
    assert document["image_size"] is None
    simulated = json.loads(
        invoke("info", "--simulate", "n=1000000,p=10,classes=2", "--json", folder=tmp_path).stdout
    )
    assert simulated["methods"]["exact"]["fits"] is False
    assert simulated["methods"]["exact"]["bytes"] > 4e12
    assert simulated["methods"]["iterative"]["bytes"] > 2e12
    text = invoke("info", "--simulate", "n=30000", folder=tmp_path).stdout
    for name in ("exact", "iterative", "subsample", "partition"):
        assert re.search(rf"^{name} ", text, re.MULTILINE)
    imagenet = ("info", "--simulate", "n=1281167,p=2048,classes=1000", "--workers", "64")
    text = invoke(*imagenet, "--runs", "10", "--worker-memory", "32GB", folder=tmp_path).stdout
    assert re.search(r"^subsample +10,000 .* GB +1\.\d+ TB", text, re.MULTILINE)
    assert re.search(r"^exact .* on one machine; does not fit", text, re.MULTILINE)
    few, many = (
        json.loads(invoke(*imagenet[:4], count, "--json", folder=tmp_path).stdout)
        for count in ("8", "64")
    )
    slow, fast = few["methods"]["partition"], many["methods"]["partition"]
    assert slow["flops"] == fast["flops"]
    assert slow["bytes_moved"] < fast["bytes_moved"]
    # each call measures the speed of the machine, which varies
    work = [
        cost["seconds"] * told["flops_per_second"] for cost, told in ((slow, few), (fast, many))
    ]
    assert work[0] > 3 * work[1]
    assert few["methods"]["exact"]["tasks"] == 1


def test_info_of_suspicious_data(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((12, 4))
    X[5], X[7], X[:, 3] = X[2], X[2], 1.0
    y = np.array(["a", "b"] * 5 + ["c", "b"])
    y[5] = y[2]
    np.savez(tmp_path / "d.npz", X=X, y=y)
    text = invoke("info", "d.npz", folder=tmp_path).stdout
    assert "repeats   2 rows are identical to earlier ones, 1 of them with another label" in text
    assert "check     classes with one example only: c" in text
    assert "check     1 columns are constant: 3" in text
    np.savez(tmp_path / "d.npz", X=np.zeros((3, 4)), y=[1, 1, 1])
    text = invoke("info", "d.npz", folder=tmp_path).stdout
    assert "check     y has 1 class (1 everywhere)" in text
    assert "check     X has rows that are zero" in text
