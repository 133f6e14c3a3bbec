"""Scores of features and of pixels by one estimator."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore import score
from cgscore_paper import feature_scores
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.plans import Plan
from cgscore_paper.scores import subset_rows


@pytest.mark.filterwarnings("ignore")
def test_features_after_epochs_and_pixels(work: Work, plan: Plan) -> None:
    options = {"plan": plan.name, "dataset": "cifar-10", "rate": 0.0, "seed": 0}
    found = work(feature_scores.feature_scores.cell(width=8, **options))
    assert found["epochs"] == [1, 2]
    assert found["dimensions"] == 32
    scores = [found[f"cg-{epoch}"] for epoch in found["epochs"]]
    assert all(score.shape == (200,) and np.isfinite(score).all() for score in scores)
    assert not np.array_equal(*scores)
    images = load(work.data, "cifar-10")
    images = images[subset_rows(plan, images.codes)]
    expected = score(
        images.rows(True), images.codes, method="subsample", ratio=1, runs=3, judge=False
    )
    pixels = work(feature_scores.pixel_cell(plan, "cifar-10"))["cg"]
    np.testing.assert_allclose(pixels, expected.table["cg"], rtol=1e-5)
