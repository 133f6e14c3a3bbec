"""Table 1, figure 3 and appendices C and G: what is found in scores of right and wrong labels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from cgscore_paper import (
    appendix_c,
    densities,
    detection,
    detection_curve,
    figure_3,
    items,
    table_1,
)
from cgscore_paper.cells import Work
from cgscore_paper.datasets import c_scores, load
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import MAX_UNEXPLAINED_DIFFERENCE, Result
from cgscore_paper.scores import estimated, shared_runs, subset_cell
from cgscore_paper.trainings import values

SIZE = 60_000  # bytes of a JSON file


def done(name: str, work: Work, plan: Plan, folder: Path) -> tuple[Result, dict[str, Any]]:
    """An item, and its JSON file; everything that it should write is there."""
    result = items.do(name, work, plan, folder).result
    text = (folder / f"{name}.json").read_text()
    assert len(text) < SIZE
    for suffix, (_, caption) in result.figures.items():
        assert caption.endswith(".")
        assert (folder / f"{name}{suffix}.png").stat().st_size > 10_000
        assert 1_000 < (folder / f"{name}{suffix}.svg").stat().st_size < 500_000
    page = (folder / f"{name}.md").read_text()
    assert all(
        one.cause in page
        for one in result.compared
        if abs(one.ours - one.paper) > MAX_UNEXPLAINED_DIFFERENCE
    )
    assert all(one in page for one in result.not_run)
    read: dict[str, Any] = json.loads(text)
    return result, read["numbers"]


class TestFound:
    score = np.array([5.0, 4, 3, 2, 1])
    wrong = np.array([True, False, True, False, False])

    def test_highest_first(self) -> None:
        curve = detection_curve.found_shares(
            self.score, self.wrong, np.array([0, 0.2, 0.4, 0.6, 1])
        )
        np.testing.assert_allclose(curve, [0, 0.5, 0.5, 1, 1])

    def test_ties_are_the_mean_over_orders(self) -> None:
        rng = np.random.default_rng(0)
        score, wrong = rng.integers(0, 3, 40).astype(float), rng.random(40) < 0.3
        examined = np.arange(41) / 40
        orders = [
            detection_curve.found_shares(score + rng.uniform(0, 0.5, 40), wrong, examined)
            for _ in range(4000)
        ]
        curve = detection_curve.found_shares(score, wrong, examined)
        np.testing.assert_allclose(curve, np.mean(orders, axis=0), atol=0.01)

    def test_oracle_and_random(self) -> None:
        wrong = np.arange(100) < 20
        oracle = detection_curve.found_shares(wrong.astype(float), wrong)
        np.testing.assert_allclose(oracle, np.minimum(1, detection_curve.EXAMINED_SHARES / 0.2))
        chance = detection_curve.found_shares(np.zeros(100), wrong)
        np.testing.assert_allclose(chance, detection_curve.EXAMINED_SHARES)

    def test_area_under_the_roc_curve(self) -> None:
        rng = np.random.default_rng(1)
        score, wrong = rng.integers(0, 9, 200).astype(float), rng.random(200) < 0.4
        assert detection_curve.auroc(score, wrong) == pytest.approx(roc_auc_score(wrong, score))


def test_densities_count_what_is_clipped() -> None:
    scores = np.random.default_rng(0).normal(size=5_000)
    among = densities.edges(scores)
    found = densities.density(scores, among)
    assert found.shape == (densities.BINS,)
    np.testing.assert_allclose(found @ np.diff(among), 0.99, atol=0.001)


def test_table_1(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, numbers = done("table-1", work, plan, tmp_path)
    hard = 1 - np.asarray(c_scores(work.data, "cifar-10", load(work.data, "cifar-10").codes))
    cells = shared_runs(plan, "cifar-10")
    found = numbers["cifar-10"]
    cg = estimated(work, cells)["cg"]
    assert found["whole"]["examples"] == 300
    assert found["whole"]["cg"]["c_score"] == pytest.approx(spearmanr(cg, hard).statistic, abs=1e-5)
    prime = work(subset_cell(plan, "cifar-10"))["cg_prime"]
    el2n = values(work, plan, "cifar-10", "el2n")
    assert found["trained_on"]["examples"] == 200
    assert found["trained_on"]["cg_prime"]["el2n"] == pytest.approx(
        spearmanr(prime, el2n).statistic, abs=1e-5
    )
    counted = found["trained_on"]["cg_and_forgetting_of_one_training"]
    assert all(f"{rho:.3f}" in result.compared[1].cause for rho in counted.values())
    assert counted["zero"] != counted["last"]
    assert {one.paper for one in result.compared} == {
        value for row in table_1.PAPER["cifar-10"].values() for value in row.values()
    }
    (ways,) = numbers["what_it_depends_on"].values()
    assert list(ways) == ["2 runs", "1 run"]
    both, one = ways.values()
    assert both["cg"][-1] == found["whole"]["cg"]["c_score"]
    assert both["cg_prime"][-1] == found["whole"]["cg_prime"]["c_score"]
    assert {len(at) for at in both.values()} == {4}
    assert one != both
    scaled = numbers["scalings"]["cifar-10"]
    assert scaled["examples"] == 300
    assert len(scaled["ways"]) == 6
    runs = [scaled["ways"][f"channels standardised, {many}"]["cg"] for many in ("1 run", "10 runs")]
    assert runs[0] == pytest.approx(one["cg"][-1], abs=0.01)  # the same draw of the same examples
    assert runs[0] != runs[1]
    assert result.not_run == ["CIFAR-100: there is no CIFAR-100 in cifar100/ of the data"]


def test_table_1_without_c_scores(work: Work, plan: Plan, data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "cifar10", tmp_path / "cifar10")
    result = table_1.make(Work(work.folder, tmp_path), plan)
    assert {one.paper for one in result.compared} == {0.432, 0.365, 0.110, 0.136}
    assert "cscores/ of the data" in result.not_run[-1]


def test_figure_3(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, numbers = done("figure-3", work, plan, tmp_path)
    assert plan.description in result.figures[""][1]
    for part, size, scores in (
        ("whole", 300, detection.DATASET_SCORES),
        ("trained_on", 200, detection.SUBSET_SCORES),
    ):
        assert list(numbers[part]) == ["fashion-mnist", "cifar-10"]
        for found in numbers[part].values():
            assert (found["examples"], found["wrong"]) == (size, size // 5)
            assert tuple(found["scores"]) == scores
            for one in found["scores"].values():
                curve = one["found"]
                assert len(curve) == 101
                assert (curve[0], curve[-1]) == (0, 1)
                assert (np.diff(curve) >= 0).all()
                assert one["found_among_as_many"] == pytest.approx(curve[20], abs=1e-3)
            assert len(found["density"]["right"]) == len(found["density"]["wrong"]) == 60
    codes = load(work.data, "fashion-mnist").codes
    wrong = wrong_labels(codes, 0.2, plan.seed) != codes
    partial = estimated(work, shared_runs(plan, "fashion-mnist"), 0.2)["partial"]
    found = numbers["whole"]["fashion-mnist"]["scores"]
    assert found["partial"]["auroc"] == pytest.approx(roc_auc_score(wrong, partial), abs=1e-5)
    assert min(found["cg"]["auroc"], found["partial"]["auroc"]) > 0.8  # digits are easy


@pytest.mark.filterwarnings("ignore:What the other examples predict")  # at 80 %
def test_appendix_g(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, numbers = done("appendix-g", work, plan, tmp_path)
    assert list(result.figures) == ["", "-2"]
    assert list(numbers["densities"]) == ["fashion-mnist", "cifar-10"]
    assert list(numbers["detection"]) == ["50%", "80%"]
    for told in numbers["detection"].values():
        assert tuple(told["cifar-10"]["trained_on"]["scores"]) == detection.SUBSET_SCORES
    # 24 of 30 of a class are wrong, from nine others
    assert numbers["counts"] == {
        "class": 30,
        "right": [6, 6],
        "wrong": [24, 24],
        "from_each_other": [2, 3],
    }
    assert [one.paper for one in result.compared] == [0.2, 0.8, 0.089]
    assert [one.ours for one in result.compared] == pytest.approx([0.2, 0.8, 2.5 / 30])
    # easier at a lower rate
    areas = [
        numbers["detection"][rate]["fashion-mnist"]["whole"]["scores"]["cg"]["auroc"]
        for rate in ("50%", "80%")
    ]
    assert numbers["densities"]["fashion-mnist"]["auroc"] > areas[0] > areas[1] > 0.5


def test_appendix_c(work: Work, plan: Plan, tmp_path: Path) -> None:
    result, numbers = done("appendix-c", work, plan, tmp_path)
    assert list(result.figures) == ["", "-2", "-3", "-4"]
    codes = load(work.data, "fashion-mnist").codes
    cg = estimated(work, shared_runs(plan, "fashion-mnist"))["cg"]
    shown = numbers["shown"]["fashion-mnist"]
    assert len(shown) == 10
    mine = np.flatnonzero(codes == 3)
    ranked = mine[np.argsort(-cg[mine])]
    assert shown["dress"]["highest"]["rows"] == ranked[:3].tolist()
    assert shown["dress"]["lowest"]["rows"] == ranked[-3:].tolist()
    assert shown["dress"]["highest"]["scores"] == pytest.approx(cg[ranked[:3]], rel=1e-5)
    assert list(numbers["shown"]["cifar-10"]) == ["3", "5", "6", "9"]
    assert all(len(one["lowest"]["rows"]) == 10 for one in numbers["shown"]["cifar-10"].values())
    classes = numbers["classes"]["cifar-10"]
    assert classes["means"] == sorted(classes["means"])
    cg = estimated(work, shared_runs(plan, "cifar-10"))["cg"]
    mine = load(work.data, "cifar-10").codes == int(classes["names"][0])
    assert classes["means"][0] == pytest.approx(cg[mine].mean(), rel=1e-5)
    assert classes["deviations"][0] == pytest.approx(cg[mine].std(), rel=1e-5)
    four = numbers["four_classes"]["cifar-10"]["classes"]
    assert list(four) == [classes["names"][at] for at in (0, 1, -2, -1)]
    assert result.not_run == [
        f"{name}: there is no {name} in {folder}/ of the data"
        for name, folder in (
            ("MNIST", "mnist"),
            ("CIFAR-100", "cifar100"),
            ("ImageNet", "imagenet"),
        )
    ]


def test_a_mosaic_keeps_every_image() -> None:
    X = np.arange(12, dtype=np.uint8)[:, None, None] * np.ones((1, 3, 5), np.uint8)
    picked = np.arange(12).reshape(4, 3)
    made, across, down = appendix_c._mosaic(X, picked)
    at = made[np.ix_(down.astype(int), across.astype(int))]
    np.testing.assert_array_equal(at, picked)
    assert (made != 255).sum() == X.size


@pytest.mark.slow
def test_other_datasets_are_taken_where_they_are(
    work: Work, plan: Plan, data: Path, tmp_path: Path
) -> None:
    """CIFAR-100 and MNIST under their names, though with the images at hand."""
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    shutil.copytree(folder / "cifar10", folder / "cifar100")
    shutil.copytree(folder / "fashion-mnist", folder / "mnist")
    scores = folder / "cscores"
    shutil.copy(
        scores / "cifar10-cscores-orig-order.npz", scores / "cifar100-cscores-orig-order.npz"
    )
    more = Work(work.folder, folder)
    result = table_1.make(more, plan)
    assert len(result.compared) == 12
    assert not result.not_run
    found = result.numbers["cifar-100"]
    assert found["whole"] == result.numbers["cifar-10"]["whole"]  # the same images
    assert list(figure_3.make(more, plan).numbers["whole"]) == ["fashion-mnist", "cifar-100"]
    result = appendix_c.make(more, plan)
    assert list(result.numbers["shown"]) == ["mnist", "fashion-mnist", "cifar-10"]
    assert list(result.numbers["classes"]) == ["cifar-100"]
    assert len(result.not_run) == 1
