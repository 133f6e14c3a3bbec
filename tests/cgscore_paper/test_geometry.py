"""Items that are about the score itself: Gaussians, the estimator, the terms, the theorem."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from cgscore import gram
from cgscore_paper import appendix_a, appendix_j, figure_1, theorem_1
from cgscore_paper.cells import Work
from cgscore_paper.items import do
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written, rounded
from cgscore_paper.scores import RATIOS, column, shared_runs


def done(name: str, work: Work, plan: Plan, folder: Path) -> Written:
    """An item whose files are all there and small."""
    found = do(name, work, plan, folder)
    for suffix in found.result.figures:
        assert (folder / f"{name}{suffix}.png").stat().st_size > 10_000
        assert (folder / f"{name}{suffix}.svg").stat().st_size < 300_000
    assert (folder / f"{name}.json").stat().st_size < 60_000
    assert json.loads((folder / f"{name}.json").read_text())["numbers"] == json.loads(
        json.dumps(rounded(found.result.numbers))
    )
    assert found.result.text in (folder / f"{name}.md").read_text()
    return found


def test_gaussians(work: Work, plan: Plan, tmp_path: Path) -> None:
    found = done("figure-1", work, plan, tmp_path).result.numbers
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


def test_terms(work: Work, plan: Plan, tmp_path: Path) -> None:
    found = done("appendix-j", work, plan, tmp_path).result
    assert [one.paper for one in found.compared] == [
        value for term in appendix_j.PAPER["cifar-10"].values() for value in term
    ]
    assert len(found.compared) == 12
    assert "CIFAR-100" in found.not_run[0]
    assert len(found.not_run) == 1
    spearman = found.numbers["spearman"]["cifar-10"]
    assert [one.ours for one in found.compared] == [v for term in spearman.values() for v in term]
    assert all(-1 < value < 1 for term in spearman.values() for value in term)
    runs = [work.load(cell) for cell in shared_runs(plan, "cifar-10")]
    for place, ratio in enumerate(RATIOS):
        terms = {
            name: np.mean([run[column(name, 0.0, ratio)] for run in runs], axis=0)
            for name in appendix_j.TERMS
        }
        for name, values in terms.items():
            expected = spearmanr(values, sum(terms.values())).statistic
            assert spearman[name][place] == pytest.approx(expected)


def test_estimator_comes_close(
    work: Work, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appendix_a, "RUNS", 6)
    found = done("appendix-a", work, plan, tmp_path).result
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


def test_theorem(work: Work, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"WIDTH": 2000, "STEPS": 40, "PER_CLASS": 15, "NARROW": 300, "STARTS": 2, "MOMENTS": 4}
    for name, value in small.items():
        monkeypatch.setattr(theorem_1, name, value)
    found = done("theorem-1", work, plan, tmp_path)
    assert "Beyond the paper" in found.result.figures[""][1]
    assert not found.result.compared  # the paper prints no number
    numbers = found.result.numbers
    assert numbers["steps"][0] == 1
    assert numbers["steps"][-1] == 40
    easy, _, random = numbers["problems"].values()
    assert easy["complexity"] < random["complexity"]
    assert easy["loss"][-1] < random["loss"][-1]
    for one in numbers["problems"].values():
        assert len(one["loss"]) == len(one["predicted_loss"]) == len(numbers["steps"])
        assert np.diff(one["loss"]).max() < 0
        assert one["loss_error"] < 0.15
        assert one["movement_error"] < 0.15
        # one start says little about width; test_theory compares widths over several
        assert 0 < one["narrow_loss_error"] < 0.3
        assert one["narrow_loss_error"] != one["loss_error"]
        assert 0 < one["movement"][-1] < 1.1 * one["movement_bound"]
        assert one["test_bound"] == pytest.approx((one["complexity"] / 30) ** 0.5)
    moved = numbers["velocity"]
    assert np.shape(moved["groups"]) == (10, 4)
    assert moved["steps"] == [10, 20, 30, 40]
    assert np.mean(moved["groups"], axis=1) == pytest.approx(moved["mean"])
    assert moved["cg"] == sorted(moved["cg"])
    assert moved["examples_of_a_group"] == 3
    assert np.min(moved["groups"]) >= 0


def test_velocity_of_a_narrow_network_is_higher(work: Work) -> None:
    def mean(width: int) -> float:
        how = {"per_class": 15, "steps": 20, "moments": 2, "starts": 2, "seed": 0}
        found = theorem_1.velocities(work, first=2, second=4, width=width, **how)
        return float(found["velocity"].mean())

    assert mean(3000) < mean(100) / 3
