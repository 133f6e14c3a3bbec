"""`score` takes what `read` takes, and a column's name for labels."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import cgscore
from cgscore.errors import CGScoreWarning, LabelError, OptionError, SourceError

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def flowers() -> Any:
    frame = load_iris(as_frame=True).frame
    frame["species"] = frame.pop("target").map({0: "setosa", 1: "versicolor", 2: "virginica"})
    return frame


def test_labels_by_the_name_of_a_column(tmp_path: Path) -> None:
    frame = flowers()
    frame.to_csv(tmp_path / "f.csv", index=False)
    expected = cgscore.score(cgscore.read(frame, label_column="species")).table
    for scores in (
        cgscore.score(frame, "species"),
        cgscore.score(frame, label_column="species"),
        cgscore.score(tmp_path / "f.csv", "species"),
        cgscore.score(str(tmp_path / "f.csv"), label_column="species"),
    ):
        pd.testing.assert_frame_equal(scores.table, expected)


def test_score_takes_every_option_of_read(tmp_path: Path) -> None:
    of_read = set(inspect.signature(cgscore.read).parameters) - {"source", "labels"}
    assert of_read <= set(inspect.signature(cgscore.score).parameters)
    flowers().to_csv(tmp_path / "f.csv", index=False)
    with pytest.raises(SourceError, match="max_columns=5"):
        cgscore.score(tmp_path / "f.csv", "species", max_columns=4)


def test_wrong_names_are_told() -> None:
    with pytest.raises(SourceError, match="no column 'sort'"):
        cgscore.score(flowers(), "sort")
    with pytest.raises(OptionError, match="name two columns"):
        cgscore.score(flowers(), "species", label_column="sort")
    with pytest.raises(LabelError, match="no labels"):
        cgscore.score(np.eye(5), "species")


def test_warnings_name_the_line_of_the_caller() -> None:
    X, y = np.repeat(np.eye(4), 2, axis=0), np.arange(8) % 2
    with pytest.warns(CGScoreWarning, match="identical") as caught:
        cgscore.score(X, y)
    assert caught[0].filename == __file__


def test_numbers_are_judged_alike_whatever_the_ridge_of_the_scores() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = 1000 + 10 * X[:, 0] + rng.standard_normal(150)
    y[4] += 200
    frame = pd.DataFrame(X).add_prefix("x").assign(price=y)
    plain, ridged = cgscore.score(frame, "price"), cgscore.score(frame, "price", ridge="auto")
    assert plain.meta["task"] == "regression"
    assert plain.meta["task_reason"].startswith("the labels have fractions, such as ")
    assert plain.meta["ridge"] == 0 < plain.meta["judge"]["ridge"]
    assert plain.judging_ridge == ridged.judging_ridge == ridged.meta["ridge"]
    pd.testing.assert_frame_equal(plain.label_issues(), ridged.label_issues(), rtol=1e-9)
    assert plain.worst(1).index.tolist() == [4]
    shifted = cgscore.score(frame.assign(price=y - 5000), "price")  # centred before judging
    np.testing.assert_allclose(
        shifted.label_issues()["label_score"], plain.label_issues()["label_score"], atol=1e-6
    )
    scaled = cgscore.score(frame.assign(price=y), "price", judge=False)
    assert scaled.judged_loo is None
    assert scaled.judged
