"""Exports that a spreadsheet may open."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import cgscore
from cgscore.review import Decisions, Review
from tests.command import invoke
from tests.review.server import serving


def test_exports_hold_no_formulas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    classes = np.array(['=HYPERLINK("http://evil.example")', "@SUM(1)", "-1"])
    codes = np.repeat([0, 1, 2], 20)
    starts = ["+1+1", "-2-3", "\tx", "\rx", "plain", "-5", "'quoted"]
    table = pd.DataFrame(
        rng.standard_normal((60, 4)) + 4 * np.eye(3, 4)[codes], columns=list("abcd")
    )
    table["id"] = [f"{starts[i % 7]}{'' if i < 7 else f' {i}'}" for i in range(60)]
    table["label"] = classes[codes]
    table.to_parquet(tmp_path / "table.parquet")
    scores = cgscore.score(cgscore.read(tmp_path / "table.parquet", id_column="id"), ridge=0.1)
    scores.save(tmp_path / "s.parquet")
    with contextlib.closing(
        Decisions(tmp_path / "s.parquet.review", scores.meta["fingerprint"])
    ) as decisions:
        review = Review(scores, None, decisions)
        formula = scores.classes.tolist().index(classes[0])
        review.decide(25, "change", formula, None)
    written = ("--labels-to", "l.csv", "--changes-to", "c.csv")
    done = invoke("review", "s.parquet", *written, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    options: Any = {"dtype": str, "keep_default_na": False, "lineterminator": "\n"}
    labels = pd.read_csv(tmp_path / "l.csv", **options)
    assert labels["id"][:7].tolist() == ["'+1+1", "'-2-3", "'\tx", "'\rx", "plain", "-5", "'quoted"]
    assert set(labels["label"]) == {f"'{classes[0]}", "'@SUM(1)", "-1"}  # -1 is a number
    changes = pd.read_csv(tmp_path / "c.csv", **options)
    assert changes["new_label"].tolist() == [f"'{classes[0]}"]
    with serving(tmp_path / "s.parquet") as server:
        _, _, found = server.ask("GET", "/export/labels.csv")
        assert found == (tmp_path / "l.csv").read_bytes()
        _, _, parquet = server.ask("GET", "/export/labels.parquet")
    (tmp_path / "l.parquet").write_bytes(parquet)  # which knows what a text is
    assert pd.read_parquet(tmp_path / "l.parquet")["label"][25] == classes[0]
