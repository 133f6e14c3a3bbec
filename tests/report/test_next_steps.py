"""What the page proposes to do next, and how it names its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.report.content import source_name
from tests.report.pages import document

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_suspects_and_conflicts_have_a_step(digits: Any) -> None:
    _, path = digits
    steps = document(path)["next"]
    assert steps[0]["command"] == "cgscore review RESULT"
    assert any(step["at"] == "repeats" for step in steps)  # there is one conflict
    assert steps[-1]["command"].startswith("cgscore prune RESULT")


def test_a_pair_that_is_confused_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    X = rng.standard_normal((180, 8)) + 4 * np.eye(3, 8)[y]
    given = y.copy()
    given[:12] = 1
    cgscore.score(X, given, ridge="auto").report(tmp_path / "a.html")
    (step,) = [step for step in document(tmp_path / "a.html")["next"] if step["at"] == "map"]
    assert step["text"].startswith("Check the rule that tells 1 from 0: ")


def test_labels_that_cannot_be_predicted_need_other_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = cgscore.score(rng.standard_normal((200, 20)), rng.integers(0, 4, 200), ridge="auto")
    scores.report(tmp_path / "a.html")
    assert "--encoder" in document(tmp_path / "a.html")["next"][0]["command"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/home/somebody/photos", "photos"),
        ("C:\\Users\\somebody\\photos.csv", "photos.csv"),
        ("photos/train", "photos/train"),
        ("sklearn:digits", "sklearn:digits"),
        ("/", "/"),
    ],
)
def test_no_folder_of_this_machine_is_named(source: str, shown: str) -> None:
    assert source_name(source) == shown
