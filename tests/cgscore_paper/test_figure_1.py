"""Figure 1: two Gaussians."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore import gram
from cgscore_paper import figure_1
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from tests.cgscore_paper.made import made


def test_gaussians(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, _ = made("figure-1", work, plan, tmp_path)
    found = result.numbers
    assert found["flipped"] == 200
    assert found["kernel"]["p"] > 0 > found["kernel"]["q"]
    assert found["inverse"]["diagonal"] == pytest.approx(2.3, abs=0.3)  # H is nearly I / 2
    assert found["inverse"]["off_diagonal"] < 0.05
    assert found["inverse"]["within_classes"] < 0 < found["inverse"]["between_classes"]
    assert found["clean"]["spearman_with_distance"] < -0.6  # the near ones have high scores
    assert found["noisy"]["auroc_of_flipped"] > 0.9
    assert found["clean"]["max_error"] > found["clean"]["mean_error"] > 0
    assert found["clean"]["spearman_of_linear_part"] > 0.8


def test_scores_of_gaussians_are_complexity_gaps(work: Work) -> None:
    found = figure_1.gaussians(work, dimensions=300, per_class=40, seed=1)
    X = np.random.default_rng([1, 3]).normal(0, 0.5, (80, 300))
    X[:40, 0] += 1
    X[40:, 0] -= 1
    assert found["x"] == pytest.approx(X[:, 0])
    H = gram(X)
    wrong = found["given"] != found["own"]
    assert np.bincount(found["own"][wrong]).tolist() == [4, 4]
    for name, labels in (("", found["own"]), ("noisy_", found["given"])):
        y = np.where(labels == 0, 1.0, -1.0)
        for i in (0, 41, int(np.flatnonzero(wrong)[0])):
            rest = np.delete(np.arange(80), i)
            part = H[np.ix_(rest, rest)]
            gap = y @ np.linalg.solve(H, y) - y[rest] @ np.linalg.solve(part, y[rest])
            assert found[f"{name}cg"][i] == pytest.approx(gap)
            g = y[i] * (y[rest] @ H[rest, i])
            assert found[f"{name}g"][i] == pytest.approx(g)
            assert found[f"{name}approx"][i] == pytest.approx(8 * g**2 - 8 * g + 2)
    same = [H[i, j] for i in range(80) for j in range(80) if i != j and (i < 40) == (j < 40)]
    assert found["p"] == pytest.approx(np.mean(same))
    assert found["q"] == pytest.approx(H[:40, 40:].mean())
