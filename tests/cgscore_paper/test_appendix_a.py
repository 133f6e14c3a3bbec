"""Appendix A: the estimator beside exact scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper import appendix_a
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.scores import RATIOS
from tests.cgscore_paper.made import made


def test_estimator_comes_close(
    work: Work, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appendix_a, "RUNS", 6)
    found, _ = made("appendix-a", work, plan, tmp_path)
    assert [one.paper for one in found.compared] == [
        *appendix_a.PAPER["spearman"],
        *appendix_a.PAPER["pearson"],
    ]
    assert found.numbers["examples"] == 300
    curves = found.numbers["correlations"]
    assert all(len(curves[kind][str(ratio)]) == 6 for kind in curves for ratio in RATIOS)
    last = [curves["spearman"][str(ratio)][-1] for ratio in RATIOS]
    assert last == sorted(last)
    assert 0.9 < last[-1] < 1
    assert last[-1] > curves["spearman"]["4"][0]  # runs help
    few = found.numbers["after_few_runs"]
    ours, alone, plain = (few[f"{how}"] for how in list(few)[1:])
    assert few["runs"] == 2
    assert ours["spearman"] == [curves["spearman"][str(ratio)][1] for ratio in RATIOS]
    assert alone["spearman"] == pytest.approx(ours["spearman"], abs=0.08)
    assert len(plain["pearson"]) == 4
    assert plain != ours
    runs = {name: one["runs"] for name, one in found.numbers["recommended_runs"].items()}
    assert runs == {"fashion-mnist": 2, "cifar-10": 2, "cifar-100": 13}


def test_whole_draws_are_exact(work: Work, plan: Plan) -> None:
    """With all others drawn the estimator is the exact score."""
    work(appendix_a.exact_cell(True, plan.seed))
    found = appendix_a.separate_draws(work, ratio=9, runs=1, seed=plan.seed)
    assert found["spearman"] == pytest.approx([1])
    assert found["pearson"] == pytest.approx([1])


def test_channels_are_standardised_over_all_images(work: Work) -> None:
    X, codes = appendix_a.small(work, True, 0)
    raw, again = appendix_a.small(work, False, 0)
    assert (codes == again).all()
    assert np.bincount(codes).tolist() == [30] * 10
    pixels = raw.reshape(-1, 3).astype(float)  # here all images are chosen
    expected = (pixels - pixels.mean(axis=0)) / pixels.std(axis=0)
    np.testing.assert_allclose(X, expected.reshape(X.shape))
