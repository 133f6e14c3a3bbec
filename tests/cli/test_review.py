"""``cgscore review``: what it exports, and what it refuses."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from tests.command import invoke

pytestmark = pytest.mark.needs("fastapi")


@pytest.fixture
def result(photos: Any, tmp_path: Path) -> Path:
    """The result alone in a folder, without decisions."""
    root, _, _ = photos
    copy = tmp_path / "s.parquet"
    copy.write_bytes((root / "s.parquet").read_bytes())
    return copy


def test_exports_from_the_command_line(result: Path, photos: Any) -> None:
    from cgscore.review import Decisions, Review

    root, scores, _ = photos
    folder = result.parent
    decisions = Decisions(folder / "s.parquet.review", scores.meta["fingerprint"])
    review = Review(scores, None, decisions)
    worst = review.queue()[:2]
    first, second = (row["at"] for row in worst)
    review.decide(first, "accept", worst[0]["to"], None)
    review.decide(second, "skip", None, None)
    decisions.close()
    done = invoke(
        *(
            "review",
            "s.parquet",
            "--labels-to",
            "l.parquet",
            "--changes-to",
            "c.csv",
            "--folder-to",
            "new",
        ),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    labels = pd.read_parquet(folder / "l.parquet")
    assert labels["id"].tolist() == scores.table["id"].tolist()
    assert np.flatnonzero(labels["changed"]).tolist() == [first]
    changes = pd.read_csv(folder / "c.csv")
    assert changes.columns.tolist() == ["id", "old_label", "new_label", "when"]
    assert changes["new_label"].tolist() == [labels["label"][first]]
    links = sorted((folder / "new").glob("*/*.png"))
    assert len(links) == len(scores)
    moved = folder / "new" / labels["label"][first] / Path(labels["id"][first]).name
    assert moved.is_symlink()
    assert moved.resolve() == (root / "photos" / labels["id"][first]).resolve()
    again = invoke("review", "s.parquet", "--folder-to", "new", folder=folder)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    inside = invoke(
        "review", "s.parquet", "--folder-to", str(root / "photos" / "new"), folder=folder
    )
    assert inside.returncode == 2
    copied = invoke("review", "s.parquet", "--folder-to", "copies", "--copy", folder=folder)
    assert copied.returncode == 0, copied.stderr
    assert not any(path.is_symlink() for path in (folder / "copies").glob("*/*.png"))


def test_a_stranger_s_file_is_refused_by_the_command(result: Path) -> None:
    from cgscore.review import Decisions

    file = result.with_name("s.parquet.review")
    scores = cgscore.load(result)
    with contextlib.closing(Decisions(file, scores.meta["fingerprint"])) as decisions:
        decisions.add(500, "accept", 1, None)  # of 500: the first that does not exist
    done = invoke("review", "s.parquet", "--labels-to", "l.csv", folder=result.parent)
    assert done.returncode == 2
    assert "s.parquet.review" in done.stderr
    assert "position 500; it must be below 500" in done.stderr
    os.unlink(file)
    os.mkfifo(file)
    done = invoke("review", "s.parquet", "--labels-to", "l.csv", folder=result.parent)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr
