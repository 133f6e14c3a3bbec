"""A review of numbers: what is shown, decided, exported and scored again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.errors import OptionError, StorageError
from cgscore.review import Decisions, Review
from tests.command import invoke


@pytest.fixture
def prices(tmp_path: Path) -> tuple[Path, Any]:
    """A table with two wrong prices, and its scores."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = 100 + 10 * X[:, 0] + rng.standard_normal(200)
    y[[5, 17]] = 1000.5, -800.0
    path = tmp_path / "prices.csv"
    pd.DataFrame(X, columns=["width", "height"]).assign(price=y).to_csv(path, index=False)
    return path, cgscore.score(path, label_column="price")


def opened(scores: Any, path: Path) -> Review:
    return Review(scores, scores.data(), Decisions(path, scores.meta["fingerprint"]))


def test_suspects_come_with_an_interval(prices: Any, tmp_path: Path) -> None:
    review = opened(prices[1], tmp_path / "d")
    assert review.overview()["task"] == "regression"
    queue = review.queue()
    assert {row["at"] for row in queue[:2]} == {5, 17}
    row = next(row for row in queue if row["at"] == 5)
    assert row["value"] == 1000.5
    assert row["low"] < row["predicted"] < row["high"] < 200
    example = review.example(5)
    assert example["id"] == "5"
    assert len(example["similar"]) == 3
    assert float(example["similar"][0]["label"]) < 200
    json.dumps(review.overview(), allow_nan=False)
    review.decisions.close()


def test_decisions_are_numbers(prices: Any, tmp_path: Path) -> None:
    path, scores = prices
    review = opened(scores, tmp_path / "d")
    predicted = next(row for row in review.queue() if row["at"] == 5)["predicted"]
    assert review.decide(5, "accept", predicted, None).label == predicted
    assert review.decide(17, "change", 95.25, None).action == "change"
    assert (
        review.decide(30, "change", float(scores.table["given_label"][30]), None).action == "keep"
    )
    for wrong in (None, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="label must be a number"):
            review.decide(31, "change", wrong, None)
    labels = review.labels()
    assert labels["changed"].sum() == 2
    assert labels["label"][17] == 95.25
    changes = review.changes()
    assert changes["old_label"].tolist() == [1000.5, -800.0]
    assert changes["new_label"].tolist() == [predicted, 95.25]
    review.rescore()
    assert review.rescoring["state"] == "done", review.rescoring
    assert review.subject.right[17] > 0.5  # the corrected value fits
    review.decisions.close()
    again = opened(scores, tmp_path / "d")
    assert again.labels().equals(labels)
    again.decisions.close()
    for flag in ("--labels-to", "--changes-to"):
        arguments = ("review", str(path), "--label-column", "price", flag, "out.csv")
        done = invoke(*arguments, "--decisions", "d", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        other = pd.read_csv(tmp_path / "out.csv")
        assert len(other) == (200 if flag == "--labels-to" else 2)
        (tmp_path / "out.csv").unlink()


def test_exports_of_other_data_are_not_overwritten(prices: Any, tmp_path: Path) -> None:
    path, _ = prices
    arguments = ("review", str(path), "--label-column", "price", "--labels-to", "out.csv")
    pd.DataFrame({"id": ["somebody else's"], "label": [1]}).to_csv(tmp_path / "out.csv")
    refused = invoke(*arguments, folder=tmp_path)
    assert refused.returncode == 2
    assert "--labels-to out.csv exists, and has labels of other examples." in refused.stderr
    (tmp_path / "out.csv").write_text("no table")
    assert "is not a table of labels" in invoke(*arguments, folder=tmp_path).stderr
    (tmp_path / "out.csv").unlink()
    assert invoke(*arguments, folder=tmp_path).returncode == 0
    assert invoke(*arguments, folder=tmp_path).returncode == 0  # its own export again


def test_decisions_that_do_not_fit_are_refused(prices: Any, tmp_path: Path) -> None:
    review = opened(prices[1], tmp_path / "d")
    review.decisions.add(3, "keep", 1.5, None)  # not the given value
    with pytest.raises(StorageError, match="has another label than the given one"):
        review.decisions.current()
    review.decisions.close()
